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

#include <sys/mman.h>

/* What map and unmap were asked for. */
struct request {
	struct host_device *device;
	struct host_range *range; /* that holds all of it */
	uint64_t address, bytes;  /* bytes == count * page_bytes */
	uint64_t page_bytes;
	size_t count;
	uint64_t peers; /* map: mask of the devices that use it too */
};

static gpumem_status invalid(const char *what, uint64_t address, uint64_t bytes)
{
	return gm_host_fail(GPUMEM_INVALID, "%s: 0x%llx, %llu bytes", what,
			    (unsigned long long)address,
			    (unsigned long long)bytes);
}

/* The request's whole extent lies on granules of one reservation. */
static gpumem_status check_extent(struct request *request)
{
	uint64_t granule = request->device->config.granularity - 1;
	uint64_t address = request->address;
	struct host_range *range;

	if (!request->count || !request->page_bytes ||
	    (request->page_bytes | address) & granule ||
	    __builtin_mul_overflow(request->count, request->page_bytes,
				   &request->bytes))
		return invalid("not whole granules", address,
			       request->page_bytes);
	range = gm_host_range_find(&request->device->spaces, address);
	if (!range || request->bytes > range->address + range->bytes - address)
		return invalid("not inside one reservation", address,
			       request->bytes);
	request->range = range;
	return GPUMEM_OK;
}

/* The first granule of page i of the request. */
static uint32_t *granule_at(const struct request *request, size_t i)
{
	uint64_t from = request->address - request->range->address;

	return request->range->granules +
	       (from + i * request->page_bytes) /
		       request->device->config.granularity;
}

static uint64_t granules_per_page(const struct request *request)
{
	return request->page_bytes / request->device->config.granularity;
}

/* Writes into the books that page i is mapped, or with 0 that it is not. */
static void mark(const struct request *request, size_t i, uint32_t value)
{
	uint32_t *granule = granule_at(request, i);
	uint64_t count = granules_per_page(request);

	granule[0] = value;
	for (uint64_t k = 1; k < count; k++)
		granule[k] = value ? HOST_GRANULE_MORE : 0;
}

static gpumem_status check_vacant(const struct request *request)
{
	const uint32_t *granule = granule_at(request, 0);
	uint64_t count = request->count * granules_per_page(request);

	for (uint64_t k = 0; k < count; k++)
		if (granule[k])
			return invalid("something is mapped there",
				       request->address, request->bytes);
	return GPUMEM_OK;
}

/* Gives up what claim() did to the first `count` pages. */
static void disclaim(const struct request *request, const gpumem_page *pages,
		     size_t count)
{
	for (size_t i = 0; i < count; i++)
		request->device->phys.pages[(uint32_t)pages[i] - 1].address = 0;
}

/* Every page is there, of that size, nowhere mapped, and named once. */
static gpumem_status claim(const struct request *request,
			   const gpumem_page *pages)
{
	for (size_t i = 0; i < request->count; i++) {
		struct host_page *page = gm_host_page_find(
			request->device, pages[i], request->page_bytes);

		if (!page || page->address) {
			disclaim(request, pages, i);
			return invalid(page ? "the page is mapped already"
					    : "no such page",
				       pages[i], request->page_bytes);
		}
		page->address = request->address + i * request->page_bytes;
		page->peers = request->peers;
	}
	return GPUMEM_OK;
}

static const struct host_page *page_of(const struct request *request,
				       gpumem_page page)
{
	return &request->device->phys.pages[(uint32_t)page - 1];
}

/* How many pages from `first` on lie in the file one after the other. */
static size_t run_length(const struct request *request,
			 const gpumem_page *pages, size_t first)
{
	const struct host_page *page = page_of(request, pages[first]);
	uint64_t next = page->offset;
	size_t i = first;

	if (page->own)
		return 1;
	do {
		i++;
		next += request->page_bytes;
		if (i < request->count)
			page = page_of(request, pages[i]);
	} while (i < request->count && !page->own && page->offset == next);
	return i - first;
}

