/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pieces mapped and unmapped, see hip_piece.h. Under the mutex of the ranges.
 */
#include "hip_piece.h"

#include <stdlib.h>

/* What is mapped or unmapped. */
struct job {
	const struct gpu_device *device;
	struct hip_range *range;
	uint64_t address, page_bytes;
	size_t count;
};

static uint64_t address_of(const struct job *job, size_t at)
{
	return job->address + at * job->page_bytes;
}

static struct hip_piece *piece_of(const struct job *job, size_t at)
{
	return gm_hip_piece_at(job->device, job->range, address_of(job, at));
}

static gpumem_status put(const struct job *job, size_t at,
			 hipMemGenericAllocationHandle_t handle,
			 uint64_t devices)
{
	uint64_t address = address_of(job, at);
	gpumem_status status;

	status = gpu_handle_map(address, job->page_bytes, handle);
	if (status != GPUMEM_OK)
		return status;
	status = gpu_set_access(address, job->page_bytes, devices);
	if (status != GPUMEM_OK) {
		(void)gpu.MemUnmap((void *)(uintptr_t)address, job->page_bytes);
		return status;
	}
	*piece_of(job, at) = (struct hip_piece){handle, devices};
	return GPUMEM_OK;
}

/* ROCR-Runtime#285: each mapping by a call of its own. */
static gpumem_status take(const struct job *job, size_t at)
{
	gpumem_status status =
		gpu_unmap_whole(address_of(job, at), job->page_bytes);

	if (status != GPUMEM_OK)
		return status;
	*piece_of(job, at) = (struct hip_piece){0};
	return GPUMEM_OK;
}

static gpumem_status map_locked(const struct job *job, const gpumem_page *pages,
				uint64_t devices)
{
	gpumem_status status;
	size_t done;

	for (done = 0; done < job->count; done++) {
		status = put(job, done, gpu_handle_of(pages[done]), devices);
		if (status != GPUMEM_OK)
			goto take;
	}
	return GPUMEM_OK;

take:
	while (done--)
		(void)take(job, done);
	return status;
}

gpumem_status gpu_pieces_map(const struct gpu_device *device, uint64_t address,
			     const gpumem_page *pages, size_t count,
			     uint64_t page_bytes, uint64_t devices)
{
	struct job job = {device, NULL, address, page_bytes, count};
	gpumem_status status;

	pthread_mutex_lock(&device->ranges->mutex);
	job.range = gm_hip_range_find(device->ranges, address);
	status = job.range ? map_locked(&job, pages, devices)
			   : gm_hip_foreign(address);
	pthread_mutex_unlock(&device->ranges->mutex);
	return status;
}

/* What the pieces held is kept in `old` until all are gone. */
static gpumem_status unmap_locked(const struct job *job, struct hip_piece *old)
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
		(void)put(job, done, old[done].handle, old[done].devices);
	return status;
}

gpumem_status gpu_pieces_unmap(const struct gpu_device *device,
			       uint64_t address, size_t count,
			       uint64_t page_bytes)
{
	struct job job = {device, NULL, address, page_bytes, count};
	struct hip_piece *old = malloc(count * sizeof(*old));
	gpumem_status status;

	if (!old)
		return gm_hip_no_table();
	pthread_mutex_lock(&device->ranges->mutex);
	job.range = gm_hip_range_find(device->ranges, address);
	status = job.range ? unmap_locked(&job, old) : gm_hip_foreign(address);
	pthread_mutex_unlock(&device->ranges->mutex);
	free(old);
	return status;
}
