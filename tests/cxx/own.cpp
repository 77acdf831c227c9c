/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem.hpp: every object frees what it owns exactly once, in whatever order
 * objects end, whether it was moved, and when something throws; errors say what
 * the library says. Run by cxx.sh on the simulated GPU.
 */
#include <gpumem/gpumem.hpp>
#include <gpumem/host.h>

#include <string>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <vector>

#include "../tap.h"

using gpumem::buffer;
using gpumem::device_buffer;

static const size_t MIB = 1 << 20;

/* ---- what the compiler can tell ---- */

template <typename T> constexpr bool owns()
{
	return std::is_nothrow_destructible_v<T> &&
	       std::is_nothrow_move_constructible_v<T> &&
	       std::is_nothrow_move_assignable_v<T> &&
	       !std::is_copy_constructible_v<T> &&
	       !std::is_copy_assignable_v<T>;
}

static_assert(owns<gpumem::pool>() && owns<gpumem::stream>() &&
	      owns<gpumem::event>() && owns<buffer>() && owns<device_buffer>());
static_assert(std::is_nothrow_destructible_v<gpumem::device> &&
	      std::is_copy_constructible_v<gpumem::device>);
static_assert(std::is_trivially_copyable_v<gpumem::pool_ref>);
static_assert(std::is_nothrow_copy_constructible_v<gpumem::out_of_memory> &&
	      std::is_nothrow_copy_constructible_v<gpumem::status_error>);

/* As docs/cxx.md has it. */
static_assert(sizeof(buffer) == 16 && sizeof(device_buffer) == 56);

/* ---- what a pool sees ---- */

struct seen {
	size_t allocs = 0, frees = 0;
};

static void see(gpumem_pool *, const gpumem_hook_event *event, void *user)
{
	seen *into = static_cast<seen *>(user);

	into->allocs += event->kind == GPUMEM_HOOK_ALLOC;
	into->frees += event->kind == GPUMEM_HOOK_FREE;
}

/* A free of what is free leaves a last error, which destructors hide. */
static bool no_bad_free()
{
	auto last = GPUMEM_INIT(gpumem_error);

	gpumem_last_error(&last);
	return last.status != GPUMEM_BAD_POINTER;
}

static uint64_t live(gpumem::pool_ref pool)
{
	return pool.stats().blocks.current;
}

/* The status that `work` throws; OK if it throws nothing. */
template <typename F> static gpumem_status thrown(F work)
{
	try {
		work();
	} catch (const gpumem::error &failure) {
		return failure.status();
	}
	return GPUMEM_OK;
}

/* ---- errors ---- */

static void test_errors()
{
	gpumem::device gpu;
	gpumem::pool pool(gpu, "small");
	std::string text;

	try {
		gpumem::device none("nonsense:0");
	} catch (const std::exception &failure) {
		text = failure.what();
	}
	is_str(text.c_str(), gpumem_error_text(),
	       "an exception has the library's sentence");
	is_status(thrown([] { gpumem::device none("nonsense:0"); }),
		  GPUMEM_NOT_FOUND, "and its status");
	try {
		(void)pool.allocate(gpu.info().total_bytes + 1);
	} catch (const std::bad_alloc &failure) {
		text = failure.what();
	}
	ok(text.find(" out of memory") != text.npos,
	   "what does not fit is a bad_alloc, which says why");
	pool.set_limit(16 * MIB);
	try {
		(void)pool.allocate(32 * MIB);
		ok(false, "the limit holds");
	} catch (const gpumem::out_of_memory &failure) {
		is_status(failure.status(), GPUMEM_LIMIT, "the limit holds");
		is_str(failure.details().backend, "", "no driver was asked");
	}
	try {
		gpumem::raise(GPUMEM_NOT_READY);
	} catch (const gpumem::error &failure) {
		is_str(failure.what(), gpumem_status_text(GPUMEM_NOT_READY),
		       "an older error is not taken for this one");
	}
	is_status(thrown([] { gpumem::check(GPUMEM_OK); }), GPUMEM_OK,
		  "no error, no exception");
}

