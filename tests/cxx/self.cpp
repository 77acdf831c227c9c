/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem.hpp: an object that is moved into itself, or swapped with itself, is
 * as it was, as algorithms may do it; and one that takes another's place ends
 * what it had. Run by cxx.sh on the simulated GPU.
 */
#include <gpumem/gpumem.hpp>
#include <gpumem/host.h>

#include <algorithm>
#include <unistd.h>
#include <utility>
#include <vector>

#include "../tap.h"

static const size_t MIB = 1 << 20;

/* The two may be one; the compiler does not see it, and does not warn. */
template <typename T> static void move_to(T &to, T &from)
{
	to = std::move(from);
}

template <typename T> static void swap_with(T &one, T &other)
{
	using std::swap;

	swap(one, other);
}

template <typename T> static void to_itself(T &object)
{
	move_to(object, object);
	swap_with(object, object);
	move_to(object, object);
}

static uint64_t live(gpumem::pool_ref pool)
{
	return pool.stats().blocks.current;
}

static void test_blocks()
{
	gpumem::device gpu;
	gpumem::pool pool(gpu, "blocks");
	gpumem::stream stream(gpu);
	gpumem::buffer block(pool, MIB, stream), none;
	gpumem::device_buffer data(pool, 3 * MIB, stream), empty(pool);
	void *at = block.data(), *data_at = data.data();
	char read = 0;

	data.fill(7);
	to_itself(block);
	ok(block.data() == at && block.size() == MIB, "a buffer is itself");
	to_itself(data);
	data.swap(data);
	ok(data.data() == data_at && data.size() == 3 * MIB &&
		   data.stream() == stream && data.pool() == pool,
	   "a device_buffer is itself");
	data.read(&read, 1, MIB);
	stream.sync();
	is_uint(static_cast<unsigned char>(read), 7, "with its content");
	to_itself(none);
	to_itself(empty);
	ok(!none && empty.empty(), "empty ones are empty");
	is_uint(live(pool), 2, "nothing was freed");

	gpumem::buffer other(pool, 2 * MIB, stream);
	swap_with(block, other);
	ok(other.data() == at && block.size() == 2 * MIB, "two are swapped");
	move_to(block, other);
	ok(block.data() == at && !other, "one takes the other's place");
	is_uint(live(pool), 2, "and its block is gone");
}

/* What goes through algorithms that move within a range. */
static void test_algorithms()
{
	gpumem::device gpu;
	gpumem::pool pool(gpu, "algorithms");
	std::vector<gpumem::buffer> many;
	size_t all = 0, held = 0;

	for (size_t i = 1; i <= 50; i++) {
		many.emplace_back(pool, i * 1000);
		all += i * 1000;
	}
	std::rotate(many.begin(), many.begin() + 17, many.end());
	std::reverse(many.begin(), many.end());
	std::sort(many.begin(), many.end(), [](auto &a, auto &b) {
		return a.size() / 3000 < b.size() / 3000;
	});
	for (auto &each : many)
		held += each.size();
	is_uint(held, all, "algorithms lose no block");
	is_uint(live(pool), 50, "each is live");
}

static void test_handles()
{
	gpumem::device gpu;
	gpumem::pool pool(gpu, "kept");
	gpumem::stream stream(gpu);
	gpumem::event event(gpu);
	gpumem_device *handle = gpu.get();
	gpumem_pool *pool_handle = pool.get();
	gpumem_stream stream_handle = stream;
	gpumem_event *event_handle = event.get();

	to_itself(gpu);
	ok(gpu.get() == handle, "a device is itself");
	to_itself(pool);
	ok(pool.get() == pool_handle && pool.on() == gpu, "a pool is itself");
	is_str(pool.name(), "kept", "and works");
	to_itself(stream);
	ok(stream.get() == stream_handle && stream.on() == gpu,
	   "a stream is itself");
	to_itself(event);
	ok(event.get() == event_handle, "an event is itself");
	event.record(stream);
	stream.wait(event);
	event.sync();
	ok(event.query(), "both work");

	gpumem::pool next(gpu, "next");
	swap_with(pool, next);
	ok(next.get() == pool_handle, "two pools are swapped");
	move_to(pool, next);
	is_str(pool.name(), "kept", "one takes the other's place");
}

int main()
{
	alarm(120);
	test_blocks();
	test_algorithms();
	test_handles();
	return done_testing();
}
