/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * cuMemAlloc and what belongs to it. A block has pages of its own, which go
 * when it is freed, and begins 512 bytes or a few times that into them: seen,
 * the real driver promises no more.
 */
#include "cuda_graph.h"

#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096ull

/* Maps the chunk somewhere, at a multiple of `alignment`, and best where a
 * graph had memory. 0: no addresses. */
static uint64_t map_aligned(const struct fake_chunk *chunk, uint64_t alignment)
{
	uint64_t room = chunk->bytes + alignment, start, aligned;
	char *map = mmap((void *)(uintptr_t)fake.vacant, room, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	fake.vacant = 0;
	if (map == MAP_FAILED)
		return 0;
	start = (uintptr_t)map;
	aligned = (start + alignment - 1) & ~(alignment - 1);
	if (aligned > start)
		munmap(map, aligned - start);
	munmap(map + (aligned - start) + chunk->bytes,
	       room - (aligned - start) - chunk->bytes);
	if (mmap((void *)(uintptr_t)aligned, chunk->bytes,
		 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, chunk->fd,
		 (off_t)chunk->offset) == MAP_FAILED) {
		munmap((void *)(uintptr_t)aligned, chunk->bytes);
		return 0;
	}
	return aligned;
}

static CUresult fill_region(struct fake_region *region, uint64_t bytes)
{
	static unsigned turn;
	bool small = bytes <= FAKE_GRANULE / 2;
	uint64_t skew = small ? (turn++ % 7 + 1) * 512 : 0;
	CUresult result;

	region->chunk = fake_chunk_new(region->device,
				       (bytes + skew + PAGE - 1) & ~(PAGE - 1),
				       false, &result);
	if (!region->chunk)
		return result;
	region->mapped_start =
		map_aligned(region->chunk, small ? PAGE : FAKE_GRANULE);
	if (!region->mapped_start) {
		fake_chunk_put(region->chunk);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	region->mapped_bytes = region->chunk->bytes;
	region->start = region->mapped_start + skew;
	region->bytes = bytes;
	return CUDA_SUCCESS;
}

static CUresult add_region(const struct fake_region *about, uint64_t bytes,
			   CUdeviceptr *address_out)
{
	struct fake_region *region = malloc(sizeof(*region));
	CUresult result;

	if (!region)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*region = *about;
	result = fill_region(region, bytes);
	if (result != CUDA_SUCCESS) {
		free(region);
		return result;
	}
	*address_out = region->start;
	return fake_region_add(region);
}

CUresult fake_block_new(struct fake_context *context,
			enum fake_region_kind kind, uint64_t bytes,
			CUdeviceptr *address_out)
{
	struct fake_region about = {
		.kind = kind,
		.device = context->device,
		.context = context,
		.charged_bytes = bytes,
	};
	CUresult result;

	if (!fake_charge(context->device, bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = add_region(&about, bytes, address_out);
	if (result != CUDA_SUCCESS)
		fake_discharge(context->device, bytes);
	return result;
}

CUresult fake_block_of_pool(struct fake_pool *pool, uint64_t bytes,
			    CUdeviceptr *address_out)
{
	struct fake_region about = {
		.kind = FAKE_ALLOC,
		.device = pool->device,
		.pool = pool,
	};

	return add_region(&about, bytes, address_out);
}

static CUresult alloc(CUdeviceptr *address_out, size_t bytes,
		      enum fake_region_kind kind)
{
	struct fake_context *context;
	CUresult result = fake_context_current(&context);

	if (result == CUDA_SUCCESS)
		result = fake_capture_unsafe();
	if (result != CUDA_SUCCESS)
		return result;
	if (!address_out || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	return fake_block_new(context, kind, bytes, address_out);
}

/* Waits for all work of the device (seen), and needs no current context. */
static CUresult release(CUdeviceptr address)
{
	struct fake_region *region = fake_region_at(address, FAKE_ALLOC);
	CUresult result = fake_context_healthy();

	if (result == CUDA_SUCCESS)
		result = fake_capture_unsafe();
	if (result != CUDA_SUCCESS || !address || fake_node_free(address))
		return result;
	if (!region)
		region = fake_region_at(address, FAKE_MANAGED);
	if (!region || region->freed_on)
		return CUDA_ERROR_INVALID_VALUE;
	if (region->context && !fake_context_may(region->context))
		return CUDA_ERROR_INVALID_VALUE;
	if (region->context && region->context->lost)
		return region->context->lost;
	result = fake_queue_await_device(region->device);
	if (result != CUDA_SUCCESS)
		return result;
	/* The mutex was open meanwhile. */
	if (fake_spans_find(&fake_regions, address) != region)
		return CUDA_ERROR_INVALID_VALUE;
	if (region->pool)
		fake_pool_live(region->pool, region->bytes, false);
	fake_region_drop(region);
	fake_pool_settle();
	return CUDA_SUCCESS;
}

/* Seen: either may be NULL. */
static CUresult info(size_t *free_out, size_t *total_out)
{
	struct fake_context *context;
	CUresult result = fake_context_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (free_out)
		*free_out = fake_free_bytes(context->device);
	if (total_out)
		*total_out = fake.capacity_bytes;
	return CUDA_SUCCESS;
}

static unsigned in_32_bits(size_t bytes)
{
	return bytes > UINT32_MAX ? UINT32_MAX : (unsigned)bytes;
}

static CUresult info_in_32_bits(unsigned *free_out, unsigned *total_out)
{
	size_t free_bytes, total;
	CUresult result = info(&free_bytes, &total);

	if (result != CUDA_SUCCESS)
		return result;
	if (free_out)
		*free_out = in_32_bits(free_bytes);
	if (total_out)
		*total_out = in_32_bits(total);
	return CUDA_SUCCESS;
}

static CUresult alloc_managed(CUdeviceptr *address_out, size_t bytes,
			      unsigned flags)
{
	if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	return alloc(address_out, bytes, FAKE_MANAGED);
}

CUresult cuMemAlloc_v2(CUdeviceptr *address_out, size_t bytes)
{
	FAKE_CALL(cuMemAlloc_v2, alloc(address_out, bytes, FAKE_ALLOC));
}

/* Rows begin at multiples of 512 bytes. */
static CUresult alloc_pitch(CUdeviceptr *address_out, size_t *pitch_out,
			    size_t width, size_t height, unsigned element)
{
	size_t pitch = (width + 511) & ~(size_t)511;
	CUresult result;

	if (!pitch_out || (element != 4 && element != 8 && element != 16))
		return CUDA_ERROR_INVALID_VALUE;
	result = alloc(address_out, pitch * height, FAKE_ALLOC);
	if (result == CUDA_SUCCESS)
		*pitch_out = pitch;
	return result;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *address_out, size_t *pitch_out,
			    size_t width, size_t height, unsigned element)
{
	FAKE_CALL(cuMemAllocPitch_v2,
		  alloc_pitch(address_out, pitch_out, width, height, element));
}

CUresult cuMemAllocManaged(CUdeviceptr *address_out, size_t bytes,
			   unsigned flags)
{
	FAKE_CALL(cuMemAllocManaged, alloc_managed(address_out, bytes, flags));
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
	FAKE_CALL(cuMemFree_v2, release(address));
}

CUresult cuMemGetInfo(unsigned *free_out, unsigned *total_out)
{
	FAKE_CALL(cuMemGetInfo, info_in_32_bits(free_out, total_out));
}

CUresult cuMemGetInfo_v2(size_t *free_out, size_t *total_out)
{
	FAKE_CALL(cuMemGetInfo_v2, info(free_out, total_out));
}