/* ---- each is freed once ---- */

static void test_moves()
{
	gpumem::device gpu;
	gpumem::pool pool(gpu, "moves");
	gpumem::stream stream(gpu);
	seen events;

	gpumem::check(gpumem_pool_hook_set(pool.get(), see, &events));
	{
		buffer a(pool, MIB, stream), b(std::move(a));
		buffer c(pool, 2 * MIB, stream);

		ok(!a && a.size() == 0 && b.size() == MIB, "a buffer moves");
		c = std::move(b);
		is_uint(live(pool), 1, "what is assigned to gives up its own");
		std::vector<buffer> many;
		for (int i = 0; i < 100; i++)
			many.emplace_back(pool, 100 * i, stream);
		many.erase(many.begin(), many.begin() + 50);
		is_uint(live(pool), 51, "also inside of containers");
		many[0] = buffer();
		is_uint(live(pool), 50, "an empty one empties");
		pool.deallocate(many[1].release());
		c.reset();
		ok(!c && c.size() == 0, "a buffer that was reset is empty");
		buffer whole(pool, 1000, stream, GPUMEM_ALLOC_WHOLE);
		uint64_t held;
		gpumem::check(gpumem_usable_bytes(whole.data(), &held));
		is_uint(whole.size(), held, "a whole block is the program's");
	}
	{
		device_buffer a(pool, MIB, stream), b(std::move(a));
		device_buffer c(pool, 3 * MIB, stream);

		ok(a.empty() && !a.data() && b.size() == MIB,
		   "a device_buffer moves");
		c = std::move(b);
		is_uint(live(pool), 1, "and gives up its own");
		a.resize(5);
		ok(a.size() == 5 && a.pool() == pool,
		   "one that was moved from knows its pool");
	}
	is_uint(live(pool), 0, "all is freed");
	is_uint(events.frees, events.allocs, "each block once");
	ok(no_bad_free(), "and none twice");

	gpumem::pool other(std::move(pool));
	is_str(other.name(), "moves", "a pool moves");
	other = gpumem::pool(gpu, "next");
	is_str(other.name(), "next", "and is replaced");
}

/* The driver calls that `work` makes. */
template <typename F> static uint64_t calls(F work)
{
	gpumem::check(gpumem_host_faults(nullptr));
	work();
	return gpumem_host_calls();
}

/* Streams and events have no statistics, but each is a call or two. */
static void test_handles()
{
	gpumem::device gpu;
	uint64_t streams = calls([&] {
		for (int i = 0; i < 3; i++) {
			gpumem_stream raw;

			gpumem::check(gpumem_stream_create(gpu.get(), &raw));
			gpumem::check(gpumem_stream_destroy(gpu.get(), raw));
		}
	});
	uint64_t events = calls([&] {
		for (int i = 0; i < 2; i++) {
			gpumem_event *raw;

			gpumem::check(gpumem_event_create(gpu.get(), &raw));
			gpumem::check(gpumem_event_destroy(raw));
		}
	});

	is_uint(calls([&] {
			gpumem::stream first(gpu), moved(std::move(first));

			moved = gpumem::stream(gpu);
			moved.destroy();
			moved = gpumem::stream(gpu);
		}),
		streams, "each stream ends once");
	is_uint(calls([&] {
			gpumem::event first(gpu), moved(std::move(first));

			moved = gpumem::event(gpu);
		}),
		events, "each event too");
}

/* Every call that can fail on the way: nothing is left, and no more is freed
 * than there was. */
