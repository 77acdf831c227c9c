/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pieces mapped and unmapped, and pages that are lists of handles: see
 * hip_piece.h. Pieces change under the mutex of their ranges; pages are their
 * owner's.
 */
#include "hip_piece.h"

#include <stdlib.h>

struct split {
	size_t count;
	hipMemGenericAllocationHandle_t handles[];
};

static hipMemGenericAllocationHandle_t split_handle(gpumem_page page, size_t at)
{
	return ((const struct split *)(uintptr_t)page)->handles[at];
}

gpumem_status gm_hip_split_create(const struct hip_device *device,
				  uint64_t bytes, gpumem_page *page_out)
{
	uint64_t granule = device->granularity_bytes;
	size_t count = bytes / granule;
	struct split *split =
		malloc(sizeof(*split) + count * sizeof(*split->handles));
	gpumem_status status = GPUMEM_OK;

	if (!split)
		return gm_hip_no_table();
	for (split->count = 0; split->count < count; split->count++) {
		status = gm_hip_handle_create(granule, &device->traits.page,
					      &split->handles[split->count]);
		if (status != GPUMEM_OK)
			goto release;
	}
	*page_out = (uintptr_t)split;
	return GPUMEM_OK;

release:
	while (split->count)
		(void)gm_hip.hipMemRelease(split->handles[--split->count]);
	free(split);
	return status;
}

/* What has gone is not tried again. */
gpumem_status gm_hip_split_destroy(gpumem_page page)
{
	struct split *split = (struct split *)(uintptr_t)page;
	gpumem_status status;

	while (split->count) {
		status =
			gm_hip_handle_release(split->handles[split->count - 1]);
		if (status != GPUMEM_OK)
			return status;
		split->count--;
	}
	free(split);
	return GPUMEM_OK;
}

static gpumem_status put(struct hip_piece *piece, uint64_t address,
			 uint64_t bytes, hipMemGenericAllocationHandle_t handle,
			 uint64_t devices)
{
	gpumem_status status;

	if (piece->lost)
		return gm_hip_fail(GPUMEM_DRIVER, hipSuccess,
				   "the addresses from 0x%llx on are lost",
				   (unsigned long long)address);
	status = gm_hip_handle_map(address, bytes, handle);
	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_set_access(address, bytes, devices);
	if (status != GPUMEM_OK) {
		(void)gm_hip.hipMemUnmap((void *)(uintptr_t)address, bytes);
		return status;
	}
	piece->handle = handle;
	piece->devices = devices;
	return GPUMEM_OK;
}

/* Memory of releases such as 6.4.0 and 7.2 comes back only with its addresses:
 * ROCm/hip#3781. What cannot be had again is lost, which is no failure of the
 * unmap. */
static void take_again(const struct hip_device *device, struct hip_piece *piece,
		       uint64_t address)
{
	gpumem_status status;

	status = gm_hip_addresses_free(address, device->granularity_bytes);
	if (status != GPUMEM_OK)
		return; /* still ours, and the memory comes back later */
	status = gm_hip_reserve_at(device, address);
	if (status == GPUMEM_OK)
		return;
	piece->lost = true;
	gm_hip.services->log(GPUMEM_LOG_WARN,
			     "hip: the addresses from 0x%llx on are lost, and "
			     "cannot be mapped any more",
			     (unsigned long long)address);
}

/* ROCR-Runtime#285: each mapping by a call of its own. */
static gpumem_status take(const struct hip_device *device,
			  struct hip_piece *piece, uint64_t address,
			  uint64_t bytes)
{
	gpumem_status status = gm_hip_mapping_unmap(address, bytes);

	if (status != GPUMEM_OK)
		return status;
	piece->handle = NULL;
	if (device->level == HIP_VM_RESERVE)
		take_again(device, piece, address);
	return GPUMEM_OK;
}

/* What is mapped or unmapped, as a sequence of pieces. */
struct job {
	const struct hip_device *device;
	struct hip_range *range;
	uint64_t address, page_bytes, piece_bytes;
	size_t count; /* of pieces */
};

