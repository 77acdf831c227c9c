/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The memory of the runtime hip_below, by each function that gives it out or
 * takes it back: of a device, of the host, and by handles. What is known of it
 * is in hip_below.c, with its mutex.
 */
#include "hip_below_graph.h"

#include <stdlib.h>

#define ROW 256 /* bytes */

int hipMalloc(void **out, size_t bytes)
{
	return leave(take(out, bytes, current, DEVICE));
}

int hipExtMallocWithFlags(void **out, size_t bytes, unsigned flags)
{
	return hipMalloc(out, bytes);
}

int hipFree(void *address)
{
	return leave(give(address, DEVICE) == OK || give(address, HOST) == OK
			     ? OK
			     : free_node(address));
}

int hipMemAllocPitch(void **out, size_t *pitch_out, size_t width, size_t height,
		     unsigned element)
{
	if (!out || !pitch_out)
		return leave(INVALID);
	*pitch_out = (width + ROW - 1) / ROW * ROW;
	return hipMalloc(out, *pitch_out * height);
}

int hipMallocPitch(void **out, size_t *pitch_out, size_t width, size_t height)
{
	return hipMemAllocPitch(out, pitch_out, width, height, 4);
}

struct pitched {
	void *address;
	size_t pitch, width, height;
};

struct extent {
	size_t width, height, depth;
};

int hipMalloc3D(struct pitched *out, struct extent extent)
{
	if (!out)
		return leave(INVALID);
	out->width = extent.width;
	out->height = extent.height;
	return hipMallocPitch(&out->address, &out->pitch, extent.width,
			      extent.height * extent.depth);
}

int hipMallocManaged(void **out, size_t bytes, unsigned flags)
{
	return leave(take(out, bytes, current, DEVICE));
}

int hipHostMalloc(void **out, size_t bytes, unsigned flags)
{
	return leave(take(out, bytes, current, HOST));
}

int hipHostAlloc(void **out, size_t bytes, unsigned flags)
{
	return hipHostMalloc(out, bytes, flags);
}

int hipExtHostAlloc(void **out, size_t bytes, unsigned flags)
{
	return hipHostMalloc(out, bytes, flags);
}

int hipMallocHost(void **out, size_t bytes)
{
	return hipHostMalloc(out, bytes, 0);
}

int hipMemAllocHost(void **out, size_t bytes)
{
	return hipHostMalloc(out, bytes, 0);
}

int hipHostFree(void *address)
{
	return leave(give(address, HOST));
}

int hipFreeHost(void *address)
{
	return hipHostFree(address);
}

int hipHostRegister(void *address, size_t bytes, unsigned flags)
{
	if (!address)
		return leave(INVALID);
	know(address, bytes);
	return leave(OK);
}

int hipHostUnregister(void *address)
{
	return leave(give(address, REGISTERED));
}

/* In a captured stream a node since 5.5, and the last error stays. */
int hipMallocFromPoolAsync(void **out, size_t bytes, void *pool, void *stream)
{
	if (capture_of(stream) && below_version() >= 50500000)
		return add_node(capture_of(stream), bytes, out);
	return leave(take(out, bytes, current, DEVICE));
}

int hipMallocAsync(void **out, size_t bytes, void *stream)
{
	return hipMallocFromPoolAsync(out, bytes, NULL, stream);
}

/* A variant that nobody knows. */
int hipMallocAsync_spt(void **out, size_t bytes, void *stream)
{
	return leave(take(out, bytes, current, DEVICE));
}

int hipFreeAsync(void *address, void *stream)
{
	if (capture_of(stream) && below_version() >= 50500000)
		return add_free(capture_of(stream), address);
	return leave(give(address, DEVICE) == OK ? OK : free_node(address));
}

/* ---- handles ---------------------------------------------------------------
 */

int hipMemCreate(void **out, size_t bytes, const int *prop,
		 unsigned long long flags)
{
	return leave(take(out, bytes, prop[3], HANDLE));
}

int hipMemRelease(void *handle)
{
	return leave(refer(handle, -1));
}

/* One mapping of a range, which is where its handle is. */
int hipMemAddressReserve(void **out, size_t bytes, size_t alignment,
			 void *wanted, unsigned long long flags)
{
	*out = calloc(1, 4096);
	return leave(OK);
}

int hipMemAddressFree(void *address, size_t bytes)
{
	free(address);
	return leave(OK);
}

int hipMemMap(void *address, size_t bytes, size_t offset, void *handle,
	      unsigned long long flags)
{
	*(void **)address = handle;
	return leave(refer(handle, 1));
}

int hipMemUnmap(void *address, size_t bytes)
{
	return leave(refer(*(void **)address, -1));
}

int hipMemRetainAllocationHandle(void **out, void *address)
{
	*out = *(void **)address;
	return leave(refer(*out, 1));
}