static void test_throws()
{
	gpumem::device gpu;
	gpumem::pool pool(gpu, "throws");
	gpumem::stream stream(gpu);
	std::vector<char> from(MIB, 7), back(MIB);
	device_buffer kept(pool, from.data(), MIB, stream);
	buffer behind(pool, MIB, stream);
	void *data = kept.data();

	gpumem::check(gpumem_host_faults("copy@1+"));
	is_status(thrown([&] {
			  device_buffer copy(pool, from.data(), MIB, stream);
		  }),
		  GPUMEM_DRIVER, "a copy that fails throws");
	is_status(thrown([&] { device_buffer copy(kept, stream); }),
		  GPUMEM_DRIVER, "a copy of another one too");
	is_status(thrown([&] { kept.resize(64 * MIB); }), GPUMEM_DRIVER,
		  "and a move to a larger block");
	gpumem::check(gpumem_host_faults(nullptr));
	is_uint(live(pool), 2, "nothing is left of them");
	ok(kept.data() == data && kept.size() == MIB,
	   "what could not grow is as it was");
	kept.read(back.data(), MIB);
	stream.sync();
	ok(back == from, "with its content");
	is_status(thrown([&] { kept.read(back.data(), 2, MIB - 1); }),
		  GPUMEM_INVALID, "what is not in it is not read");
	is_status(thrown([&] { kept.write(back.data(), SIZE_MAX, 1); }),
		  GPUMEM_INVALID, "nor written");
	is_status(thrown([&] { buffer bad(pool, MIB, stream, 0, 3); }),
		  GPUMEM_INVALID, "an alignment that is none throws");
	is_status(thrown([&] {
			  device_buffer local(pool, MIB, stream);
			  throw gpumem::status_error(GPUMEM_BUSY, "mine");
		  }),
		  GPUMEM_BUSY, "an exception of the program's passes");
	is_uint(live(pool), 2, "and frees what it leaves behind");
	ok(no_bad_free(), "once");
}

/* ---- what ends first ---- */

/* An option is read when a device is opened: a device that is still open has
 * the capacity of before. */
static void is_closed(const char *what)
{
	static int last = 64;
	std::string capacity = std::to_string(++last) + "MiB";

	gpumem::check(gpumem_option_set("host.capacity", capacity.c_str()));
	is_uint(gpumem::device().info().total_bytes, last * MIB,
		"the device is closed: %s", what);
}

static void test_order()
{
	gpumem_pool *left;

	{
		auto gpu = std::make_unique<gpumem::device>();
		gpumem::stream stream(*gpu);
		gpumem::event event(*gpu);
		gpumem::pool pool(*gpu);
		device_buffer data(pool, MIB, stream);

		gpu.reset();
		data.fill(1);
		event.record(stream);
		event.sync();
		ok(event.query(), "a stream works without its device's name");
	}
	is_closed("the device ended first");
	{
		gpumem::device gpu;
		auto stream = std::make_unique<gpumem::stream>(gpu);
		device_buffer data(gpu.default_pool(), MIB, *stream);
		buffer more(gpu.default_pool(), MIB, *stream);

		data.fill(1);
		stream.reset();
	}
	ok(no_bad_free(), "blocks survive the end of their stream");
	is_closed("the stream ended before its blocks");
	{
		buffer data;
		gpumem::device gpu;
		{
			gpumem::pool pool(gpu, "left");

			data = buffer(pool, MIB);
			left = pool.get();
			is_status(thrown([&] { pool.destroy(); }), GPUMEM_BUSY,
				  "a pool with a live block does not end");
		}
		is_uint(live(left), 1, "not by its destructor either");
		data.use_on(nullptr);
		data.reset();
		is_uint(live(left), 0, "the block is freed later");
		gpumem::check(gpumem_pool_destroy(left, 0));
	}
	is_closed("a pool ended by hand");
	{
		gpumem::device gpu;
		gpumem::pool pool(gpu);
		buffer data(pool, MIB);

		pool.destroy(GPUMEM_DESTROY_FORCE);
		(void)data.release();
	}
	is_closed("by force");
	{
		gpumem::device gpu;

		buffer(gpu.default_pool(), MIB).reset();
		gpumem::check(gpumem_host_faults("page_destroy@1;free@1"));
	}
	is_closed("its default pool could not give all back");
	gpumem::check(gpumem_host_faults(nullptr));
	gpumem::check(gpumem_option_set("host.capacity", nullptr));
}

