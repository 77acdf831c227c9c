/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group SHARE_FD. A page that can be shared is a memfd of its own, whose name
 * says which device it is of and which a descriptor brings with it. What was
 * imported is charged to the device that made it. The accounting is under its
 * `memory`.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_device.h"
#include "../common/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME "gpumem-host-page-%d"

/* A file for page `number`; the page is in it from now on. */
static gpumem_status make_file(struct host_device *device, uint32_t number,
			       uint64_t bytes)
{
	struct host_page *page = &device->phys.pages[number];
	gpumem_status status;
	char name[32];

	snprintf(name, sizeof(name), FILE_NAME, device->index);
	status = gm_host_file_make(name, bytes, HOST_SEALS_PAGE, &page->file);
	if (status != GPUMEM_OK)
		return status;
	page->own = true;
	return GPUMEM_OK;
}

static gpumem_status create_locked(struct host_device *device, uint64_t bytes,
				   gpumem_page *page_out)
{
	uint32_t number;
	gpumem_status status = gm_host_phys_take(device, bytes, bytes, &number);

	if (status != GPUMEM_OK)
		return status;
	status = make_file(device, number, bytes);
	if (status != GPUMEM_OK) {
		gm_host_phys_give(device, number);
		return status;
	}
	*page_out = gm_host_page_name(device, number);
	return GPUMEM_OK;
}

gpumem_status gm_host_page_create_shared(void *handle, uint64_t bytes,
					 gpumem_page *page_out)
{
	struct host_device *device = handle;
	gpumem_status status =
		gm_host_enter(device, GPUMEM_SLOT_page_create_shared);

	if (status != GPUMEM_OK)
		return status;
	if (!bytes || bytes & (device->config.granularity - 1))
		return gm_host_fail(GPUMEM_INVALID,
				    "a page of %llu bytes is not whole "
				    "granules",
				    (unsigned long long)bytes);
	pthread_mutex_lock(&device->memory);
	status = create_locked(device, bytes, page_out);
	pthread_mutex_unlock(&device->memory);
	return status;
}

static gpumem_status export_locked(struct host_device *device, gpumem_page page,
				   uint64_t bytes, int *fd_out)
{
	const struct host_page *found = gm_host_page_find(device, page, bytes);
	gpumem_status status;
	int fd;

	if (!found || !found->own)
		return gm_host_fail(GPUMEM_INVALID, "%s",
				    found ? "the page was not made to be shared"
					  : "no such page");
	status = gm_host_file_check(device, &found->file);
	if (status != GPUMEM_OK)
		return status;
	fd = gm_descriptor_copy(found->file.fd, GM_DESCRIPTOR_LEAST);
	if (fd < 0)
		return gm_host_fail_system(
			errno, "a descriptor (ulimit -n bounds them)");
	*fd_out = fd;
	return GPUMEM_OK;
}

gpumem_status gm_host_page_export(void *handle, gpumem_page page,
				  uint64_t bytes, int *fd_out)
{
	struct host_device *device = handle;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_page_export);

	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&device->memory);
	status = export_locked(device, page, bytes, fd_out);
	pthread_mutex_unlock(&device->memory);
	return status;
}

/* The descriptor is of a page of that size and device, can be written, and
 * nobody can take the memory away from behind a mapping. */
static bool is_page(const struct host_device *device, int fd, uint64_t bytes)
{
	char name[32], wanted[32];
	struct stat file;

	snprintf(wanted, sizeof(wanted), FILE_NAME, device->index);
	return gm_host_file_name(fd, name, sizeof(name)) &&
	       !strcmp(name, wanted) && !fstat(fd, &file) &&
	       (uint64_t)file.st_size == bytes &&
	       (fcntl(fd, F_GETFL) & (O_ACCMODE | O_PATH)) == O_RDWR &&
	       gm_host_file_is_sealed(fd, HOST_SEALS_PAGE);
}

static gpumem_status import_locked(struct host_device *device, int fd,
				   uint64_t bytes, gpumem_page *page_out)
{
	struct host_file own;
	uint32_t number;
	gpumem_status status;

	fd = gm_descriptor_copy(fd, gm_descriptor_floor());
	if (fd < 0)
		return gm_host_fail_system(
			errno, "a descriptor (ulimit -n bounds them)");
	status = gm_host_file_keep(fd, &own);
	if (status != GPUMEM_OK)
		return status;
	status = gm_host_phys_adopt(device, bytes, &number);
	if (status != GPUMEM_OK) {
		gm_host_file_close(&own);
		return status;
	}
	device->phys.pages[number].own = true;
	device->phys.pages[number].file = own;
	*page_out = gm_host_page_name(device, number);
	return GPUMEM_OK;
}

gpumem_status gm_host_page_import(void *handle, int fd, uint64_t bytes,
				  gpumem_page *page_out)
{
	struct host_device *device = handle;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_page_import);

	if (status != GPUMEM_OK)
		return status;
	if (!is_page(device, fd, bytes))
		return gm_host_fail(GPUMEM_INVALID,
				    "descriptor %d stands for no page of %llu "
				    "bytes of this device",
				    fd, (unsigned long long)bytes);
	pthread_mutex_lock(&device->memory);
	status = import_locked(device, fd, bytes, page_out);
	pthread_mutex_unlock(&device->memory);
	return status;
}
