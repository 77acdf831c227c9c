/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A backend in the test itself, whose every slot gives `fake.next` and tells
 * `fake.calls`: for tests of what surrounds a call. All groups are there; its
 * memory is only numbers. One program includes this once.
 */
#ifndef GPUMEM_TESTS_DEVICE_FAKE_H
#define GPUMEM_TESTS_DEVICE_FAKE_H

#include <gpumem/backend.h>
#include <stdio.h>
#include <string.h>

static struct {
	gpumem_status next;  /* what the next calls give */
	int64_t native_code; /* with a failure; 0 and "": none is said */
	const char *native_name;
	_Atomic unsigned calls; /* of slots that take a device */
	const char *_Atomic last;
	int devices, opened, closed, inits;
	uint32_t caps;
	uint64_t granularity_bytes, alignment_bytes, max_alloc_bytes;
	gpumem_status init_status, count_status, info_status, open_status;
	uint64_t address;
	const struct gpumem_services *core;
} fake = {
	.native_name = "",
	.devices = 2,
	.caps = UINT32_MAX & ~(uint32_t)GPUMEM_CAP_CPU,
	.granularity_bytes = 4096,
	.alignment_bytes = 512,
	.max_alloc_bytes = 1u << 30,
	.address = 0x1000,
};

static gpumem_status fake_call(const char *slot)
{
	fake.calls++;
	fake.last = slot;
	if (fake.next != GPUMEM_OK && fake.next != GPUMEM_NOT_READY &&
	    (fake.native_code || *fake.native_name))
		fake.core->error(fake.native_code, fake.native_name,
				 "the fake %s failed", slot);
	return fake.next;
}

static gpumem_status fake_init(const struct gpumem_services *services)
{
	fake.core = services;
	fake.inits++;
	return fake.init_status;
}

static const char *fake_version(void)
{
	return "fake 1.2";
}

static gpumem_status fake_count(int *count_out)
{
	if (fake.count_status == GPUMEM_OK)
		*count_out = fake.devices;
	return fake.count_status;
}

static gpumem_status fake_info(int index, struct gpumem_device_info *info_out)
{
	if (fake.info_status != GPUMEM_OK)
		return fake.info_status;
	memset(info_out->product, 'x', sizeof(info_out->product));
	snprintf(info_out->uuid, sizeof(info_out->uuid),
		 "0123abcd-0000-0000-0000-00000000000%d", index % 10);
	snprintf(info_out->pci, sizeof(info_out->pci), "0000:3b:00.%d",
		 index % 8);
	info_out->total_bytes = 1u << 30;
	info_out->granularity_bytes = fake.granularity_bytes;
	info_out->alignment_bytes = fake.alignment_bytes;
	info_out->max_alloc_bytes = fake.max_alloc_bytes;
	info_out->caps = fake.caps;
	return GPUMEM_OK;
}

static gpumem_status fake_open(int index, void **device_out)
{
	if (fake.open_status != GPUMEM_OK)
		return fake.open_status;
	fake.opened++;
	*device_out = &fake.devices + index; /* a number, never NULL */
	return GPUMEM_OK;
}

static void fake_close(void *device)
{
	(void)device;
	fake.closed++;
}

static gpumem_status fake_memory(void *device, struct gpumem_memory *memory_out)
{
	gpumem_status status = fake_call("memory_info");

	(void)device;
	if (status == GPUMEM_OK) {
		memory_out->total_bytes = 1u << 30;
		memory_out->free_bytes = 1u << 29;
	}
	return status;
}

static gpumem_status fake_alloc(void *device, uint64_t bytes,
				uint64_t *address_out)
{
	gpumem_status status = fake_call("alloc");

	(void)device;
	if (status == GPUMEM_OK) {
		*address_out = fake.address;
		fake.address += bytes;
	}
	return status;
}

static gpumem_status fake_free(void *device, uint64_t address, uint64_t bytes)
{
	(void)device;
	(void)address;
	(void)bytes;
	return fake_call("free");
}

static gpumem_status fake_stream_create(void *device, gpumem_stream *stream_out)
{
	gpumem_status status = fake_call("stream_create");

	if (status == GPUMEM_OK)
		*stream_out = device;
	return status;
}

static gpumem_status fake_stream_destroy(void *device, gpumem_stream stream)
{
	(void)device;
	(void)stream;
	return fake_call("stream_destroy");
}

static gpumem_status fake_stream_sync(void *device, gpumem_stream stream)
{
	(void)device;
	(void)stream;
	return fake_call("stream_sync");
}

static gpumem_status fake_stream_query(void *device, gpumem_stream stream)
{
	(void)device;
	(void)stream;
	return fake_call("stream_query");
}

static gpumem_status fake_stream_wait(void *device, gpumem_stream stream,
				      gpumem_event event)
{
	(void)device;
	(void)stream;
	(void)event;
	return fake_call("stream_wait");
}