/* ---- statistics, trim, limit ---- */

static void test_pool()
{
	gpumem::device gpu;
	auto config = GPUMEM_INIT(gpumem_pool_config);
	uint64_t total = gpu.info().total_bytes, reserved;

	config.name = "configured";
	config.limit_percent = 50;
	gpumem::pool pool(gpu, config);
	ok(pool.on() == gpu && pool.device_handle() == gpu.get(),
	   "a pool has its device");
	is_uint(pool.stats().limit_bytes, total / 2, "a limit by config");
	pool.set_limit(64 * MIB);
	pool.set_soft_limit(32 * MIB);
	is_uint(pool.stats().limit_bytes, 64 * MIB, "the hard limit");
	is_uint(pool.stats().soft_limit_bytes, 32 * MIB, "the soft limit");
	pool.set_limit_percent(20);
	pool.set_soft_limit_percent(10);
	is_uint(pool.stats().limit_bytes, total / 5, "in percent");
	is_uint(pool.stats().soft_limit_bytes, total / 10, "both");
	pool.set_limit(0);
	pool.set_soft_limit(0);
	is_uint(pool.stats().limit_bytes, 0, "and none");
	{
		buffer data(pool, 8 * MIB);

		is_uint(pool.stats().requested.current, 8 * MIB, "requested");
		ok(pool.capacity().now_bytes > 0, "capacity");
		ok(gpu.memory().reserved_bytes >= 8 * MIB, "of the device");
	}
	reserved = pool.stats().reserved.current;
	pool.reset_stats(GPUMEM_RESET_TOTALS);
	is_uint(pool.stats().requested.peak, 0, "a reset");
	is_uint(pool.trim(reserved), 0, "a trim keeps what it is told to");
	is_uint(pool.trim(), reserved, "a trim says what went back");
	void *block = pool.allocate_aligned(MIB, MIB);
	is_uint(reinterpret_cast<uintptr_t>(block) % MIB, 0, "aligned");
	pool.deallocate(block);
	is_status(thrown([&] { pool.deallocate(block); }), GPUMEM_BAD_POINTER,
		  "a double free throws");
	pool.add_peer(gpu);
	ok(gpu.trim() > 0, "a trim of the device");
	is_uint(gpumem::trim(), 0, "a trim of all has nothing left to do");
	ok(gpu.has(GPUMEM_CAP_SIMULATED) && gpu.can_peer(gpu), "capabilities");
}

static void test_adopt()
{
	int context, native;
	gpumem::device gpu = gpumem::device::adopt("host", &context, &native);
	gpumem::device copy = gpu;

	ok(copy == gpu && copy != gpumem::device(), "an adopted device");
	is_status(thrown([&] {
			  gpumem::device::adopt("nonsense", &context, &native);
		  }),
		  GPUMEM_NOT_FOUND, "one of no backend throws");
}

/* A pool for all threads, buffers of each. */
static void test_threads()
{
	gpumem::device gpu;
	gpumem::pool pool(gpu, "threads");
	std::vector<std::thread> threads;

	for (int t = 0; t < 4; t++)
		threads.emplace_back([gpu, &pool] {
			gpumem::stream stream(gpu);
			device_buffer kept(pool, 0, stream);

			for (long i = 0; i < scaled(2000, 200); i++) {
				device_buffer next(pool, 100 * i, stream);

				kept = std::move(next);
			}
		});
	for (auto &thread : threads)
		thread.join();
	is_uint(live(pool), 0, "threads leave nothing");
	gpumem::check(gpumem_pool_check(pool.get()));
}

int main()
{
	alarm(120);
	test_errors();
	test_moves();
	test_handles();
	test_throws();
	test_order();
	test_pool();
	test_adopt();
	test_threads();
	return done_testing();
}
