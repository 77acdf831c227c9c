/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Stream-ordered memory: a block is there at once, and goes when its stream has
 * done what was queued before the free. The driver's pool keeps nothing here.
 * While the stream is captured both become nodes of its graph.
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

static CUresult alloc(CUdeviceptr *address_out, size_t bytes, CUstream handle)
{
	struct fake_stream *stream;
	CUresult result = usable(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (!address_out || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (stream->capture)
		return add_node(address_out, bytes, stream);
	return fake_block_new(stream->context, FAKE_ALLOC, bytes, address_out);
}

static CUresult release(CUdeviceptr address, CUstream handle)
{
	struct fake_work work = {.kind = FAKE_FREE, .to = address};
	struct fake_stream *stream;
	CUresult result = usable(handle, &stream);

	if (result != CUDA_SUCCESS || !address)
		return result;
	if (stream->capture)
		return add_free_node(address, stream);
	if (fake_node_free(address))
		return CUDA_SUCCESS;
	if (!fake_region_at(address, FAKE_ALLOC))
		return CUDA_ERROR_INVALID_VALUE;
	return fake_queue_push(stream, &work);
}

static CUstream of_thread(CUstream stream)
{
	return stream ? stream : CU_STREAM_PER_THREAD;
}

CUresult cuMemAllocAsync(CUdeviceptr *address_out, size_t bytes,
			 CUstream stream)
{
	FAKE_CALL(cuMemAllocAsync, alloc(address_out, bytes, stream));
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr *address_out, size_t bytes,
			      CUstream stream)
{
	FAKE_CALL(cuMemAllocAsync_ptsz,
		  alloc(address_out, bytes, of_thread(stream)));
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
	FAKE_CALL(cuMemFreeAsync, release(address, stream));
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream)
{
	FAKE_CALL(cuMemFreeAsync_ptsz, release(address, of_thread(stream)));
}
