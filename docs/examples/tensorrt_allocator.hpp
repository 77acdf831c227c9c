/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A pool for TensorRT 10: engines, their builders and their activations take
 * memory from it, in the order of the stream that they run on.
 *
 *	gpumem::device gpu("cuda:0");
 *	tensorrt_allocator allocator(gpumem::pool(gpu, "engines"));
 *	runtime->setGpuAllocator(&allocator);
 *
 * The allocator ends after the runtime, the builder and the engines that use
 *it; TensorRT takes no reference. Any thread may call at any time. TensorRT
 *passes on the stream that the program gives it: cudaStreamPerThread is no
 *stream for that (docs/cxx.md).
 */
#ifndef TENSORRT_ALLOCATOR_HPP
#define TENSORRT_ALLOCATOR_HPP

#include <NvInferRuntime.h>
#include <gpumem/gpumem.hpp>

#include <utility>

class tensorrt_allocator : public nvinfer1::IGpuAsyncAllocator
{
      public:
	explicit tensorrt_allocator(gpumem::pool &&pool)
	    : pool_(std::move(pool))
	{
	}

	/* For statistics, limits and trims. */
	gpumem::pool_ref pool() const noexcept
	{
		return pool_;
	}

	/* nullptr for 0 bytes, and when it does not fit: gpumem_error_text()
	 * says why. The alignment is at most that of cudaMalloc(), which every
	 * block has. */
	void *allocateAsync(uint64_t size, uint64_t, nvinfer1::AllocatorFlags,
			    cudaStream_t stream) noexcept override
	{
		void *block;

		if (gpumem_alloc(pool_.get(), size, stream, &block) !=
		    GPUMEM_OK)
			return nullptr;
		return block;
	}

	bool deallocateAsync(void *block, cudaStream_t stream) noexcept override
	{
		return gpumem_free(block, stream) == GPUMEM_OK;
	}

	/* Where it lies, or not at all: then TensorRT takes another block and
	 * copies. Called for no stream: the block's own is the one it is used
	 * on. */
	void *reallocate(void *block, uint64_t, uint64_t size) noexcept override
	{
		auto now = GPUMEM_INIT(gpumem_block);

		if (gpumem_query(block, &now) != GPUMEM_OK ||
		    gpumem_resize(block, size, now.stream, nullptr) !=
			    GPUMEM_OK)
			return nullptr;
		return block;
	}

      private:
	gpumem::pool pool_;
};

#endif
