/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Physical memory: ranges of one memfd. The file has far more offsets than the
 * device has bytes, so ranges are never cut or merged: each belongs for ever to
 * the bin of its span, and what limits the device is the account of bytes.
 * Ranges are made in ascending order and the lowest free one goes out first, so
 * that pages mapped in order are one mapping to the system, whose mappings are
 * few (vm.max_map_count). The callers hold the device's `memory`.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_device.h"
#include "host_ipc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define FILE_STEP (UINT64_C(1) << 30)

gpumem_status gm_host_phys_init(struct host_phys *phys)
{
	char name[HOST_NAME_BYTES];
	gpumem_status status = gm_host_key_new(phys->key, name);

	if (status != GPUMEM_OK)
		return status;
	return gm_host_file_make(name, 0, HOST_SEALS_DEVICE, &phys->file);
}

void gm_host_phys_free(struct host_phys *phys)
{
	for (size_t i = 0; i < HOST_BINS; i++)
		free(phys->bins[i].heap);
	for (uint32_t i = 0; i < phys->count; i++)
		if (phys->pages[i].own)
			gm_host_file_close(&phys->pages[i].file);
	free(phys->pages);
	gm_host_file_close(&phys->file);
}

/* Spans are m << e units with 8 <= m < 16, or less than 8 units; the smallest
 * that holds `bytes` is put into *span_out and its bin is returned. */
static size_t bin_of(uint64_t bytes, uint64_t *span_out)
{
	uint64_t unit = gm_host_unit(), units = (bytes + unit - 1) / unit;
	unsigned e;
	uint64_t m;

	if (units < 8) {
		*span_out = units * unit;
		return (size_t)units;
	}
	e = 60 - (unsigned)__builtin_clzll(units);
	m = (units + (UINT64_C(1) << e) - 1) >> e;
	if (m == 16) {
		m = 8;
		e++;
	}
	*span_out = (m << e) * unit;
	return 8 * (size_t)e + (size_t)m;
}

