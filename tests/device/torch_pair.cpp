/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * For torch_pair.py: what a block costs through PyTorch's own door, whichever
 * allocator is behind it, by one thread and by several at a time; and what the
 * calls cost of which that is made.
 */
#include <c10/core/Allocator.h>
#include <c10/core/impl/GPUTrace.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gpumem/gpumem.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <thread>
#include <vector>

static void pairs(size_t bytes, long count, bool other)
{
	auto *allocator = c10::cuda::CUDACachingAllocator::get();
	auto on = other ? c10::cuda::getStreamFromPool()
			: c10::cuda::getCurrentCUDAStream();

	for (long i = 0; i < count; i++) {
		auto block = allocator->allocate(bytes);

		if (other)
			allocator->recordStream(block, on);
	}
}

/* ---- what a pair is made of ---- */

static gpumem_pool *pool;
static int (*context_get)(void **);
static int (*device_get)(int *);

static void one_pair(size_t bytes)
{
	void *ptr;

	if (gpumem_alloc(pool, bytes, nullptr, &ptr) == GPUMEM_OK)
		GPUMEM_IGNORE(gpumem_free(ptr, nullptr));
}

static void runtime_device(size_t)
{
	int number;

	(void)cudaGetDevice(&number);
}

static void torch_device(size_t)
{
	c10::DeviceIndex number;

	(void)c10::cuda::GetDevice(&number);
}

static void torch_stream(size_t)
{
	(void)c10::cuda::getCurrentCUDAStream(0);
}

static void observers(size_t)
{
	if (c10::memoryProfilingEnabled() || c10::impl::GPUTrace::get_trace())
		abort();
}

static void driver_context(size_t)
{
	void *found;

	context_get(&found);
}

static void driver_device(size_t)
{
	int found;

	device_get(&found);
}

static const struct {
	const char *name;
	void (*once)(size_t bytes);
} parts[] = {
	{"gpumem_alloc, gpumem_free", one_pair},
	{"cudaGetDevice", runtime_device},
	{"c10::cuda::GetDevice", torch_device},
	{"c10::cuda::getCurrentCUDAStream", torch_stream},
	{"memoryProfilingEnabled, get_trace", observers},
	{"cuCtxGetCurrent", driver_context},
	{"cuCtxGetDevice", driver_device},
};

/* NULL: there are no more, those that are last need a driver. */
extern "C" __attribute__((visibility("default"))) const char *
torch_part(int part, const char *device)
{
	gpumem_device *opened;
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	auto find = [driver](const char *name) {
		return driver ? dlsym(driver, name) : nullptr;
	};

	if (part >= int(sizeof(parts) / sizeof(*parts)) ||
	    gpumem_device_open(device, &opened) != GPUMEM_OK ||
	    gpumem_device_pool(opened, &pool) != GPUMEM_OK)
		return nullptr;
	context_get = reinterpret_cast<int (*)(void **)>(
		find("cuCtxGetCurrent"));
	device_get = reinterpret_cast<int (*)(int *)>(find("cuCtxGetDevice"));
	if ((!context_get && parts[part].once == driver_context) ||
	    (!device_get && parts[part].once == driver_device))
		return nullptr;
	return parts[part].name;
}

/* A thread of PyTorch's has a context: without one the runtime's questions take
 * long. */
static void calls(int part, size_t bytes, long count)
{
	(void)cudaFree(nullptr);
	for (long i = 0; i < count; i++)
		parts[part].once(bytes);
}

/* ---- threads ---- */

/* By the wall, or what this thread had of a processor. */
static double now_ns(bool wall)
{
	timespec now;

	clock_gettime(wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &now);
	return double(now.tv_sec) * 1e9 + double(now.tv_nsec);
}

/* Nanoseconds of one of so many, of the thread that took longest. */
template <typename many>
static double nanoseconds(int threads, long count, bool wall, many work)
{
	std::atomic<int> waiting{threads};
	std::vector<std::thread> all;
	std::vector<double> ns(static_cast<size_t>(threads));

	for (double &each : ns)
		all.emplace_back([&] {
			work(count / 10 + 1);
			for (waiting--; waiting.load();)
				std::this_thread::yield();
			double begin = now_ns(wall);
			work(count);
			each = (now_ns(wall) - begin) / double(count);
		});
	for (auto &each : all)
		each.join();
	double most = 0;
	for (double each : ns)
		most = std::max(most, each);
	return most;
}

/* Of a pair; other: each block is also used on another stream. part: not of a
 * pair, but of that call. */
extern "C" __attribute__((visibility("default"))) double
torch_pair(size_t bytes, int threads, long count, int other, int wall, int part)
{
	return nanoseconds(threads, count, wall, [&](long now) {
		if (part < 0)
			pairs(bytes, now, other);
		else
			calls(part, bytes, now);
	});
}
