/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * docs/examples/tensorrt_allocator.hpp does what TensorRT demands of an
 * IGpuAsyncAllocator. Run by cxx.sh on the simulated GPU, whose streams stand
 * for CUDA's; with TensorRT's header where that is, else with a stand-in.
 */
#include <tensorrt_allocator.hpp>

#include <gpumem/host.h>

#include <cstring>
#include <thread>
#include <unistd.h>
#include <vector>

#include "../tap.h"

static const size_t MIB = 1 << 20;

static cudaStream_t cast(gpumem_stream stream)
{
	return static_cast<cudaStream_t>(stream);
}

static void *take(nvinfer1::IGpuAsyncAllocator &from, uint64_t size,
		  gpumem_stream stream = nullptr)
{
	return from.allocateAsync(size, 256, 0, cast(stream));
}

static bool give(nvinfer1::IGpuAsyncAllocator &to, void *block,
		 gpumem_stream stream = nullptr)
{
	return to.deallocateAsync(block, cast(stream));
}

static uint64_t live(const tensorrt_allocator &allocator)
{
	return allocator.pool().stats().blocks.current;
}

/* What TensorRT's header demands, one by one. */
static void test_demands()
{
	gpumem::device gpu;
	tensorrt_allocator allocator(gpumem::pool(gpu, "engines"));

	is_ptr(take(allocator, 0), nullptr, "nullptr for 0 bytes");
	ok(give(allocator, nullptr), "which may be given back");
	void *block = take(allocator, 1000);
	ok(block != nullptr && reinterpret_cast<uintptr_t>(block) % 256 == 0,
	   "aligned as by cudaMalloc()");
	ok(give(allocator, block), "given back");
	ok(!give(allocator, block), "once");
	allocator.pool().set_limit(16 * MIB);
	is_ptr(take(allocator, 32 * MIB), nullptr,
	       "nullptr when it does not fit");
	ok(std::strstr(gpumem_error_text(), " out of memory") != nullptr,
	   "and the text says why");
	is_ptr(take(allocator, UINT64_MAX), nullptr, "nor what no one has");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	nvinfer1::IGpuAsyncAllocator &old = allocator;
	block = old.allocate(MIB, 0, 0);
	ok(block != nullptr && old.deallocate(block), "the calls of before 10");
#pragma GCC diagnostic pop
	is_uint(live(allocator), 0, "all is freed");
}

/* In place, with its content, or not at all. */
static void test_reallocate()
{
	gpumem::device gpu;
	tensorrt_allocator allocator(gpumem::pool(gpu, "engines"));
	gpumem::stream stream(gpu);
	auto block = static_cast<char *>(take(allocator, 4 * MIB, stream));
	std::vector<char> content(4 * MIB, 'x');

	std::memcpy(block, content.data(), content.size());
	void *grown = allocator.reallocate(block, 256, 8 * MIB);
	ok(grown == block || grown == nullptr, "it never moves");
	ok(std::memcmp(block, content.data(), content.size()) == 0,
	   "and keeps its content");
	void *behind = take(allocator, 4 * MIB, stream);
	is_ptr(allocator.reallocate(block, 256, UINT64_C(1) << 50), nullptr,
	       "nullptr when it cannot grow so far");
	ok(std::memcmp(block, content.data(), content.size()) == 0,
	   "and then the block is as it was");
	is_ptr(allocator.reallocate(block, 256, MIB), block, "it shrinks");
	is_ptr(allocator.reallocate(block + 1, 256, MIB), nullptr,
	       "no block, no memory");
	ok(give(allocator, block, stream) && give(allocator, behind, stream),
	   "each is given back");
	is_ptr(allocator.reallocate(block, 256, MIB), nullptr,
	       "nothing that was freed grows");
	is_uint(live(allocator), 0, "all is freed");
}

/* Given back while a stream still works on it. */
static void test_order()
{
	gpumem::device gpu;
	tensorrt_allocator allocator(gpumem::pool(gpu, "engines"));
	gpumem::stream a(gpu), b(gpu);
	void *block = take(allocator, MIB, a);

	gpumem::check(gpumem_host_hold(0, b, true));
	gpu.fill(block, 1, MIB, b);
	ok(give(allocator, block, b), "given back on another stream");
	void *next = take(allocator, MIB, a);
	ok(next != block, "it is nobody's before that stream is done");
	gpumem::check(gpumem_host_hold(0, b, false));
	b.sync();
	ok(give(allocator, next, a), "and then it is free");
}

/* Engines of several threads. */
static void test_threads()
{
	gpumem::device gpu;
	tensorrt_allocator allocator(gpumem::pool(gpu, "engines"));
	std::vector<std::thread> threads;

	for (int t = 0; t < 4; t++)
		threads.emplace_back([gpu, &allocator] {
			gpumem::stream stream(gpu);

			for (long i = 1; i < scaled(1000, 100); i++)
				give(allocator,
				     take(allocator, i * 1000, stream), stream);
		});
	for (auto &thread : threads)
		thread.join();
	is_uint(live(allocator), 0, "threads leave nothing");
}

int main()
{
	alarm(120);
	test_demands();
	test_reallocate();
	test_order();
	test_threads();
	return done_testing();
}
