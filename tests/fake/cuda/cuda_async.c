/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Stream-ordered memory: a block is there at once, and goes when its stream has
 * done what was queued before the free; a later allocation of that size on the
 * same stream gets it before. While the stream is captured both become nodes of
 * its graph. A request for 0 bytes is no error, and gives NULL (seen). What
 * pools are is cuda_pool.c's.
 */
#include "cuda_graph.h"

static CUresult usable(CUstream handle, struct fake_stream **stream_out)
{
	CUresult result = fake_stream_find(handle, stream_out);

	if (result == CUDA_SUCCESS)
		result = fake_capture_implicit(*stream_out, true);
	if (result == CUDA_SUCCESS)
		result = fake_capture_admit(*stream_out);
	if (result == CUDA_SUCCESS && (*stream_out)->capture)
		(*stream_out)->unjoined =
			*stream_out != (*stream_out)->capture->origin;
	return result;
}

static CUresult add_node(CUdeviceptr *address_out, size_t bytes,
			 const struct fake_stream *stream)
{
	struct fake_node *node = fake_node_new(stream->context->device, bytes);

	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	node->owner = stream->capture;
	*address_out = node->address;
	return CUDA_SUCCESS;
}

static CUresult add_free_node(CUdeviceptr address,
			      const struct fake_stream *stream)
{
	struct fake_node *node = fake_node_at(address, stream->capture);

	if (!node || node->freed)
		return CUDA_ERROR_INVALID_VALUE;
	node->freed = true;
	return CUDA_SUCCESS;
}

/* One whose free is queued on that stream, which is in its order then. */
static struct fake_region *freed(const struct fake_pool *pool, uint64_t bytes,
				 const struct fake_stream *stream)
{
	for (size_t i = 0; i < fake_regions.count; i++) {
		struct fake_region *region = fake_regions.items[i];

		if (region->pool == pool && region->bytes == bytes &&
		    region->freed_on == stream->object.handle)
			return region;
	}
	return NULL;
}

static CUresult take(CUdeviceptr *address_out, size_t bytes,
		     struct fake_pool *pool, const struct fake_stream *stream)
{
	struct fake_region *region = freed(pool, bytes, stream);
	CUresult result;

	if (region) {
		region->freed_on = 0;
		*address_out = region->start;
	} else if (!fake_pool_hold(pool, bytes)) {
		return CUDA_ERROR_OUT_OF_MEMORY;
	} else {
		result = fake_block_of_pool(pool, bytes, address_out);
		if (result != CUDA_SUCCESS) {
			fake_pool_drop(pool, bytes);
			return result;
		}
	}
	fake_pool_live(pool, bytes, true);
	return CUDA_SUCCESS;
}

static CUresult alloc(CUdeviceptr *address_out, size_t bytes,
		      struct fake_pool *pool, CUstream handle)
{
	struct fake_stream *stream;
	CUresult result = usable(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (!address_out || (!bytes && stream->capture))
		return CUDA_ERROR_INVALID_VALUE;
	if (!bytes) {
		*address_out = 0;
		return CUDA_SUCCESS;
	}
	if (stream->capture)
		return add_node(address_out, bytes, stream);
	if (!pool)
		pool = fake_pool_current(stream->context->device);
	return pool ? take(address_out, bytes, pool, stream)
		    : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult alloc_from(CUdeviceptr *address_out, size_t bytes,
			   CUmemoryPool name, CUstream handle)
{
	struct fake_pool *pool = fake_pool_find(name);

	return pool ? alloc(address_out, bytes, pool, handle)
		    : CUDA_ERROR_INVALID_VALUE;
}

static CUresult release(CUdeviceptr address, CUstream handle)
{
	static uint64_t turn;
	struct fake_work work = {.kind = FAKE_FREE, .to = address};
	struct fake_stream *stream;
	struct fake_region *region;
	CUresult result = usable(handle, &stream);

	if (result != CUDA_SUCCESS || !address)
		return result;
	if (stream->capture)
		return add_free_node(address, stream);
	if (fake_node_free(address))
		return CUDA_SUCCESS;
	region = fake_region_at(address, FAKE_ALLOC);
	if (!region && fake_region_at(address, FAKE_MANAGED))
		return CUDA_ERROR_NOT_SUPPORTED; /* seen */
	if (!region || region->freed_on)
		return CUDA_ERROR_INVALID_VALUE;
	region->freed_on = stream->object.handle;
	region->freed_turn = work.ticket = ++turn;
	if (region->pool)
		fake_pool_live(region->pool, region->bytes, false);
	return fake_queue_push(stream, &work);
}

void fake_free_run(const struct fake_work *work)
{
	struct fake_region *region = fake_region_at(work->to, FAKE_ALLOC);

	if (region && region->freed_on && region->freed_turn == work->ticket)
		fake_region_drop(region);
}

static CUstream of_thread(CUstream stream)
{
	return stream ? stream : CU_STREAM_PER_THREAD;
}

CUresult cuMemAllocAsync(CUdeviceptr *address_out, size_t bytes,
			 CUstream stream)
{
	FAKE_CALL(cuMemAllocAsync, alloc(address_out, bytes, NULL, stream));
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr *address_out, size_t bytes,
			      CUstream stream)
{
	FAKE_CALL(cuMemAllocAsync_ptsz,
		  alloc(address_out, bytes, NULL, of_thread(stream)));
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address_out, size_t bytes,
				 CUmemoryPool pool, CUstream stream)
{
	FAKE_CALL(cuMemAllocFromPoolAsync,
		  alloc_from(address_out, bytes, pool, stream));
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *address_out, size_t bytes,
				      CUmemoryPool pool, CUstream stream)
{
	FAKE_CALL(cuMemAllocFromPoolAsync_ptsz,
		  alloc_from(address_out, bytes, pool, of_thread(stream)));
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
	FAKE_CALL(cuMemFreeAsync, release(address, stream));
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream)
{
	FAKE_CALL(cuMemFreeAsync_ptsz, release(address, of_thread(stream)));
}
