/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * cccl.hpp models CCCL's concepts, of the version that is there, and its
 * type-erased resources take it. Run by cxx.sh on the simulated GPU, whose
 * streams stand for CUDA's here: no call of CUDA is made.
 */
#include <gpumem/cccl.hpp>
#include <gpumem/host.h>

#include <cstring>
#include <thread>
#include <unistd.h>
#include <vector>

#include "../tap.h"

using gpumem::device_resource;
namespace mr = cuda::mr;

#if CCCL_VERSION >= 3001000
static_assert(mr::resource<device_resource> &&
	      mr::synchronous_resource<device_resource> &&
	      mr::resource_with<device_resource, mr::device_accessible> &&
	      !mr::resource_with<device_resource, mr::host_accessible>);
using resource_ref = mr::resource_ref<mr::device_accessible>;
#else
static_assert(mr::async_resource<device_resource> &&
	      mr::async_resource_with<device_resource, mr::device_accessible> &&
	      mr::resource_with<device_resource, mr::device_accessible> &&
	      !mr::resource_with<device_resource, mr::host_accessible>);
using resource_ref = mr::async_resource_ref<mr::device_accessible>;
#endif
#if CCCL_VERSION >= 3002000
static_assert(mr::__has_default_queries<device_resource>);
#endif
static_assert(std::is_nothrow_copy_constructible_v<device_resource> &&
	      std::is_nothrow_destructible_v<device_resource>);

static const size_t MIB = 1 << 20;

/* A stream of the simulated GPU, by CUDA's type. */
static cudaStream_t cast(gpumem_stream stream)
{
	return static_cast<cudaStream_t>(stream);
}

static void *take(resource_ref from, cudaStream_t stream, size_t bytes)
{
#if CCCL_VERSION >= 3001000
	return from.allocate(cuda::stream_ref(stream), bytes, 16);
#else
	return from.allocate_async(bytes, 16, cuda::stream_ref(stream));
#endif
}

static void give(resource_ref to, cudaStream_t stream, void *ptr, size_t bytes)
{
#if CCCL_VERSION >= 3001000
	to.deallocate(cuda::stream_ref(stream), ptr, bytes, 16);
#else
	to.deallocate_async(ptr, bytes, 16, cuda::stream_ref(stream));
#endif
}

static void *take_sync(resource_ref from, size_t bytes, size_t alignment)
{
#if CCCL_VERSION >= 3001000
	return from.allocate_sync(bytes, alignment);
#else
	return from.allocate(bytes, alignment);
#endif
}

static void give_sync(resource_ref to, void *ptr, size_t bytes)
{
#if CCCL_VERSION >= 3001000
	to.deallocate_sync(ptr, bytes, 16);
#else
	to.deallocate(ptr, bytes, 16);
#endif
}

static uint64_t live(gpumem::pool_ref pool)
{
	return pool.stats().blocks.current;
}

static void test_streams()
{
	gpumem::device gpu;
	gpumem::pool pool(gpu, "cccl");
	gpumem::stream a(gpu), b(gpu);
	device_resource resource(pool);
	std::vector<unsigned char> back(MIB);

	void *first = take(resource, cast(a), MIB);
	gpumem::check(gpumem_host_hold(0, a, true));
	gpu.fill(first, 1, MIB, a);
	give(resource, cast(a), first, MIB);
	void *next = take(resource, cast(a), MIB);
	is_ptr(next, first, "a stream gets back what it freed");
	is_uint(live(pool), 1, "by calls of the pool");
	give(resource, cast(a), next, MIB);

	/* Whatever it is, nothing that was queued before changes it later. */
	void *synced = take_sync(resource, MIB, 16);
	std::memset(synced, 2, MIB);
	gpumem::check(gpumem_host_hold(0, a, false));
	a.sync();
	std::memcpy(back.data(), synced, MIB);
	ok(back == std::vector<unsigned char>(MIB, 2),
	   "what is not for a stream can be used at once");

	/* Freed on a stream that did not allocate it. */
	gpumem::check(gpumem_host_hold(0, b, true));
	gpu.fill(synced, 3, MIB, b);
	give(resource, cast(b), synced, MIB);
	void *other = take_sync(resource, MIB, 16);
	std::memset(other, 4, MIB);
	gpumem::check(gpumem_host_hold(0, b, false));
	b.sync();
	std::memcpy(back.data(), other, MIB);
	ok(back == std::vector<unsigned char>(MIB, 4),
	   "the stream of a free is waited for");
	give_sync(resource, other, MIB);
	is_uint(live(pool), 0, "all is freed");
}

