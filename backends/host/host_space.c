/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group VM: addresses, pages, and pages behind addresses. Each reservation has
 * an array that says what is mapped where, so every wrong request is found
 * before anything changes. A slot takes the device's `memory` for its whole
 * length; none of them waits for a stream.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_device.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

static gpumem_status invalid(const char *what, uint64_t address, uint64_t bytes)
{
	return gm_host_fail(GPUMEM_INVALID, "%s: 0x%llx, %llu bytes", what,
			    (unsigned long long)address,
			    (unsigned long long)bytes);
}

static bool is_granular(const struct host_device *device, uint64_t bytes)
{
	return bytes && !(bytes & (device->config.granularity - 1));
}

gpumem_status gm_host_va_reserve(void *handle, uint64_t bytes,
				 uint64_t alignment, uint64_t *address_out)
{
	struct host_device *device = handle;
	uint64_t granularity = device->config.granularity;
	struct host_range range = {.bytes = bytes, .span = bytes};
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_va_reserve);

	if (status != GPUMEM_OK)
		return status;
	if (!is_granular(device, bytes) || alignment & (alignment - 1))
		return invalid("not whole granules, or badly aligned",
			       alignment, bytes);
	if (alignment < granularity)
		alignment = granularity;
	range.granule_bytes = bytes / granularity *
			      (sizeof(*range.peers) + sizeof(*range.granules));
	range.peers =
		mmap(NULL, range.granule_bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (range.peers == MAP_FAILED)
		return gm_host_fail_system(errno, "memory for its bookkeeping");
	range.granules = (uint32_t *)(range.peers + bytes / granularity);
	status = gm_host_address_reserve(bytes, alignment, &range.base);
	if (status != GPUMEM_OK)
		goto free_granules;
	range.address = range.base;
	pthread_mutex_lock(&device->memory);
	status = gm_host_range_add(&device->spaces, &range);
	pthread_mutex_unlock(&device->memory);
	if (status != GPUMEM_OK)
		goto release;
	*address_out = range.address;
	return GPUMEM_OK;

release:
	(void)gm_host_address_release(range.base, bytes);
free_granules:
	(void)munmap(range.peers, range.granule_bytes);
	return status;
}

static gpumem_status release_locked(struct host_device *device,
				    uint64_t address, uint64_t bytes)
{
	struct host_range *range = gm_host_range_find(&device->spaces, address);
	gpumem_status status;

	if (!range || range->address != address || range->bytes != bytes)
		return invalid("no such reservation", address, bytes);
	if (range->mapped)
		return invalid("pages are still mapped in it", address, bytes);
	status = gm_host_address_release(address, bytes);
	if (status != GPUMEM_OK)
		return status;
	(void)munmap(range->peers, range->granule_bytes);
	gm_host_range_remove(&device->spaces, range);
	return GPUMEM_OK;
}

gpumem_status gm_host_va_release(void *handle, uint64_t address, uint64_t bytes)
{
	struct host_device *device = handle;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_va_release);

	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&device->memory);
	status = release_locked(device, address, bytes);
	pthread_mutex_unlock(&device->memory);
	return status;
}

/* page = turn << 32 | number + 1 */
static gpumem_page page_handle(const struct host_page *page, uint32_t number)
{
	return (uint64_t)page->turn << 32 | (number + 1);
}

gpumem_page gm_host_page_name(const struct host_device *device, uint32_t number)
{
	return page_handle(&device->phys.pages[number], number);
}

struct host_page *gm_host_page_find(struct host_device *device,
				    gpumem_page page, uint64_t bytes)
{
	uint32_t number = (uint32_t)page - 1;
	struct host_page *found;

	if (number >= device->phys.count)
		return NULL;
	found = &device->phys.pages[number];
	if (page_handle(found, number) != page || found->raw ||
	    found->bytes != bytes || !bytes)
		return NULL;
	return found;
}

gpumem_status gm_host_page_create(void *handle, uint64_t bytes,
				  gpumem_page *page_out)
{
	struct host_device *device = handle;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_page_create);
	uint32_t number;

	if (status != GPUMEM_OK)
		return status;
	if (!is_granular(device, bytes))
		return invalid("not whole granules", 0, bytes);
	pthread_mutex_lock(&device->memory);
	status = gm_host_phys_take(device, bytes, bytes, &number);
	if (status == GPUMEM_OK)
		*page_out = gm_host_page_name(device, number);
	pthread_mutex_unlock(&device->memory);
	return status;
}

static gpumem_status destroy_locked(struct host_device *device,
				    gpumem_page page, uint64_t bytes)
{
	struct host_page *found = gm_host_page_find(device, page, bytes);
	uint32_t number = (uint32_t)page - 1;
	gpumem_status status;

	if (!found)
		return invalid("no such page", page, bytes);
	if (found->mappings)
		return invalid("the page is still mapped", page, bytes);
	status = gm_host_phys_check(device, number);
	if (status != GPUMEM_OK)
		return status;
	gm_host_phys_give(device, number);
	return GPUMEM_OK;
}

gpumem_status gm_host_page_destroy(void *handle, gpumem_page page,
				   uint64_t bytes)
{
	struct host_device *device = handle;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_page_destroy);

	if (status != GPUMEM_OK)
		return status;
	gm_host_free_in_capture(device);
	pthread_mutex_lock(&device->memory);
	status = destroy_locked(device, page, bytes);
	pthread_mutex_unlock(&device->memory);
	return status;
}
