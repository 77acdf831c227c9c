/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Blocks: taken from gpumem, or from a private pool if this thread or stream is
 * routed to one, and entered into the table that the statistics, the snapshots
 * and the frees of the latter need.
 */
#include "allocator.hpp"

#include <c10/core/impl/GPUTrace.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/csrc/cuda/CUDAPluggableAllocator.h>

namespace gpumem_torch
{

allocator *the;

void delete_block(void *ptr)
{
	the->raw_delete(ptr);
}

/* Where a limit is wanted, or something is routed to a private pool. */
gpumem_status allocator::take_routed(device &own, size_t bytes, stream on,
				     mempool **of, void **ptr)
{
	gpumem_status fits = fit(own);

	if (fits != GPUMEM_OK)
		return fits;
	mempool *in = routed.load(std::memory_order_acquire)
			      ? route(own.number, on)
			      : nullptr;

	*of = in;
	if (in) {
		auto leave = [this, in](void *) {
			std::lock_guard<std::mutex> hold(lock);

			in->inside--;
		};
		std::unique_ptr<void, decltype(leave)> inside(in, leave);

		return take_in(own, *in, bytes, on, ptr);
	}
	return gpumem_alloc(own.pool, bytes, on, ptr);
}

inline gpumem_status allocator::take_any(device &own, size_t bytes, stream on,
					 mempool **of, void **ptr)
{
	if (C10_UNLIKELY(routed.load(std::memory_order_acquire) ||
			 own.wanted_limit.load(std::memory_order_relaxed)))
		return take_routed(own, bytes, on, of, ptr);
	*of = nullptr;
	return gpumem_alloc(own.pool, bytes, on, ptr);
}

/* After a failure: memory is looked for everywhere, or it is thrown. */
void allocator::take_again(device &own, size_t bytes, stream on, mempool **of,
			   void **ptr, gpumem_status status)
{
	if (is_oom(status) && (settle(nullptr) || callbacks_freed()))
		status = take_any(own, bytes, on, of, ptr);
	if (is_oom(status) && take_spare(own, bytes, on, of, ptr))
		return;
	if (status != GPUMEM_OK)
		fail(own, bytes, status, *of);
}

/* This thread has a context; found without a call. */
static thread_local bool is_current __attribute__((tls_model("initial-exec")));

/* A thread's first cudaMalloc() makes the device's context current in it, and
 * libraries that PyTorch calls rely on that. gpumem leaves a thread's context
 * as it was; so this is a call that does the same, and is allowed in a capture.
 */
static void make_current()
{
	c10::cuda::CUDAStreamCaptureModeGuard guard(
		cudaStreamCaptureModeRelaxed);
	C10_CUDA_CHECK(cudaFree(nullptr));
	is_current = true;
}

void *allocator::take(int number, size_t bytes, cudaStream_t on)
{
	check_size(bytes);
	if (C10_UNLIKELY(!is_current))
		make_current();
	device &own = get(number);
	mempool *of = nullptr;
	void *ptr = nullptr;
	gpumem_status status = take_any(own, bytes, on, &of, &ptr);

	if (C10_UNLIKELY(status != GPUMEM_OK))
		take_again(own, bytes, on, &of, &ptr, status);
	if (C10_UNLIKELY(of || watched.load(std::memory_order_relaxed))) {
		context where = gather(RecordContext::STATE);

		note_segments(own, where);
		list(ptr, {number, bytes, bytes, on, of, where, {}, {}});
		return ptr;
	}
	if (C10_UNLIKELY(word(number, bytes).set(ptr) != GPUMEM_OK))
		refuse(ptr);
	begin_own(own, ptr, bytes);
	return ptr;
}

void allocator::raw_delete(void *ptr)
{
	if (!ptr || is_child())
		return;
	word found = word::of(ptr);

	if (C10_UNLIKELY(!found || found.is_listed() ||
			 watched.load(std::memory_order_relaxed))) {
		unlist(ptr, found, gather(RecordContext::ALL));
		return;
	}
	end_own(*opened(found.device()), ptr, found.requested());
}

/* A block of gpumem's own begins; or ends, as PyTorch counts, whatever size
 * gpumem's block has. */
void allocator::begin_own(device &own, void *ptr, size_t requested)
{
	size_t bytes = rounded(requested);

	own.has.add(bytes <= SMALL, bytes, requested);
	report(ptr, own.number, bytes, true);
}

/* Nothing is to be done about what fails: the driver may be gone before the
 * last tensors are. */
void allocator::end_own(device &own, void *ptr, size_t requested)
{
	size_t bytes = rounded(requested);

	own.has.remove(bytes <= SMALL, bytes, requested);
	GPUMEM_IGNORE(gpumem_free_own(ptr));
	report(ptr, own.number, bytes, false);
}

/* PyTorch's profiler and its other observers. */
void allocator::report(void *ptr, int number, size_t size, bool taken)
{
	if (c10::memoryProfilingEnabled()) {
		auto stats = getDeviceStats(DeviceIndex(number));
		auto bytes = static_cast<int64_t>(size);

		c10::reportMemoryUsageToProfiler(
			ptr, taken ? bytes : -bytes,
			stats.allocated_bytes[0].current,
			stats.reserved_bytes[0].current,
			{c10::DeviceType::CUDA, DeviceIndex(number)});
	}
	const auto *tracer = c10::impl::GPUTrace::get_trace();
	auto address = reinterpret_cast<uintptr_t>(ptr);
	if (C10_UNLIKELY(tracer != nullptr) && taken)
		(*tracer)->trace_gpu_memory_allocation(c10::kCUDA, address);
	else if (C10_UNLIKELY(tracer != nullptr))
		(*tracer)->trace_gpu_memory_deallocation(c10::kCUDA, address);
}

/* ---- PyTorch's functions ---------------------------------------------------
 */

inline DeviceIndex allocator::current()
{
	DeviceIndex number;

	if (C10_LIKELY(ask_driver(number)))
		return number;
	int count = device_count.load();
	return ask_runtime(count && open_count.load() == count, count);
}

/* PyTorch's own questions fail in a child, in words of the driver's. */
void *allocator::raw_alloc_with_stream(size_t bytes, cudaStream_t on)
{
	check_process();
	return bytes ? take(current(), bytes, on) : nullptr;
}

void *allocator::raw_alloc(size_t bytes)
{
	check_process();
	return raw_alloc_with_stream(bytes, c10::cuda::getCurrentCUDAStream());
}

c10::DataPtr allocator::allocate(size_t bytes)
{
	check_process();
	DeviceIndex number = current();
	void *ptr = bytes ? take(number, bytes,
				 c10::cuda::getCurrentCUDAStream(number))
			  : nullptr;

	return {ptr, ptr, &delete_block,
		c10::Device(c10::DeviceType::CUDA, number)};
}

c10::DeleterFnPtr allocator::raw_deleter() const
{
	return &delete_block;
}

void allocator::copy_data(void *to, const void *from, size_t bytes) const
{
	C10_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice));
}