static void test_requests()
{
	gpumem::device gpu;
	gpumem::pool pool(gpu, "cccl");
	device_resource resource(pool);
	bool caught = false;

	for (size_t alignment = 1; alignment <= MIB; alignment *= 2) {
		void *block = take_sync(resource, 3, alignment);

		if (reinterpret_cast<uintptr_t>(block) % alignment != 0)
			ok(false, "aligned to %zu", alignment);
		give_sync(resource, block, 3);
	}
	is_ptr(take_sync(resource, 0, 16), nullptr, "nothing is nullptr");
	give_sync(resource, nullptr, 0);
	pool.set_limit(16 * MIB);
	try {
		(void)take(resource, nullptr, 32 * MIB);
	} catch (const std::bad_alloc &full) {
		caught = std::strstr(full.what(), " out of memory") != nullptr;
	}
	ok(caught, "what does not fit is a bad_alloc, which says why");
	void *block = take(resource, cudaStreamLegacy, MIB);
	give(resource, nullptr, block, MIB);
	ok(take(resource, cudaStreamLegacy, MIB) == block,
	   "the default stream has two names");
	give(resource, cudaStreamLegacy, block, MIB);
	is_uint(live(pool), 0, "all is freed");
}

/* Who owns the pool, and for how long. */
static void test_copies()
{
	gpumem::device gpu;
	gpumem::pool pool(gpu, "one"), second(gpu, "two");
	{
		device_resource a(pool), b(pool), c(second), copy(a);

		ok(a == b && a == copy && a != c, "equal is the same pool");
		ok(a.pool() == pool, "a resource has its pool");
		c = a;
		ok(c == a, "assigned");
	}
	ok(pool.stats().size != 0, "a pool of the program outlives them");

	uint64_t used = gpumem_host_used_bytes(0);
	{
		std::optional<device_resource> first;
		first.emplace(gpumem::pool(gpu, "own"));
		device_resource last(*first);
		void *block = take(*first, nullptr, 64 * MIB);

		first.reset();
		is_str(last.pool().name(), "own", "a copy keeps it");
		give(last, nullptr, block, 64 * MIB);
		ok(gpumem_host_used_bytes(0) > used, "with its memory");
	}
	is_uint(gpumem_host_used_bytes(0), used, "and the last one ends it");
#if CCCL_VERSION >= 3002000
	{
		mr::any_resource<mr::device_accessible> any{
			device_resource(gpumem::pool(gpu, "any"))};
		auto copy = any;
		void *block = copy.allocate_sync(MIB, 16);

		ok(gpumem_host_used_bytes(0) > used, "any_resource owns one");
		any.deallocate_sync(block, MIB, 16);
		ok(any == copy, "and its copies are equal");
	}
	is_uint(gpumem_host_used_bytes(0), used, "and ends it");
#endif
}

/* One resource, a stream for each thread, and none. */
static void test_threads()
{
	gpumem::device gpu;
	gpumem::pool pool(gpu, "threads");
	device_resource resource(pool);
	std::vector<std::thread> threads;

	for (int t = 0; t < 4; t++)
		threads.emplace_back([gpu, resource]() mutable {
			gpumem::stream stream(gpu);

			for (long i = 1; i < scaled(1000, 100); i++) {
				void *a = take(resource, cast(stream), i * 100);
				void *b = take_sync(resource, i * 100, 16);

				give(resource, cast(stream), a, i * 100);
				give_sync(resource, b, i * 100);
			}
		});
	for (auto &thread : threads)
		thread.join();
	is_uint(live(pool), 0, "threads leave nothing");
}

int main()
{
	alarm(120);
	test_streams();
	test_requests();
	test_copies();
	test_threads();
	return done_testing();
}