static gpumem_status fake_event_create(void *device, gpumem_event *event_out)
{
	gpumem_status status = fake_call("event_create");

	if (status == GPUMEM_OK)
		*event_out = device;
	return status;
}

static gpumem_status fake_event_destroy(void *device, gpumem_event event)
{
	(void)device;
	(void)event;
	return fake_call("event_destroy");
}

static gpumem_status fake_event_record(void *device, gpumem_event event,
				       gpumem_stream stream)
{
	(void)device;
	(void)event;
	(void)stream;
	return fake_call("event_record");
}

static gpumem_status fake_event_query(void *device, gpumem_event event)
{
	(void)device;
	(void)event;
	return fake_call("event_query");
}

static gpumem_status fake_event_sync(void *device, gpumem_event event)
{
	(void)device;
	(void)event;
	return fake_call("event_sync");
}

static gpumem_status fake_va_reserve(void *device, uint64_t bytes,
				     uint64_t alignment, uint64_t *address_out)
{
	gpumem_status status = fake_call("va_reserve");

	(void)device;
	(void)bytes;
	if (status == GPUMEM_OK)
		*address_out = alignment;
	return status;
}

static gpumem_status fake_va_release(void *device, uint64_t address,
				     uint64_t bytes)
{
	(void)device;
	(void)address;
	(void)bytes;
	return fake_call("va_release");
}

static gpumem_status fake_page_create(void *device, uint64_t bytes,
				      gpumem_page *page_out)
{
	gpumem_status status = fake_call("page_create");

	(void)device;
	if (status == GPUMEM_OK)
		*page_out = bytes;
	return status;
}

static gpumem_status fake_page_destroy(void *device, gpumem_page page,
				       uint64_t bytes)
{
	(void)device;
	(void)page;
	(void)bytes;
	return fake_call("page_destroy");
}

static gpumem_status fake_map(void *device, uint64_t address,
			      const gpumem_page *pages, size_t count,
			      uint64_t page_bytes)
{
	(void)device;
	(void)address;
	(void)pages;
	(void)count;
	(void)page_bytes;
	return fake_call("map");
}

static gpumem_status fake_unmap(void *device, uint64_t address, size_t count,
				uint64_t page_bytes)
{
	(void)device;
	(void)address;
	(void)count;
	(void)page_bytes;
	return fake_call("unmap");
}

static gpumem_status fake_fill(void *device, uint64_t address, uint8_t value,
			       uint64_t bytes, gpumem_stream stream)
{
	(void)device;
	(void)address;
	(void)value;
	(void)bytes;
	(void)stream;
	return fake_call("fill");
}

static gpumem_status fake_copy(void *device, uint64_t to, uint64_t from,
			       uint64_t bytes, gpumem_stream stream)
{
	(void)device;
	(void)to;
	(void)from;
	(void)bytes;
	(void)stream;
	return fake_call("copy");
}

static gpumem_status fake_capture_id(void *device, gpumem_stream stream,
				     uint64_t *id_out)
{
	gpumem_status status = fake_call("capture_id");

	(void)device;
	(void)stream;
	if (status == GPUMEM_OK)
		*id_out = 77;
	return status;
}

static gpumem_status fake_kind_alloc(void *device, gpumem_kind kind,
				     uint64_t bytes, uint64_t *address_out)
{
	gpumem_status status = fake_call("kind_alloc");

	(void)device;
	(void)bytes;
	if (status == GPUMEM_OK)
		*address_out = 0x1000u * (unsigned)kind;
	return status;
}

static gpumem_status fake_kind_free(void *device, gpumem_kind kind,
				    uint64_t address, uint64_t bytes)
{
	(void)device;
	(void)kind;
	(void)address;
	(void)bytes;
	return fake_call("kind_free");
}

static gpumem_status fake_peer_query(void *device, void *peer, bool *can_out)
{
	gpumem_status status = fake_call("peer_query");

	if (status == GPUMEM_OK)
		*can_out = device != peer;
	return status;
}

static gpumem_status fake_peer_enable(void *device, void *peer)
{
	(void)device;
	(void)peer;
	return fake_call("peer_enable");
}

static gpumem_status fake_map_peers(void *device, uint64_t address,
				    const gpumem_page *pages, size_t count,
				    uint64_t page_bytes, void *const *peers,
				    size_t peer_count)
{
	(void)peers;
	(void)peer_count;
	(void)fake_map(device, address, pages, count, page_bytes);
	fake.last = "map_peers";
	return fake.next;
}

/* A plugin's struct that is shorter than ours. */
static gpumem_status
fake_processes(void *device,
	       bool (*fn)(const struct gpumem_process *process, void *user),
	       void *user)
{
	struct {
		size_t size;
		uint64_t pid, bytes;
	} process = {sizeof(process), 4711, 12345};
	gpumem_status status = fake_call("device_processes");

	(void)device;
	if (status == GPUMEM_OK)
		(void)fn((const void *)&process, user);
	return status;
}