static void heap_push(struct host_bin *bin, uint32_t number)
{
	uint32_t at = bin->count++;

	while (at && bin->heap[(at - 1) / 2] > number) {
		bin->heap[at] = bin->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	bin->heap[at] = number;
}

static uint32_t heap_pop(struct host_bin *bin)
{
	uint32_t top = bin->heap[0], last = bin->heap[--bin->count];
	uint32_t at = 0, child;

	while ((child = 2 * at + 1) < bin->count) {
		if (child + 1 < bin->count &&
		    bin->heap[child + 1] < bin->heap[child])
			child++;
		if (bin->heap[child] > last)
			break;
		bin->heap[at] = bin->heap[child];
		at = child;
	}
	bin->heap[at] = last;
	return top;
}

/* Makes the file reach `bytes`. The system would kill the process for growing
 * a file beyond its limit. */
static gpumem_status grow_file(struct host_device *device, uint64_t bytes)
{
	struct host_phys *phys = &device->phys;
	gpumem_status status;
	uint64_t size = (bytes + FILE_STEP - 1) & ~(FILE_STEP - 1);
	struct rlimit limit;

	if (bytes <= phys->file_bytes)
		return GPUMEM_OK;
	if (!getrlimit(RLIMIT_FSIZE, &limit) &&
	    limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < size)
		return gm_host_fail_system(EFBIG, "a larger memory file");
	status = gm_host_file_check(device, &phys->file);
	if (status != GPUMEM_OK)
		return status;
	if (ftruncate(phys->file.fd, (off_t)size) < 0)
		return gm_host_fail_system(errno, "a larger memory file");
	phys->file_bytes = size;
	return GPUMEM_OK;
}

/* Doubles *array, of `size` bytes each, when it has no room for one more. */
static bool make_room(void *array, uint32_t *room, uint32_t count, size_t size)
{
	void **place = array, *larger;
	uint32_t more = *room ? 2 * *room : 64;

	if (count < *room)
		return true;
	if (more < *room)
		return false;
	larger = realloc(*place, more * size);
	if (!larger)
		return false;
	*place = larger;
	*room = more;
	return true;
}

/* A range that was never used before. Its bin has room to take it back. */
static gpumem_status make_page(struct host_device *device, struct host_bin *bin,
			       uint64_t span, uint32_t *number_out)
{
	struct host_phys *phys = &device->phys;
	gpumem_status status;

	status = grow_file(device, phys->next_offset + span);
	if (status != GPUMEM_OK)
		return status;
	if (phys->count >= HOST_GRANULE_MORE - 1 ||
	    !make_room(&phys->pages, &phys->room, phys->count,
		       sizeof(*phys->pages)) ||
	    !make_room(&bin->heap, &bin->room, bin->made, sizeof(*bin->heap)))
		return gm_host_fail_system(ENOMEM,
					   "memory for its bookkeeping");
	phys->pages[phys->count] = (struct host_page){
		.offset = phys->next_offset,
		.span = span,
	};
	phys->next_offset += span;
	bin->made++;
	*number_out = phys->count++;
	return GPUMEM_OK;
}

uint64_t gm_host_phys_left(const struct host_device *device)
{
	uint64_t used = atomic_load(&device->used_bytes);
	uint64_t outside = gm_host_outside_bytes(device->index);
	uint64_t left = device->config.capacity - used;

	return left > outside ? left - outside : 0;
}

static gpumem_status check_capacity(const struct host_device *device,
				    uint64_t bytes)
{
	uint64_t above = device->config.fail_above;

	if (above && bytes > above)
		return gm_host_fail(GPUMEM_NO_MEMORY,
				    "%llu bytes at once are more than option "
				    "host.fail_above allows, %llu",
				    (unsigned long long)bytes,
				    (unsigned long long)above);
	if (bytes <= gm_host_phys_left(device))
		return GPUMEM_OK;
	return gm_host_fail(
		GPUMEM_NO_MEMORY,
		"the simulated device is full: %llu bytes wanted, %llu used "
		"here and %llu by others, of %llu",
		(unsigned long long)bytes,
		(unsigned long long)atomic_load(&device->used_bytes),
		(unsigned long long)gm_host_outside_bytes(device->index),
		(unsigned long long)device->config.capacity);
}

static gpumem_status pick(struct host_device *device, uint64_t bytes,
			  uint64_t span, uint32_t *number_out)
{
	struct host_phys *phys = &device->phys;
	struct host_bin *bin = &phys->bins[bin_of(span, &span)];
	gpumem_status status = GPUMEM_OK;
	uint32_t number = 0;

	if (bin->count)
		number = heap_pop(bin);
	else
		status = make_page(device, bin, span, &number);
	if (status != GPUMEM_OK)
		return status;
	phys->pages[number].bytes = bytes;
	phys->pages[number].turn++;
	*number_out = number;
	return GPUMEM_OK;
}

gpumem_status gm_host_phys_take(struct host_device *device, uint64_t bytes,
				uint64_t span, uint32_t *number_out)
{
	gpumem_status status = check_capacity(device, bytes);

	if (status == GPUMEM_OK)
		status = pick(device, bytes, span, number_out);
	if (status == GPUMEM_OK)
		atomic_fetch_add(&device->used_bytes, bytes);
	return status;
}

gpumem_status gm_host_phys_adopt(struct host_device *device, uint64_t bytes,
				 uint32_t *number_out)
{
	gpumem_status status = pick(device, bytes, bytes, number_out);

	if (status == GPUMEM_OK)
		device->phys.pages[*number_out].foreign = true;
	return status;
}

/* Should the system refuse, the range only stays backed for the next who takes
 * it. */
static void drop_content(const struct host_phys *phys,
			 const struct host_page *page)
{
	while (fallocate(phys->file.fd,
			 FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			 (off_t)page->offset, (off_t)page->span) < 0 &&
	       errno == EINTR)
		continue;
}

gpumem_status gm_host_phys_check(struct host_device *device, uint32_t number)
{
	const struct host_page *page = &device->phys.pages[number];

	return gm_host_file_check(device,
				  page->own ? &page->file : &device->phys.file);
}

void gm_host_phys_give(struct host_device *device, uint32_t number)
{
	struct host_phys *phys = &device->phys;
	struct host_page *page = &phys->pages[number];
	uint64_t span;

	if (page->own)
		gm_host_file_close(&page->file);
	else
		drop_content(phys, page);
	if (!page->foreign)
		atomic_fetch_sub(&device->used_bytes, page->bytes);
	page->bytes = 0;
	page->mappings = 0;
	page->raw = page->own = page->foreign = false;
	heap_push(&phys->bins[bin_of(page->span, &span)], number);
}

gpumem_status gm_host_phys_map(struct host_device *device,
			       const struct host_file *file, uint64_t address,
			       uint64_t bytes, uint64_t offset)
{
	void *at = (void *)(uintptr_t)address;
	gpumem_status status = gm_host_file_check(device, file);

	if (status != GPUMEM_OK)
		return status;
	if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 file->fd, (off_t)offset) == MAP_FAILED)
		return gm_host_fail_system(
			errno, "a mapping (vm.max_map_count bounds them)");
	return GPUMEM_OK;
}
