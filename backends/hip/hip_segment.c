/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Raw allocations made of virtual memory, at HIP_VM_RESERVE: each has addresses
 * of its own and one handle behind them, and both go when it is freed. So
 * memory that stays taken until its addresses are free (ROCm/hip#3781) does
 * come back, and a free waits for no work, which hipFree() does. They have no
 * name for other processes, and no page of theirs can be mapped elsewhere.
 *
 * Their table is guarded by its mutex, and is a list, as a pool takes few and
 * large ones. Access is given with the mutex held, so that a peer that is let
 * in meanwhile misses none; what else the runtime has to do for an allocation
 * it does without.
 */
#include "plugin.h"

#include <pthread.h>
#include <stdlib.h>

struct segment {
	struct segment *next;
	uint64_t address, bytes;
	hipMemGenericAllocationHandle_t handle;
};

struct hip_segments {
	pthread_mutex_t mutex;
	uint64_t devices;      /* a bit for each that uses all of them */
	struct segment *first; /* with memory */
	struct segment *left; /* without, whose addresses were not taken back */
};

struct hip_segments *gm_hip_segments_new(int device)
{
	struct hip_segments *segments = calloc(1, sizeof(*segments));

	if (!segments)
		return NULL;
	pthread_mutex_init(&segments->mutex, NULL);
	segments->devices = UINT64_C(1) << device;
	return segments;
}

static bool free_addresses(const struct segment *segment)
{
	return gpu.MemAddressFree(gpu_at(segment->address), segment->bytes) ==
	       hipSuccess;
}

/* Offers the runtime again what it did not take back. */
static void settle(struct hip_segments *segments)
{
	pthread_mutex_lock(&segments->mutex);
	while (segments->left && free_addresses(segments->left)) {
		struct segment *segment = segments->left;

		segments->left = segment->next;
		free(segment);
	}
	pthread_mutex_unlock(&segments->mutex);
}

bool gm_hip_segments_left(struct hip_segments *segments)
{
	bool left;

	pthread_mutex_lock(&segments->mutex);
	left = segments->left != NULL;
	pthread_mutex_unlock(&segments->mutex);
	return left;
}

static void forget(struct segment *segment)
{
	while (segment) {
		struct segment *next = segment->next;

		free(segment);
		segment = next;
	}
}

void gm_hip_segments_drop(struct gpu_device *device)
{
	struct hip_segments *segments = device->segments;
	struct gpu_call call;

	if (!segments)
		return;
	if (gm_hip_segments_left(segments)) {
		call = gpu_begin(device);
		if (call.status == GPUMEM_OK)
			settle(segments);
		(void)gpu_end(&call);
	}
	forget(segments->first);
	forget(segments->left);
	pthread_mutex_destroy(&segments->mutex);
	free(segments);
	device->segments = NULL;
}

/* Puts it into the table and gives access to all that have it; it is there
 * whatever comes of the latter. */
static gpumem_status add(struct hip_segments *segments, struct segment *segment)
{
	gpumem_status status;

	pthread_mutex_lock(&segments->mutex);
	segment->next = segments->first;
	segments->first = segment;
	status = gpu_set_access(segment->address, segment->bytes,
				segments->devices);
	pthread_mutex_unlock(&segments->mutex);
	return status;
}

/* Takes it out of the table; NULL: there is none. */
static struct segment *withdraw(struct hip_segments *segments, uint64_t address)
{
	struct segment **at = &segments->first, *segment;

	pthread_mutex_lock(&segments->mutex);
	while (*at && (*at)->address != address)
		at = &(*at)->next;
	segment = *at;
	if (segment)
		*at = segment->next;
	pthread_mutex_unlock(&segments->mutex);
	return segment;
}

/* Memory behind its addresses. */
static gpumem_status fill(const struct gpu_device *device,
			  struct segment *segment)
{
	gpumem_status status = gpu_handle_create(
		segment->bytes, &device->traits.page, &segment->handle);

	if (status != GPUMEM_OK)
		return status;
	status = gpu_handle_map(segment->address, segment->bytes,
				segment->handle);
	if (status != GPUMEM_OK)
		goto release;
	status = add(device->segments, segment);
	if (status != GPUMEM_OK)
		goto unmap;
	return GPUMEM_OK;

unmap:
	(void)withdraw(device->segments, segment->address);
	(void)gpu.MemUnmap(gpu_at(segment->address), segment->bytes);
release:
	(void)gpu.MemRelease(segment->handle);
	return status;
}

static gpumem_status alloc(const struct gpu_device *device, uint64_t bytes,
			   uint64_t *address_out)
{
	struct segment *segment = calloc(1, sizeof(*segment));
	gpumem_status status;

	if (!segment)
		return gpu_fail(GPUMEM_NO_HOST_MEMORY, hipSuccess,
				"no host memory for the record of an "
				"allocation");
	settle(device->segments);
	segment->bytes = bytes;
	status = gpu_look();
	if (status == GPUMEM_OK)
		status = gpu_pages_whole.reserve(
			device, bytes, device->traits.granularity_bytes,
			&segment->address);
	if (status != GPUMEM_OK)
		goto free_segment;
	status = fill(device, segment);
	if (status != GPUMEM_OK)
		goto free_addresses;
	*address_out = segment->address;
	return GPUMEM_OK;

free_addresses:
	(void)free_addresses(segment);
free_segment:
	free(segment);
	return status;
}

/* Its memory has gone back. Addresses that the runtime will not have are no
 * failure of the free, as nothing is left that could be used: they are offered
 * again with the next allocation or free. */
static void leave(struct hip_segments *segments, struct segment *segment)
{
	if (free_addresses(segment)) {
		free(segment);
		return;
	}
	gpu.services->log(GPUMEM_LOG_WARN,
			  "hip: the runtime does not take back the addresses "
			  "of memory that was freed, 0x%llx; it is asked "
			  "again later",
			  (unsigned long long)segment->address);
	pthread_mutex_lock(&segments->mutex);
	segment->next = segments->left;
	segments->left = segment;
	pthread_mutex_unlock(&segments->mutex);
}

/* What fails is mapped again as it was. */
static gpumem_status release(const struct gpu_device *device, uint64_t address,
			     uint64_t bytes)
{
	struct segment *segment = withdraw(device->segments, address);
	gpumem_status status;

	(void)bytes;
	if (!segment)
		return gpu_fail(GPUMEM_INVALID, hipSuccess,
				"0x%llx is no raw allocation",
				(unsigned long long)address);
	settle(device->segments);
	status = gpu_pages_whole.unmap(device, address, 1, segment->bytes);
	if (status != GPUMEM_OK)
		goto add;
	status = gpu_handle_release(segment->handle, segment->bytes);
	if (status != GPUMEM_OK)
		goto map;
	leave(device->segments, segment);
	return GPUMEM_OK;

map:
	(void)gpu.MemMap(gpu_at(address), segment->bytes, 0, segment->handle,
			 0);
add:
	(void)add(device->segments, segment);
	return status;
}

/* Before `end`. */
static void shut(const struct hip_segments *segments, const struct segment *end,
		 int peer)
{
	const hipMemAccessDesc none = {
		.location = {.type = hipMemLocationTypeDevice, .id = peer},
		.flags = hipMemAccessFlagsProtNone,
	};

	for (struct segment *at = segments->first; at != end; at = at->next)
		(void)gpu.MemSetAccess(gpu_at(at->address), at->bytes, &none,
				       1);
}

static gpumem_status open_locked(struct hip_segments *segments, int peer)
{
	uint64_t devices = segments->devices | UINT64_C(1) << peer;
	gpumem_status status;

	if (devices == segments->devices)
		return GPUMEM_OK;
	for (struct segment *at = segments->first; at; at = at->next) {
		status = gpu_set_access(at->address, at->bytes, devices);
		if (status != GPUMEM_OK) {
			shut(segments, at, peer);
			return status;
		}
	}
	segments->devices = devices;
	return GPUMEM_OK;
}

/* Access belongs to a mapping here, and not to the device. */
static gpumem_status open_to(const struct gpu_device *device,
			     const struct gpu_device *peer)
{
	struct hip_segments *segments = device->segments;
	struct gpu_call call = gpu_begin(device);

	if (call.status == GPUMEM_OK) {
		pthread_mutex_lock(&segments->mutex);
		call.status = open_locked(segments, peer->device);
		pthread_mutex_unlock(&segments->mutex);
	}
	return gpu_end(&call);
}

const struct gpu_raw gm_hip_raw_segments = {
	.alloc = alloc, .free = release, .open = open_to};
