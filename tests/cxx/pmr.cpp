/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * pmr.hpp: standard containers in memory of each kind that the host can use,
 * and none in memory that it cannot. Run by cxx.sh on the simulated GPU.
 */
#include <gpumem/host.h>
#include <gpumem/pmr.hpp>

#include <list>
#include <map>
#include <numeric>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "../tap.h"

static const size_t MIB = 1 << 20;

static uint64_t live(const gpumem::memory_resource &resource)
{
	return resource.pool().stats().blocks.current;
}

template <typename F> static gpumem_status thrown(F work)
{
	try {
		work();
	} catch (const gpumem::error &failure) {
		return failure.status();
	}
	return GPUMEM_OK;
}

/* Containers of all manners, in memory of that kind and no other. */
static void test_kind(gpumem_kind kind, const char *name)
{
	gpumem::device gpu;
	uint64_t before = gpumem_host_kind_bytes(0, kind);
	{
		gpumem::memory_resource resource(gpu, kind);
		{
			std::pmr::vector<int> numbers(&resource);
			std::pmr::map<int, std::pmr::string> texts(&resource);
			std::pmr::list<int> list(1000, 7, &resource);

			for (int i = 0; i < 100000; i++)
				numbers.push_back(i);
			for (int i = 0; i < 1000; i++)
				texts[i] = std::string(i, 'x');
			is_int(std::accumulate(list.begin(), list.end(), 0),
			       7000, "a list in %s memory", name);
			is_uint(texts[999].size(), 999, "a map of strings");
			is_int(numbers[99999], 99999, "a vector that grew");
			ok(gpumem_host_kind_bytes(0, kind) > before,
			   "the memory is of that kind");
			ok(live(resource) > 2000, "each node is a block");

			std::pmr::vector<int> copy(numbers, &resource);
			std::pmr::vector<int> moved(std::move(numbers));
			ok(copy == moved && moved.get_allocator().resource() ==
						    &resource,
			   "copies and moves");
		}
		is_uint(live(resource), 0, "all is freed");
	}
	is_uint(gpumem_host_kind_bytes(0, kind), before,
		"the resource gives back what it had");
}

/* What the device copies from is where the vector has it. */
static void test_copy()
{
	gpumem::device gpu;
	gpumem::memory_resource pinned(gpu);
	gpumem::stream stream(gpu);
	std::pmr::vector<unsigned char> from(MIB, 5, &pinned),
		back(MIB, 0, &pinned);
	gpumem::device_buffer data(gpu.default_pool(), from.data(), MIB,
				   stream);

	data.read(back.data(), MIB);
	stream.sync();
	ok(back == from, "to the device and back");
}

static void test_requests()
{
	gpumem::device gpu;
	gpumem::memory_resource resource(gpu), other(gpu);
	std::pmr::memory_resource &base = resource;

	for (size_t alignment = 1; alignment <= MIB; alignment *= 2) {
		void *block = base.allocate(3, alignment);

		if (reinterpret_cast<uintptr_t>(block) % alignment != 0)
			ok(false, "aligned to %zu", alignment);
		base.deallocate(block, 3, alignment);
	}
	void *a = base.allocate(0), *b = base.allocate(0);
	ok(a != nullptr && b != nullptr && a != b, "nothing has an address");
	base.deallocate(a, 0);
	base.deallocate(b, 0);
	is_uint(live(resource), 0, "and is freed");
	ok(base == resource && base != other,
	   "a resource is equal to itself alone");
	ok(resource.on() == gpu, "it has its device");
}

static void test_failures()
{
	gpumem::device gpu;
	auto config = GPUMEM_INIT(gpumem_pool_config);
	bool caught = false;

	config.kind = GPUMEM_KIND_PINNED;
	config.limit_bytes = 32 * MIB;
	gpumem::memory_resource small(gpu, config);
	std::pmr::vector<char> data(MIB, 'x', &small);
	try {
		data.resize(64 * MIB);
	} catch (const std::bad_alloc &) {
		caught = true;
	}
	ok(caught && data.size() == MIB && data[MIB - 1] == 'x',
	   "a vector that does not fit stays as it was");
	is_status(thrown([&] { data.resize(64 * MIB); }), GPUMEM_LIMIT,
		  "and the status says why");

	/* Pools of other resources on top of it. */
	std::pmr::unsynchronized_pool_resource pool(&small);
	{
		std::pmr::list<int> list(1000, 1, &pool);
		ok(live(small) < 100, "nodes share blocks of it");
	}
	pool.release();
	is_uint(live(small), 1, "which are given back");
}

/* Where the host cannot reach the device's memory. */
static void test_unreachable()
{
	gpumem::check(gpumem_option_set("host.objects", "on"));
	{
		gpumem::device gpu;

		is_status(thrown([&] {
				  gpumem::memory_resource r(gpu,
							    GPUMEM_KIND_DEVICE);
			  }),
			  GPUMEM_UNSUPPORTED, "not in memory behind objects");
		gpumem::memory_resource pinned(gpu);
		std::pmr::vector<int> numbers(1000, 3, &pinned);
		is_int(numbers[999], 3, "but in pinned memory");
	}
	gpumem::check(gpumem_option_set("host.objects", nullptr));
	gpumem::check(gpumem_option_set("host.pinned", "0"));
	{
		gpumem::device gpu;

		is_status(thrown([&] { gpumem::memory_resource r(gpu); }),
			  GPUMEM_UNSUPPORTED, "not where nothing is pinned");
	}
	gpumem::check(gpumem_option_set("host.pinned", nullptr));
}

static void test_threads()
{
	gpumem::device gpu;
	gpumem::memory_resource resource(gpu);
	std::vector<std::thread> threads;

	for (int t = 0; t < 4; t++)
		threads.emplace_back([&resource] {
			for (long i = 0; i < scaled(20, 4); i++)
				std::pmr::list<long> list(500, i, &resource);
		});
	for (auto &thread : threads)
		thread.join();
	is_uint(live(resource), 0, "threads leave nothing");
}

int main()
{
	alarm(120);
	test_kind(GPUMEM_KIND_DEVICE, "device");
	test_kind(GPUMEM_KIND_PINNED, "pinned");
	test_kind(GPUMEM_KIND_MANAGED, "managed");
	test_copy();
	test_requests();
	test_failures();
	test_unreachable();
	test_threads();
	return done_testing();
}
