/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What docs/examples/tensorrt_allocator.hpp needs of TensorRT 10's header of
 * this name, with the same types, for machines that have no TensorRT. Not a
 * line of theirs, and no implementation of anything.
 */
#ifndef NV_INFER_RUNTIME_STAND_IN_H
#define NV_INFER_RUNTIME_STAND_IN_H

#include <cstdint>

typedef struct CUstream_st *cudaStream_t;

namespace nvinfer1
{

using AllocatorFlags = uint32_t;

class IGpuAsyncAllocator
{
      public:
	virtual ~IGpuAsyncAllocator() = default;
	virtual void *reallocate(void *const, uint64_t, uint64_t) noexcept
	{
		return nullptr;
	}
	virtual void *allocateAsync(uint64_t const, uint64_t const,
				    AllocatorFlags const,
				    cudaStream_t) noexcept = 0;
	virtual bool deallocateAsync(void *const, cudaStream_t) noexcept = 0;
	[[deprecated]] virtual void *
	allocate(uint64_t const size, uint64_t const alignment,
		 AllocatorFlags const flags) noexcept
	{
		return allocateAsync(size, alignment, flags, nullptr);
	}
	[[deprecated]] virtual bool deallocate(void *const memory) noexcept
	{
		return deallocateAsync(memory, nullptr);
	}
};

} // namespace nvinfer1

#endif
