/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * For torch_pair.py: what a block costs through PyTorch's own door, whichever
 * allocator is behind it, by one thread and by several at a time.
 */
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

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

/* By the wall, or what this thread had of a processor. */
static double now_ns(bool wall)
{
	timespec now;

	clock_gettime(wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &now);
	return double(now.tv_sec) * 1e9 + double(now.tv_nsec);
}

/* Nanoseconds of a pair, of the thread that took longest. other: each block is
 * also used on another stream. */
extern "C" __attribute__((visibility("default"))) double
torch_pair(size_t bytes, int threads, long count, int other, int wall)
{
	std::atomic<int> waiting{threads};
	std::vector<std::thread> all;
	std::vector<double> ns(static_cast<size_t>(threads));

	for (double &each : ns)
		all.emplace_back([&] {
			pairs(bytes, count / 10 + 1, other);
			for (waiting--; waiting.load();)
				std::this_thread::yield();
			double begin = now_ns(wall);
			pairs(bytes, count, other);
			each = (now_ns(wall) - begin) / double(count);
		});
	for (auto &each : all)
		each.join();
	double most = 0;
	for (double each : ns)
		most = std::max(most, each);
	return most;
}