static gpumem_status start_locked(const struct hip_device *device,
				  uint64_t address, size_t page_count,
				  uint64_t page_bytes, struct job *job_out)
{
	uint64_t bytes = device->level == HIP_VM_RESERVE
				 ? device->granularity_bytes
				 : page_bytes;

	*job_out = (struct job){
		.device = device,
		.range = gm_hip_range_find(device->ranges, address),
		.address = address,
		.page_bytes = page_bytes,
		.piece_bytes = bytes,
		.count = page_count * (page_bytes / bytes),
	};
	return job_out->range ? GPUMEM_OK : gm_hip_foreign(address);
}

static uint64_t address_of(const struct job *job, size_t at)
{
	return job->address + at * job->piece_bytes;
}

static hipMemGenericAllocationHandle_t
handle_of(const struct job *job, const gpumem_page *pages, size_t at)
{
	size_t each = job->page_bytes / job->piece_bytes;
	gpumem_page page = pages[at / each];

	if (job->device->level == HIP_VM_RESERVE)
		return split_handle(page, at % each);
	return (hipMemGenericAllocationHandle_t)(uintptr_t)page;
}

static gpumem_status map_locked(const struct job *job, const gpumem_page *pages,
				uint64_t devices)
{
	gpumem_status status = GPUMEM_OK;
	size_t done = 0;

	while (done < job->count) {
		uint64_t address = address_of(job, done);

		status = put(gm_hip_piece_at(job->device, job->range, address),
			     address, job->piece_bytes,
			     handle_of(job, pages, done), devices);
		if (status != GPUMEM_OK)
			break;
		done++;
	}
	if (status == GPUMEM_OK)
		return GPUMEM_OK;
	while (done--) {
		uint64_t address = address_of(job, done);

		(void)take(job->device,
			   gm_hip_piece_at(job->device, job->range, address),
			   address, job->piece_bytes);
	}
	return status;
}

gpumem_status gm_hip_pieces_map(const struct hip_device *device,
				uint64_t address, const gpumem_page *pages,
				size_t count, uint64_t page_bytes,
				uint64_t devices)
{
	gpumem_status status;
	struct job job;

	pthread_mutex_lock(&device->ranges->mutex);
	status = start_locked(device, address, count, page_bytes, &job);
	if (status == GPUMEM_OK)
		status = map_locked(&job, pages, devices);
	pthread_mutex_unlock(&device->ranges->mutex);
	return status;
}

/* What the pieces held is kept in `old` until all are gone. */
static gpumem_status unmap_locked(const struct job *job, struct hip_piece *old)
{
	gpumem_status status = GPUMEM_OK;
	size_t done = 0;

	while (done < job->count) {
		uint64_t address = address_of(job, done);
		struct hip_piece *piece =
			gm_hip_piece_at(job->device, job->range, address);

		old[done] = *piece;
		status = take(job->device, piece, address, job->piece_bytes);
		if (status != GPUMEM_OK)
			break;
		done++;
	}
	if (status == GPUMEM_OK)
		return GPUMEM_OK;
	while (done--) {
		uint64_t address = address_of(job, done);

		(void)put(gm_hip_piece_at(job->device, job->range, address),
			  address, job->piece_bytes, old[done].handle,
			  old[done].devices);
	}
	return status;
}

gpumem_status gm_hip_pieces_unmap(const struct hip_device *device,
				  uint64_t address, size_t count,
				  uint64_t page_bytes)
{
	struct hip_piece *old = NULL;
	gpumem_status status;
	struct job job;

	pthread_mutex_lock(&device->ranges->mutex);
	status = start_locked(device, address, count, page_bytes, &job);
	if (status == GPUMEM_OK) {
		old = malloc(job.count * sizeof(*old));
		status = old ? unmap_locked(&job, old) : gm_hip_no_table();
	}
	pthread_mutex_unlock(&device->ranges->mutex);
	free(old);
	return status;
}