/* The system calls; all or none. */
static gpumem_status map_runs(const struct request *request,
			      const gpumem_page *pages)
{
	uint64_t size = request->page_bytes;
	gpumem_status status;
	size_t done = 0;

	while (done < request->count) {
		size_t length = run_length(request, pages, done);
		const struct host_page *page = page_of(request, pages[done]);

		status = gm_host_phys_map(
			page->own ? page->fd : request->device->phys.fd,
			request->address + done * size, length * size,
			page->own ? 0 : page->offset);
		if (status != GPUMEM_OK)
			goto undo;
		done += length;
	}
	/* A child would share the memory, where a real driver's would have
	 * none. Should this fail, it shares it. */
	(void)madvise((void *)(uintptr_t)request->address, request->bytes,
		      MADV_DONTFORK);
	return GPUMEM_OK;

undo:
	/* Cannot fail: the new mappings are whole, since what they could have
	 * joined does not go to children. */
	if (done)
		(void)gm_host_address_fault(request->address, done * size);
	return status;
}

static gpumem_status map_locked(struct request *request,
				const gpumem_page *pages)
{
	gpumem_status status = check_extent(request);

	if (status == GPUMEM_OK)
		status = check_vacant(request);
	if (status == GPUMEM_OK)
		status = claim(request, pages);
	if (status != GPUMEM_OK)
		return status;
	status = map_runs(request, pages);
	if (status != GPUMEM_OK) {
		disclaim(request, pages, request->count);
		return status;
	}
	for (size_t i = 0; i < request->count; i++)
		mark(request, i, (uint32_t)pages[i]);
	request->range->mapped += request->count * granules_per_page(request);
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

static gpumem_status map(struct request *request, enum host_slot slot,
			 const gpumem_page *pages)
{
	struct host_device *device = request->device;
	gpumem_status status = gm_host_enter(device, slot);

	if (status == GPUMEM_OK)
		status =
			check_size(device, request->count, request->page_bytes);
	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&device->memory);
	status = map_locked(request, pages);
	pthread_mutex_unlock(&device->memory);
	return status;
}

gpumem_status gm_host_map(void *handle, uint64_t address,
			  const gpumem_page *pages, size_t count,
			  uint64_t page_bytes)
{
	struct request request = {
		.device = handle,
		.address = address,
		.page_bytes = page_bytes,
		.count = count,
	};

	return map(&request, HOST_SLOT_map, pages);
}

gpumem_status gm_host_map_peers(void *handle, uint64_t address,
				const gpumem_page *pages, size_t count,
				uint64_t page_bytes, void *const *peers,
				size_t peer_count)
{
	struct request request = {
		.device = handle,
		.address = address,
		.page_bytes = page_bytes,
		.count = count,
	};

	for (size_t i = 0; i < peer_count; i++) {
		const struct host_device *peer = peers[i];

		request.peers |= UINT64_C(1) << peer->index;
	}
	return map(&request, HOST_SLOT_map_peers, pages);
}

/* Each place of the request begins a mapping of exactly that size. */
static gpumem_status check_mapped(const struct request *request)
{
	for (size_t i = 0; i < request->count; i++) {
		uint32_t number = *granule_at(request, i);

		if (!number || number == HOST_GRANULE_MORE ||
		    request->device->phys.pages[number - 1].bytes !=
			    request->page_bytes)
			return invalid("no such mapping",
				       request->address +
					       i * request->page_bytes,
				       request->page_bytes);
	}
	return GPUMEM_OK;
}

static gpumem_status unmap_locked(struct request *request)
{
	gpumem_status status = check_extent(request);

	if (status == GPUMEM_OK)
		status = check_mapped(request);
	if (status == GPUMEM_OK)
		status =
			gm_host_address_fault(request->address, request->bytes);
	if (status != GPUMEM_OK)
		return status;
	for (size_t i = 0; i < request->count; i++) {
		uint32_t number = *granule_at(request, i);

		request->device->phys.pages[number - 1].address = 0;
		mark(request, i, 0);
	}
	request->range->mapped -= request->count * granules_per_page(request);
	return GPUMEM_OK;
}

gpumem_status gm_host_unmap(void *handle, uint64_t address, size_t count,
			    uint64_t page_bytes)
{
	struct host_device *device = handle;
	struct request request = {
		.device = device,
		.address = address,
		.page_bytes = page_bytes,
		.count = count,
	};
	gpumem_status status = gm_host_enter(device, HOST_SLOT_unmap);

	if (status != GPUMEM_OK)
		return status;
	if (atomic_load(&device->capturing))
		gm_host_violation();
	pthread_mutex_lock(&device->memory);
	status = unmap_locked(&request);
	pthread_mutex_unlock(&device->memory);
	return status;
}