static gpumem_status fake_ipc_export(void *device, uint64_t address,
				     uint64_t bytes, void *handle_out)
{
	gpumem_status status = fake_call("ipc_export");

	(void)device;
	(void)address;
	(void)bytes;
	if (status == GPUMEM_OK)
		memset(handle_out, 7, GPUMEM_SHARE_HANDLE_BYTES);
	return status;
}

static gpumem_status fake_ipc_open(void *device, const void *handle,
				   uint64_t bytes, uint64_t *address_out)
{
	gpumem_status status = fake_call("ipc_open");

	(void)device;
	(void)handle;
	(void)bytes;
	if (status == GPUMEM_OK)
		*address_out = 4096;
	return status;
}

static gpumem_status fake_ipc_close(void *device, uint64_t address)
{
	(void)device;
	(void)address;
	return fake_call("ipc_close");
}

static gpumem_status fake_page_create_shared(void *device, uint64_t bytes,
					     gpumem_page *page_out)
{
	gpumem_status status = fake_call("page_create_shared");

	(void)device;
	(void)bytes;
	if (status == GPUMEM_OK)
		*page_out = 5;
	return status;
}

static gpumem_status fake_page_export(void *device, gpumem_page page,
				      uint64_t bytes, int *fd_out)
{
	gpumem_status status = fake_call("page_export");

	(void)device;
	(void)page;
	(void)bytes;
	if (status == GPUMEM_OK)
		*fd_out = 99;
	return status;
}

static gpumem_status fake_page_import(void *device, int fd, uint64_t bytes,
				      gpumem_page *page_out)
{
	gpumem_status status = fake_call("page_import");

	(void)device;
	(void)fd;
	(void)bytes;
	if (status == GPUMEM_OK)
		*page_out = 6;
	return status;
}

static gpumem_status fake_object_of(void *device, uint64_t address,
				    void **object_out, uint64_t *offset_out)
{
	gpumem_status status = fake_call("object_of");

	(void)device;
	if (status == GPUMEM_OK) {
		*object_out = &fake;
		*offset_out = address % 4096;
	}
	return status;
}

static gpumem_status fake_view_create(void *device, uint64_t address,
				      uint64_t bytes, void **view_out)
{
	gpumem_status status = fake_call("view_create");

	(void)device;
	if (status == GPUMEM_OK)
		*view_out = (void *)(uintptr_t)(address + bytes);
	return status;
}

static gpumem_status fake_view_destroy(void *device, void *view)
{
	(void)device;
	(void)view;
	return fake_call("view_destroy");
}

/* The context says which index. */
static gpumem_status fake_device_adopt(void *context, void *native_device,
				       int *index_out)
{
	gpumem_status status = fake_call("device_adopt");

	(void)native_device;
	if (status == GPUMEM_OK)
		*index_out = (int)(uintptr_t)context;
	return status;
}

static const struct gpumem_backend fake_table = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(struct gpumem_backend),
	.name = "fake",
	.init = fake_init,
	.driver_version = fake_version,
	.device_count = fake_count,
	.device_info = fake_info,
	.device_open = fake_open,
	.device_close = fake_close,
	.memory_info = fake_memory,
	.alloc = fake_alloc,
	.free = fake_free,
	.stream_create = fake_stream_create,
	.stream_destroy = fake_stream_destroy,
	.stream_sync = fake_stream_sync,
	.stream_query = fake_stream_query,
	.stream_wait = fake_stream_wait,
	.event_create = fake_event_create,
	.event_destroy = fake_event_destroy,
	.event_record = fake_event_record,
	.event_query = fake_event_query,
	.event_sync = fake_event_sync,
	.va_reserve = fake_va_reserve,
	.va_release = fake_va_release,
	.page_create = fake_page_create,
	.page_destroy = fake_page_destroy,
	.map = fake_map,
	.unmap = fake_unmap,
	.fill = fake_fill,
	.copy = fake_copy,
	.capture_id = fake_capture_id,
	.kind_alloc = fake_kind_alloc,
	.kind_free = fake_kind_free,
	.peer_query = fake_peer_query,
	.peer_enable = fake_peer_enable,
	.map_peers = fake_map_peers,
	.device_processes = fake_processes,
	.ipc_export = fake_ipc_export,
	.ipc_open = fake_ipc_open,
	.ipc_close = fake_ipc_close,
	.page_create_shared = fake_page_create_shared,
	.page_export = fake_page_export,
	.page_import = fake_page_import,
	.object_of = fake_object_of,
	.view_create = fake_view_create,
	.view_destroy = fake_view_destroy,
	.device_adopt = fake_device_adopt,
};

#endif
