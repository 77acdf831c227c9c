/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Physical memory: who holds it, what maps it, and when it goes. That it goes
 * at once, late or never is where ROCm's releases differ. The caller locks.
 */
#include "hip_fake.h"

#include <stdlib.h>

#define KIND 1 /* of all that have a handle here */

static void give_back(struct hip_handle *handle)
{
	(void)cu.cuMemRelease(handle->memory);
	free(handle);
}

/* Where it was mapped last, if that range is there still. */
static struct hip_range *last_range(const struct hip_handle *handle)
{
	struct hip_range *range = hip_range_find(handle->last_address);

	return range && range->serial == handle->last_serial ? range : NULL;
}

static void settle(struct hip_handle *handle)
{
	struct hip_range *range = last_range(handle);

	if (handle->object.handle || handle->mappings)
		return;
	hip.taken_bytes[handle->device] -= handle->bytes;
	if (handle->lost || (handle->last_serial && hip_quirk(HIP_NEVER))) {
		free(handle); /* and its memory stays with the driver */
	} else if (range && hip_quirk(HIP_STUCK)) {
		handle->next = range->withheld;
		range->withheld = handle;
	} else {
		give_back(handle);
	}
}

hipError_t hip_handle_adopt(CUmemGenericAllocationHandle memory, int device,
			    uint64_t bytes,
			    hipMemGenericAllocationHandle_t *name_out)
{
	struct hip_handle *handle = fake_object_new(KIND, sizeof(*handle));

	if (!handle) {
		(void)cu.cuMemRelease(memory);
		return hipErrorOutOfMemory;
	}
	handle->memory = memory;
	handle->device = device;
	handle->bytes = bytes;
	hip.taken_bytes[device] += bytes;
	*name_out = fake_handle_of(handle);
	return hipSuccess;
}

struct hip_handle *hip_handle_find(hipMemGenericAllocationHandle_t name)
{
	return fake_object_find(KIND, name);
}

/* The driver keeps what is mapped; so does HIP, but for one release. */
hipError_t hip_handle_release(hipMemGenericAllocationHandle_t name)
{
	struct hip_handle *handle = hip_handle_find(name);

	if (!handle)
		return hipErrorInvalidValue;
	fake_object_retire(handle);
	handle->lost |= handle->mappings && hip_quirk(HIP_RELEASE_MAPPED);
	settle(handle);
	return hipSuccess;
}

CUmemGenericAllocationHandle hip_handle_seen(const struct hip_handle *handle,
					     uint64_t place)
{
	const struct hip_handle *other;
	uint32_t slot = 0;

	for (; hip_quirk(HIP_FOREIGN) &&
	       (other = fake_object_next(KIND, &slot));
	     slot++)
		if (other->last_place == place)
			return other->memory;
	return handle->memory;
}

void hip_handle_map(struct hip_handle *handle, const struct hip_range *range,
		    uint64_t place)
{
	handle->mappings++;
	handle->lost |= handle->mappings > 1 && hip_quirk(HIP_TWICE_TAKEN);
	handle->last_address = range->span.start;
	handle->last_serial = range->serial;
	handle->last_place = place;
}

void hip_handle_unmap(struct hip_handle *handle)
{
	handle->mappings--;
	settle(handle);
}

void hip_handle_free_withheld(struct hip_range *range)
{
	while (range->withheld) {
		struct hip_handle *handle = range->withheld;

		range->withheld = handle->next;
		give_back(handle);
	}
}
