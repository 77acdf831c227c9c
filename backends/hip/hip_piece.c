/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group VM at HIP_VM_SINGLE, for runtimes that take one mapping a call. What is
 * mapped is written down, so that half a call can be undone. The mutex of the
 * ranges guards their list and what is mapped in them.
 */
#include "plugin.h"

#include <pthread.h>
#include <stdlib.h>

struct piece {
	gpumem_page page; /* 0: nothing is mapped */
	uint64_t devices; /* that may use it */
};

/* One piece for each granule; those inside a page but for the first stay empty.
 */
struct range {
	struct range *next;
	uint64_t address, bytes;
	struct piece *piece;
};

struct hip_ranges {
	pthread_mutex_t mutex;
	struct range *first;
};

struct hip_ranges *gm_hip_ranges_new(void)
{
	struct hip_ranges *ranges = calloc(1, sizeof(*ranges));

	if (ranges)
		pthread_mutex_init(&ranges->mutex, NULL);
	return ranges;
}

static void free_range(struct range *range)
{
	if (range)
		free(range->piece);
	free(range);
}

void gm_hip_ranges_free(struct hip_ranges *ranges)
{
	if (!ranges)
		return;
	while (ranges->first) {
		struct range *range = ranges->first;

		ranges->first = range->next;
		free_range(range);
	}
	pthread_mutex_destroy(&ranges->mutex);
	free(ranges);
}

/* ---- Ranges ------------------------------------------------------------ */

/* Where the list has the range that the address is in; NULL there: none. */
static struct range **find(struct hip_ranges *ranges, uint64_t address)
{
	struct range **at = &ranges->first;

	while (*at && address - (*at)->address >= (*at)->bytes)
		at = &(*at)->next;
	return at;
}

static gpumem_status no_table(void)
{
	return gpu_fail(GPUMEM_NO_HOST_MEMORY, hipSuccess,
			"no host memory for a table of mappings");
}

static gpumem_status foreign(uint64_t address)
{
	return gpu_fail(GPUMEM_INVALID, hipSuccess,
			"0x%llx is in no range that was reserved here",
			(unsigned long long)address);
}

/* The driver first: it refuses more addresses than there are. */
static gpumem_status reserve(const struct gpu_device *device, uint64_t bytes,
			     uint64_t alignment, uint64_t *address_out)
{
	struct hip_ranges *ranges = device->ranges;
	struct range *range;
	uint64_t address;
	gpumem_status status =
		gpu_pages_whole.reserve(device, bytes, alignment, &address);

	if (status != GPUMEM_OK)
		return status;
	range = calloc(1, sizeof(*range));
	if (range)
		range->piece = calloc(bytes / device->traits.granularity_bytes,
				      sizeof(*range->piece));
	if (!range || !range->piece) {
		free_range(range);
		(void)gpu_pages_whole.release(device, address, bytes);
		return no_table();
	}
	range->address = *address_out = address;
	range->bytes = bytes;
	pthread_mutex_lock(&ranges->mutex);
	range->next = ranges->first;
	ranges->first = range;
	pthread_mutex_unlock(&ranges->mutex);
	return GPUMEM_OK;
}

static gpumem_status release(const struct gpu_device *device, uint64_t address,
			     uint64_t bytes)
{
	struct hip_ranges *ranges = device->ranges;
	struct range **at, *range;
	gpumem_status status;

	pthread_mutex_lock(&ranges->mutex);
	at = find(ranges, address);
	range = *at;
	status = range ? gpu_pages_whole.release(device, address, bytes)
		       : foreign(address);
	if (status == GPUMEM_OK) {
		*at = range->next;
		free_range(range);
	}
	pthread_mutex_unlock(&ranges->mutex);
	return status;
}

/* ---- Pieces ------------------------------------------------------------ */

/* What is mapped or unmapped. */
struct job {
	const struct gpu_device *device;
	const struct range *range;
	uint64_t address, page_bytes;
	size_t count;
};

static uint64_t address_of(const struct job *job, size_t at)
{
	return job->address + at * job->page_bytes;
}

