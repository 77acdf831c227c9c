/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The other half of group VM: pages put behind addresses and taken away. Pages
 * that follow each other in the file are mapped by one system call. A slot
 * takes the device's `memory` for its whole length.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_device.h"
#include "host_granule.h"

#include <sys/mman.h>

/* Gives up what claim() did to the first `count` pages. */
static void disclaim(const struct host_extent *extent, const gpumem_page *pages,
		     size_t count)
{
	for (size_t i = 0; i < count; i++)
		extent->device->phys.pages[(uint32_t)pages[i] - 1].mappings--;
}

/* Every page is there and of that size; and without option host.alias it is
 * nowhere mapped, and named once. */
static gpumem_status claim(const struct host_extent *extent,
			   const gpumem_page *pages)
{
	bool alias = extent->device->config.caps & GPUMEM_CAP_ALIAS;

	for (size_t i = 0; i < extent->count; i++) {
		struct host_page *page = gm_host_page_find(
			extent->device, pages[i], extent->page_bytes);

		if (!page || (page->mappings && !alias)) {
			disclaim(extent, pages, i);
			return gm_host_invalid(
				page ? "the page is mapped already"
				     : "no such page",
				pages[i], extent->page_bytes);
		}
		page->mappings++;
	}
	return GPUMEM_OK;
}

static const struct host_page *page_of(const struct host_extent *extent,
				       gpumem_page page)
{
	return &extent->device->phys.pages[(uint32_t)page - 1];
}

/* How many pages from `first` on lie in the file one after the other. */
static size_t run_length(const struct host_extent *extent,
			 const gpumem_page *pages, size_t first)
{
	const struct host_page *page = page_of(extent, pages[first]);
	uint64_t next = page->offset;
	size_t i = first;

	if (page->own)
		return 1;
	do {
		i++;
		next += extent->page_bytes;
		if (i < extent->count)
			page = page_of(extent, pages[i]);
	} while (i < extent->count && !page->own && page->offset == next);
	return i - first;
}

/* The system calls; all or none. */
static gpumem_status map_runs(const struct host_extent *extent,
			      const gpumem_page *pages)
{
	uint64_t size = extent->page_bytes;
	gpumem_status status;
	size_t done = 0;

	while (done < extent->count) {
		size_t length = run_length(extent, pages, done);
		const struct host_page *page = page_of(extent, pages[done]);

		status = gm_host_phys_map(
			extent->device,
			page->own ? &page->file : &extent->device->phys.file,
			extent->address + done * size, length * size,
			page->own ? 0 : page->offset);
		if (status != GPUMEM_OK)
			goto undo;
		done += length;
	}
	/* A child would share the memory, where a real driver's would have
	 * none. Should this fail, it shares it. */
	(void)madvise((void *)(uintptr_t)extent->address, extent->bytes,
		      MADV_DONTFORK);
	return GPUMEM_OK;

undo:
	/* Cannot fail: the new mappings are whole, since what they could have
	 * joined does not go to children. */
	if (done)
		(void)gm_host_address_fault(extent->address, done * size);
	return status;
}

static gpumem_status map_locked(struct host_extent *extent,
				const gpumem_page *pages)
{
	gpumem_status status = gm_host_extent_find(extent);

	if (status == GPUMEM_OK)
		status = gm_host_extent_vacant(extent);
	if (status == GPUMEM_OK)
		status = claim(extent, pages);
	if (status != GPUMEM_OK)
		return status;
	status = map_runs(extent, pages);
	if (status != GPUMEM_OK) {
		disclaim(extent, pages, extent->count);
		return status;
	}
	for (size_t i = 0; i < extent->count; i++)
		gm_host_extent_mark(extent, i, (uint32_t)pages[i]);
	return GPUMEM_OK;
}

