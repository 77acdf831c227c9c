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
	uint64_t total_bytes, granularity_bytes, alignment_bytes;
	uint64_t max_alloc_bytes, free_bytes;
	gpumem_status init_status, count_status, info_status, open_status;
	uint64_t address;
	const struct gpumem_services *core;
} fake = {
	.native_name = "",
	.devices = 2,
	.caps = UINT32_MAX & ~(uint32_t)GPUMEM_CAP_CPU,
	.total_bytes = 1u << 30,
	.free_bytes = 1u << 29,
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
	info_out->total_bytes = fake.total_bytes;
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
		memory_out->total_bytes = fake.total_bytes;
		memory_out->free_bytes = fake.free_bytes;
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

/* Most slots look at little of what they are given. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* slot, parameters, what it gives when it succeeds. Of device_adopt the context
 * says which index. */
#define FAKE_SLOT_LIST(X)                                                      \
	X(free, (void *device, uint64_t address, uint64_t bytes), (void)0)     \
	X(stream_create, (void *device, gpumem_stream *stream_out),            \
	  *stream_out = device)                                                \
	X(stream_destroy, (void *device, gpumem_stream stream), (void)0)       \
	X(stream_sync, (void *device, gpumem_stream stream), (void)0)          \
	X(stream_query, (void *device, gpumem_stream stream), (void)0)         \
	X(stream_wait, (void *device, gpumem_stream stream, void *event),      \
	  (void)0)                                                             \
	X(event_create, (void *device, void **event_out), *event_out = device) \
	X(event_destroy, (void *device, void *event), (void)0)                 \
	X(event_record, (void *device, void *event, gpumem_stream stream),     \
	  (void)0)                                                             \
	X(event_query, (void *device, void *event), (void)0)                   \
	X(event_sync, (void *device, void *event), (void)0)                    \
	X(va_reserve,                                                          \
	  (void *device, uint64_t bytes, uint64_t alignment,                   \
	   uint64_t *address_out),                                             \
	  *address_out = alignment)                                            \
	X(va_release, (void *device, uint64_t address, uint64_t bytes),        \
	  (void)0)                                                             \
	X(page_create, (void *device, uint64_t bytes, gpumem_page *page_out),  \
	  *page_out = bytes)                                                   \
	X(page_destroy, (void *device, gpumem_page page, uint64_t bytes),      \
	  (void)0)                                                             \
	X(map,                                                                 \
	  (void *device, uint64_t address, const gpumem_page *pages,           \
	   size_t count, uint64_t page_bytes),                                 \
	  (void)0)                                                             \
	X(unmap,                                                               \
	  (void *device, uint64_t address, size_t count, uint64_t page_bytes), \
	  (void)0)                                                             \
	X(fill,                                                                \
	  (void *device, uint64_t address, uint8_t value, uint64_t bytes,      \
	   gpumem_stream stream),                                              \
	  (void)0)                                                             \
	X(copy,                                                                \
	  (void *device, uint64_t to, uint64_t from, uint64_t bytes,           \
	   gpumem_stream stream),                                              \
	  (void)0)                                                             \
	X(capture_id, (void *device, gpumem_stream stream, uint64_t *id_out),  \
	  *id_out = 77)                                                        \
	X(kind_alloc,                                                          \
	  (void *device, gpumem_kind kind, uint64_t bytes,                     \
	   uint64_t *address_out),                                             \
	  *address_out = 0x1000u * (unsigned)kind)                             \
	X(kind_free,                                                           \
	  (void *device, gpumem_kind kind, uint64_t address, uint64_t bytes),  \
	  (void)0)                                                             \
	X(peer_query, (void *device, void *peer, bool *can_out),               \
	  *can_out = device != peer)                                           \
	X(peer_enable, (void *device, void *peer), (void)0)                    \
	X(ipc_export,                                                          \
	  (void *device, uint64_t address, uint64_t bytes, void *handle_out),  \
	  memset(handle_out, 7, GPUMEM_SHARE_HANDLE_BYTES))                    \
	X(ipc_open,                                                            \
	  (void *device, const void *handle, uint64_t bytes,                   \
	   uint64_t *address_out),                                             \
	  *address_out = 4096)                                                 \
	X(ipc_close, (void *device, uint64_t address), (void)0)                \
	X(page_create_shared,                                                  \
	  (void *device, uint64_t bytes, gpumem_page *page_out),               \
	  *page_out = 5)                                                       \
	X(page_export,                                                         \
	  (void *device, gpumem_page page, uint64_t bytes, int *fd_out),       \
	  *fd_out = 99)                                                        \
	X(page_import,                                                         \
	  (void *device, int fd, uint64_t bytes, gpumem_page *page_out),       \
	  *page_out = 6)                                                       \
	X(view_create,                                                         \
	  (void *device, uint64_t address, uint64_t bytes, void **view_out),   \
	  *view_out = (void *)(uintptr_t)(address + bytes))                    \
	X(view_destroy, (void *device, void *view), (void)0)                   \
	X(device_adopt, (void *context, void *native_device, int *index_out),  \
	  *index_out = (int)(uintptr_t)context)                                \
	X(event_import, (void *device, void *native, void **event_out),        \
	  *event_out = native)                                                 \
	X(event_native, (void *device, void *event, void **native_out),        \
	  *native_out = event)                                                 \
	X(device_native,                                                       \
	  (void *device, void **context_out, void **native_device_out),        \
	  (*context_out = NULL, *native_device_out = device))                  \
	X(open_mapped,                                                         \
	  (void *device, uint64_t address, size_t count, uint64_t page_bytes,  \
	   void *const *peers, size_t peer_count),                             \
	  ((void)device, (void)address, (void)count, (void)page_bytes,         \
	   (void)peers, (void)peer_count))                                     \
	X(event_wait, (void *device, void *event, uint64_t ns), (void)0)       \
	X(host_pin, (void *device, void *memory, uint64_t bytes), (void)0)     \
	X(host_unpin, (void *device, void *memory, uint64_t bytes), (void)0)

#define FAKE_SLOT(slot, parameters, give)                                      \
	static gpumem_status fake_##slot parameters                            \
	{                                                                      \
		gpumem_status status = fake_call(#slot);                       \
                                                                               \
		if (status == GPUMEM_OK)                                       \
			give;                                                  \
		return status;                                                 \
	}
FAKE_SLOT_LIST(FAKE_SLOT)

static gpumem_status fake_map_peers(void *device, uint64_t address,
				    const gpumem_page *pages, size_t count,
				    uint64_t page_bytes, void *const *peers,
				    size_t peer_count)
{
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

	if (status == GPUMEM_OK)
		(void)fn((const void *)&process, user);
	return status;
}

static gpumem_status fake_object_of(void *device, uint64_t address,
				    void **object_out, uint64_t *offset_out)
{
	gpumem_status status = fake_call("object_of");

	if (status == GPUMEM_OK) {
		*object_out = &fake;
		*offset_out = address % 4096;
	}
	return status;
}

#pragma GCC diagnostic pop

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
	.map_peers = fake_map_peers,
	.device_processes = fake_processes,
	.object_of = fake_object_of,
#define FAKE_ROW(slot, parameters, give) .slot = fake_##slot,
	FAKE_SLOT_LIST(FAKE_ROW)};
#undef FAKE_ROW

#endif