/* Of memory that is not from here, another process's say, there is nothing to
 * say. */
void allocator::recordStream(const c10::DataPtr &data, c10::cuda::CUDAStream on)
{
	void *ptr = data.get();

	check_process();
	if (!ptr || data.get_deleter() != &delete_block)
		return;
	if (C10_UNLIKELY(!word::of(ptr))) {
		std::lock_guard<std::mutex> hold(lock);
		auto found = blocks.find(ptr);

		if (found != blocks.end() && on.stream() != found->second.on)
			found->second.uses.insert(on.stream());
		return;
	}
	if (gpumem_use_on(ptr, on.stream()) != GPUMEM_OK)
		raise();
}

void *allocator::getBaseAllocation(void *ptr, size_t *bytes)
{
	gpumem_block block = GPUMEM_INIT(gpumem_block);

	check_process();
	{
		std::lock_guard<std::mutex> hold(lock);
		const segment *theirs = their_segment(ptr);

		if (theirs && bytes)
			*bytes = theirs->bytes;
		if (theirs)
			return theirs->base;
	}
	if (gpumem_query(ptr, &block) != GPUMEM_OK)
		raise();
	if (bytes)
		*bytes = block.bytes;
	return block.ptr;
}

} /* namespace gpumem_torch */

/* ---- for gpumem.torch, which has the GIL ------------------------------------
 */

extern "C" {

/* NULL: done; else why not, valid until the next call. */
__attribute__((visibility("default"))) const char *
gpumem_torch_install(const char *backend)
{
	static std::string why;

	try {
		auto made = std::make_shared<gpumem_torch::allocator>(backend);

		gpumem_torch::watch_forks();
		torch::cuda::CUDAPluggableAllocator::changeCurrentAllocator(
			made);
		gpumem_torch::the = made.get();
		/* For torch.accelerator, which asks by the type of device.
		 * Nobody has a higher priority. */
		c10::SetAllocator(c10::DeviceType::CUDA, made.get(), 255);
		/* For ever. */
		new std::shared_ptr<gpumem_torch::allocator>(made);
		return nullptr;
	} catch (const c10::Error &error) {
		why = error.what_without_backtrace();
	} catch (const std::exception &error) {
		why = error.what();
	}
	return why.c_str();
}

__attribute__((visibility("default"))) int gpumem_torch_opened(int number)
{
	return gpumem_torch::the && gpumem_torch::the->opened(number);
}
}