static struct piece *piece_of(const struct job *job, size_t at)
{
	return &job->range->piece[(address_of(job, at) - job->range->address) /
				  job->device->traits.granularity_bytes];
}

static gpumem_status put(const struct job *job, size_t at, struct piece piece)
{
	gpumem_status status = gpu_pages_whole.map(
		job->device, address_of(job, at), &piece.page, 1,
		job->page_bytes, piece.devices);

	if (status == GPUMEM_OK)
		*piece_of(job, at) = piece;
	return status;
}

/* ROCR-Runtime#285: each mapping by a call of its own. */
static gpumem_status take(const struct job *job, size_t at)
{
	gpumem_status status = gpu_pages_whole.unmap(
		job->device, address_of(job, at), 1, job->page_bytes);

	if (status == GPUMEM_OK)
		*piece_of(job, at) = (struct piece){0};
	return status;
}

static gpumem_status map_locked(const struct job *job, const gpumem_page *pages,
				uint64_t devices)
{
	gpumem_status status;
	size_t done;

	for (done = 0; done < job->count; done++) {
		status = put(job, done, (struct piece){pages[done], devices});
		if (status != GPUMEM_OK)
			goto take;
	}
	return GPUMEM_OK;

take:
	while (done--)
		(void)take(job, done);
	return status;
}

static gpumem_status map(const struct gpu_device *device, uint64_t address,
			 const gpumem_page *pages, size_t count,
			 uint64_t page_bytes, uint64_t devices)
{
	struct job job = {device, NULL, address, page_bytes, count};
	gpumem_status status;

	pthread_mutex_lock(&device->ranges->mutex);
	job.range = *find(device->ranges, address);
	status =
		job.range ? map_locked(&job, pages, devices) : foreign(address);
	pthread_mutex_unlock(&device->ranges->mutex);
	return status;
}

/* What the pieces held is kept in `old` until all are gone. */
static gpumem_status unmap_locked(const struct job *job, struct piece *old)
{
	gpumem_status status;
	size_t done;

	for (done = 0; done < job->count; done++) {
		old[done] = *piece_of(job, done);
		status = take(job, done);
		if (status != GPUMEM_OK)
			goto put;
	}
	return GPUMEM_OK;

put:
	while (done--)
		(void)put(job, done, old[done]);
	return status;
}

static gpumem_status unmap(const struct gpu_device *device, uint64_t address,
			   size_t count, uint64_t page_bytes)
{
	struct job job = {device, NULL, address, page_bytes, count};
	struct piece *old = malloc(count * sizeof(*old));
	gpumem_status status;

	if (!old)
		return no_table();
	pthread_mutex_lock(&device->ranges->mutex);
	job.range = *find(device->ranges, address);
	status = job.range ? unmap_locked(&job, old) : foreign(address);
	pthread_mutex_unlock(&device->ranges->mutex);
	free(old);
	return status;
}

static gpumem_status open_locked(const struct job *job, uint64_t devices)
{
	gpumem_status status = GPUMEM_OK;

	for (size_t i = 0; i < job->count && status == GPUMEM_OK; i++) {
		status = gpu_pages_whole.open(job->device, address_of(job, i),
					      1, job->page_bytes, devices);
		if (status == GPUMEM_OK)
			piece_of(job, i)->devices |= devices;
	}
	return status;
}

static gpumem_status open(const struct gpu_device *device, uint64_t address,
			  size_t count, uint64_t page_bytes, uint64_t devices)
{
	struct job job = {device, NULL, address, page_bytes, count};
	gpumem_status status;

	pthread_mutex_lock(&device->ranges->mutex);
	job.range = *find(device->ranges, address);
	status = job.range ? open_locked(&job, devices) : foreign(address);
	pthread_mutex_unlock(&device->ranges->mutex);
	return status;
}

const struct gpu_pages gm_hip_pages_single = {
	.reserve = reserve,
	.release = release,
	.map = map,
	.unmap = unmap,
	.open = open,
};