/* A single map beyond option host.fail_above. */
static gpumem_status check_size(const struct host_device *device, size_t count,
				uint64_t page_bytes)
{
	uint64_t above = device->config.fail_above, bytes;

	if (!above || (!__builtin_mul_overflow(count, page_bytes, &bytes) &&
		       bytes <= above))
		return GPUMEM_OK;
	return gm_host_fail(GPUMEM_NO_MEMORY,
			    "%llu pages of %llu bytes at once are more than "
			    "option host.fail_above allows, %llu",
			    (unsigned long long)count,
			    (unsigned long long)page_bytes,
			    (unsigned long long)above);
}

static gpumem_status map(struct host_extent *extent, enum gpumem_slot slot,
			 const gpumem_page *pages)
{
	struct host_device *device = extent->device;
	gpumem_status status = gm_host_enter(device, slot);

	if (status == GPUMEM_OK)
		status = check_size(device, extent->count, extent->page_bytes);
	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&device->memory);
	status = map_locked(extent, pages);
	pthread_mutex_unlock(&device->memory);
	return status;
}

gpumem_status gm_host_map(void *handle, uint64_t address,
			  const gpumem_page *pages, size_t count,
			  uint64_t page_bytes)
{
	struct host_extent extent = {
		.device = handle,
		.address = address,
		.page_bytes = page_bytes,
		.count = count,
	};

	return map(&extent, GPUMEM_SLOT_map, pages);
}

static uint64_t mask_of(void *const *peers, size_t count)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < count; i++) {
		const struct host_device *peer = peers[i];

		mask |= UINT64_C(1) << peer->index;
	}
	return mask;
}

gpumem_status gm_host_map_peers(void *handle, uint64_t address,
				const gpumem_page *pages, size_t count,
				uint64_t page_bytes, void *const *peers,
				size_t peer_count)
{
	struct host_extent extent = {
		.device = handle,
		.address = address,
		.page_bytes = page_bytes,
		.count = count,
		.peers = mask_of(peers, peer_count),
	};

	return map(&extent, GPUMEM_SLOT_map_peers, pages);
}

static gpumem_status open_locked(struct host_extent *extent)
{
	gpumem_status status = gm_host_extent_find(extent);

	if (status == GPUMEM_OK)
		status = gm_host_extent_mapped(extent);
	for (size_t i = 0; i < extent->count && status == GPUMEM_OK; i++)
		gm_host_extent_open(extent, i);
	return status;
}

gpumem_status gm_host_open_mapped(void *handle, uint64_t address, size_t count,
				  uint64_t page_bytes, void *const *peers,
				  size_t peer_count)
{
	struct host_device *device = handle;
	struct host_extent extent = {
		.device = device,
		.address = address,
		.page_bytes = page_bytes,
		.count = count,
		.peers = mask_of(peers, peer_count),
	};
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_open_mapped);

	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&device->memory);
	status = open_locked(&extent);
	pthread_mutex_unlock(&device->memory);
	return status;
}

static gpumem_status unmap_locked(struct host_extent *extent)
{
	gpumem_status status = gm_host_extent_find(extent);

	if (status == GPUMEM_OK)
		status = gm_host_extent_mapped(extent);
	if (status == GPUMEM_OK)
		status = gm_host_address_fault(extent->address, extent->bytes);
	if (status != GPUMEM_OK)
		return status;
	for (size_t i = 0; i < extent->count; i++) {
		uint32_t number = gm_host_extent_page(extent, i);

		extent->device->phys.pages[number - 1].mappings--;
		gm_host_extent_mark(extent, i, 0);
	}
	return GPUMEM_OK;
}

gpumem_status gm_host_unmap(void *handle, uint64_t address, size_t count,
			    uint64_t page_bytes)
{
	struct host_device *device = handle;
	struct host_extent extent = {
		.device = device,
		.address = address,
		.page_bytes = page_bytes,
		.count = count,
	};
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_unmap);

	if (status != GPUMEM_OK)
		return status;
	gm_host_free_in_capture(device);
	pthread_mutex_lock(&device->memory);
	status = unmap_locked(&extent);
	pthread_mutex_unlock(&device->memory);
	return status;
}
