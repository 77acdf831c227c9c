/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group SHARE_IPC. A raw allocation is named by where the device's memfd is
 * among the open files of the process, and opening it maps the same range of
 * that file. It is charged to the device that allocated it. The accounting is
 * under the device's `memory`.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_device.h"
#include "host_ipc.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(sizeof(struct host_name) <= GPUMEM_SHARE_HANDLE_BYTES,
	       "it fits");

static const char magic[8] = "hostipc";

static gpumem_status name_locked(struct host_device *device, uint64_t address,
				 uint64_t bytes, struct host_name *name)
{
	const struct host_range *range =
		gm_host_range_find(&device->raws, address);
	const struct host_page *page;
	gpumem_status status;

	if (!range || range->address != address || range->bytes != bytes)
		return gm_host_fail(GPUMEM_INVALID,
				    "no such allocation: 0x%llx, %llu bytes",
				    (unsigned long long)address,
				    (unsigned long long)bytes);
	status = gm_host_file_check(device, &device->phys.file);
	if (status != GPUMEM_OK)
		return status;
	page = &device->phys.pages[range->page];
	memcpy(name->magic, magic, sizeof(magic));
	name->pid = getpid();
	name->fd = device->phys.file.fd;
	name->inode = device->phys.file.inode;
	name->offset = page->offset;
	name->span = range->span;
	name->bytes = bytes;
	name->shift = (uint32_t)(range->address - range->base);
	name->turn = page->turn;
	name->tag = gm_host_name_tag(name, device->phys.key);
	return GPUMEM_OK;
}

gpumem_status gm_host_ipc_export(void *handle, uint64_t address, uint64_t bytes,
				 void *handle_out)
{
	struct host_device *device = handle;
	struct host_name name = {0};
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_ipc_export);

	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&device->memory);
	status = name_locked(device, address, bytes, &name);
	pthread_mutex_unlock(&device->memory);
	if (status == GPUMEM_OK)
		memcpy(handle_out, &name, sizeof(name));
	return status;
}

static gpumem_status map_file(struct host_device *device,
			      const struct host_name *name,
			      const struct host_file *file,
			      uint64_t *address_out)
{
	uint64_t alignment = device->config.alignment;
	struct host_range range = {.bytes = name->bytes, .span = name->span};
	gpumem_status status;

	status =
		gm_host_address_reserve(range.span, 2 * alignment, &range.base);
	if (status != GPUMEM_OK)
		return status;
	range.address = range.base + name->shift;
	status = gm_host_phys_map(device, file, range.base, range.span,
				  name->offset);
	if (status != GPUMEM_OK)
		goto release;
	pthread_mutex_lock(&device->memory);
	status = gm_host_range_add(&device->opened, &range);
	pthread_mutex_unlock(&device->memory);
	if (status != GPUMEM_OK)
		goto release;
	/* As in host_map.c. */
	(void)madvise((void *)(uintptr_t)range.base, range.span, MADV_DONTFORK);
	*address_out = range.address;
	return GPUMEM_OK;

release:
	(void)gm_host_address_release(range.base, range.span);
	return status;
}

gpumem_status gm_host_ipc_open(void *handle, const void *bytes_of,
			       uint64_t bytes, uint64_t *address_out)
{
	struct host_device *device = handle;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_ipc_open);
	struct host_file file;
	struct host_name name;

	if (status != GPUMEM_OK)
		return status;
	memcpy(&name, bytes_of, sizeof(name));
	if (memcmp(name.magic, magic, sizeof(magic)) || name.bytes != bytes ||
	    name.span >> 48 || name.offset >> 60 ||
	    name.shift + name.bytes > name.span)
		return gm_host_fail(GPUMEM_INVALID,
				    "that names no allocation of %llu bytes",
				    (unsigned long long)bytes);
	if (name.pid == getpid())
		return gm_host_fail(GPUMEM_INVALID,
				    "it is an allocation of this process");
	status = gm_host_name_open(&name, &file);
	if (status != GPUMEM_OK)
		return status;
	status = map_file(device, &name, &file, address_out);
	gm_host_file_close(&file);
	return status;
}

static gpumem_status close_locked(struct host_device *device, uint64_t address)
{
	struct host_range *range = gm_host_range_find(&device->opened, address);
	gpumem_status status;

	if (!range || range->address != address)
		return gm_host_fail(GPUMEM_INVALID,
				    "nothing was opened at 0x%llx",
				    (unsigned long long)address);
	status = gm_host_address_release(range->base, range->span);
	if (status == GPUMEM_OK)
		gm_host_range_remove(&device->opened, range);
	return status;
}

gpumem_status gm_host_ipc_close(void *handle, uint64_t address)
{
	struct host_device *device = handle;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_ipc_close);

	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&device->memory);
	status = close_locked(device, address);
	pthread_mutex_unlock(&device->memory);
	return status;
}
