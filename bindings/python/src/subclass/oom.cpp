/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What there is not memory for: whom PyTorch asks and tells then, and what is
 * thrown, by the words that programs look for.
 */
#include "allocator.hpp"

#include <c10/core/impl/GPUTrace.h>

namespace gpumem_torch
{

using c10::CachingAllocator::format_size;

bool is_oom(gpumem_status status)
{
	return status == GPUMEM_NO_MEMORY || status == GPUMEM_LIMIT;
}

/* Programs may know how to free memory: tensors that went to other processes.
 */
bool callbacks_freed()
{
	bool freed = false;

	for (const auto &name : c10::FreeCudaMemoryCallbacksRegistry()->Keys())
		freed |= c10::FreeCudaMemoryCallbacksRegistry()
				 ->Create(name)
				 ->Execute();
	return freed;
}

void refuse_size()
{
	TORCH_CHECK_WITH(OutOfMemoryError, false,
			 "CUDA out of memory. Tried to allocate more than 1EB "
			 "memory.");
}

void raise()
{
	gpumem_error error = GPUMEM_INIT(gpumem_error);

	gpumem_last_error(&error);
	TORCH_CHECK(false, error.text);
}

static void report_to_profiler(int number, size_t bytes,
			       const cca::DeviceStats &stats)
{
	c10::reportOutOfMemoryToProfiler(
		static_cast<int64_t>(bytes), stats.allocated_bytes[0].current,
		stats.reserved_bytes[0].current,
		{c10::DeviceType::CUDA, DeviceIndex(number)});
}

void allocator::fail(device &own, size_t bytes, gpumem_status status,
		     const mempool *of)
{
	gpumem_error error = GPUMEM_INIT(gpumem_error);
	gpumem_memory memory = GPUMEM_INIT(gpumem_memory);
	std::vector<cca::OutOfMemoryObserver> told, of_rejections;

	gpumem_last_error(&error);
	TORCH_CHECK(is_oom(status), error.text);
	std::string why = of ? their_reason(own, of, status) : "";
	GPUMEM_IGNORE(gpumem_device_memory(own.handle, &memory));
	context where = gather(RecordContext::ALLOC);
	auto stats = getDeviceStats(own.number);
	auto allocated = size_t(stats.allocated_bytes[0].current);
	{
		std::lock_guard<std::mutex> hold(lock);

		enter(own, action::OOM, memory.free_bytes, bytes, nullptr, {},
		      where);
		told = observers;
		own.oom_count++;
		if (status == GPUMEM_LIMIT && tells_of_rejections()) {
			of_rejections = rejection_observers;
			own.rejection_count++;
		}
	}
	report_to_profiler(own.number, bytes, stats);
	for (auto &each : told)
		each(own.number, bytes, memory.total_bytes, memory.free_bytes);
	for (auto &each : of_rejections)
		each(own.number, bytes, allocated, memory.total_bytes);
	TORCH_CHECK_WITH(OutOfMemoryError, false,
			 "CUDA out of memory. Tried to allocate ",
			 format_size(bytes), ". ",
			 why.empty() ? error.text : why);
}

} /* namespace gpumem_torch */
