/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem.hpp: a pool that sleeps gives its memory to the device, its blocks
 * come back with their content, whoever owns them meanwhile; a refusal is an
 * exception, after which all is as it was. Run by cxx.sh on the simulated GPU.
 */
#include <gpumem/gpumem.hpp>
#include <gpumem/host.h>

#include <string>
#include <unistd.h>
#include <vector>

#include "../tap.h"

using gpumem::buffer;
using gpumem::device_buffer;

static const size_t MIB = 1 << 20;

static uint64_t sleeping(gpumem::pool_ref pool)
{
	return pool.stats().sleeping.current;
}

static bool holds(const device_buffer &data, const std::vector<char> &wanted)
{
	std::vector<char> found(wanted.size());

	data.read(found.data(), found.size());
	gpumem::check(
		gpumem_stream_sync(data.pool().device_handle(), data.stream()));
	return found == wanted;
}

/* False: pools of this device cannot sleep, and say so. */
static bool can(gpumem::pool_ref pool)
{
	try {
		pool.sleep();
	} catch (const gpumem::status_error &why) {
		is_status(why.status(), GPUMEM_UNSUPPORTED,
			  "without virtual memory it is refused");
		ok(std::string(why.what()).find("virtual memory") !=
			   std::string::npos,
		   "with the reason");
		return false;
	}
	ok(pool.wake().device_bytes == 0, "an empty pool sleeps");
	return true;
}

static void test_content(gpumem::pool &pool)
{
	std::vector<char> wanted(5 * MIB + 7);
	device_buffer data(pool, wanted.size(), nullptr);
	buffer end(pool, 2 * MIB, nullptr);
	void *before = data.data();

	for (size_t i = 0; i < wanted.size(); i++)
		wanted[i] = char(i * 7 + i / MIB);
	data.write(wanted.data(), wanted.size());
	gpumem_slept slept = pool.sleep();
	ok(slept.kept_bytes >= wanted.size() + 2 * MIB &&
		   slept.device_bytes >= slept.kept_bytes,
	   "what sleeps is counted");
	is_uint(gpumem_host_used_bytes(0), 0, "the device has its memory");
	end.reset();
	device_buffer other(std::move(data));
	gpumem_slept woken = pool.wake();
	ok(woken.kept_bytes >= wanted.size() &&
		   woken.kept_bytes <= slept.kept_bytes,
	   "and what wakes");
	ok(other.data() == before && holds(other, wanted),
	   "a block that was moved meanwhile is where it was, as it was");
	is_uint(sleeping(pool), 0, "nothing sleeps any more");
}

static void test_tags(gpumem::pool &pool)
{
	auto options = GPUMEM_INIT(gpumem_sleep_options);
	uint32_t cache, inside;

	gpumem::check(gpumem_tag_intern("cache", &cache));
	gpumem::check(gpumem_tag_intern("cache/keys", &inside));
	gpumem::check(gpumem_tag_set_sleep(cache, GPUMEM_SLEEP_DROP));
	gpumem::check(gpumem_tag_set(inside));
	buffer keys(pool, 4 * MIB, nullptr);
	gpumem::check(gpumem_tag_set(0));
	buffer rest(pool, 4 * MIB, nullptr);

	is_uint(pool.sleep(cache).dropped_bytes, 4 * MIB, "one tag sleeps");
	is_uint(sleeping(pool), 4 * MIB, "and nothing else");
	is_uint(pool.wake(inside).device_bytes, 4 * MIB, "one inside wakes");
	options.flags = GPUMEM_SLEEP_RETAIN;
	is_uint(pool.sleep(options).kept_bytes, 4 * MIB, "the rest is kept");
	ok(pool.wake().host_bytes >= 4 * MIB, "in memory that stays");
}

static void test_refusals(gpumem::pool &pool)
{
	buffer data(pool, 4 * MIB, nullptr), more;
	std::string text;

	gpumem::check(gpumem_range_pin(pool.get(), data.data(), 1, "nobody"));
	try {
		pool.sleep();
	} catch (const gpumem::status_error &why) {
		is_status(why.status(), GPUMEM_BUSY, "what is pinned stays");
		text = why.what();
	}
	ok(text.find("nobody") != std::string::npos, "and by whom it is");
	gpumem::check(gpumem_range_unpin(pool.get(), data.data(), 1, "nobody"));
	pool.sleep();
	more = buffer(pool, 16 * MIB, nullptr);
	pool.set_limit(16 * MIB);
	try {
		pool.wake();
		text = "it woke";
	} catch (const std::bad_alloc &why) {
		text = why.what();
	}
	ok(text.find(" out of memory") != std::string::npos,
	   "a wake beyond the limit is a bad_alloc");
	is_uint(sleeping(pool), 4 * MIB, "and leaves it asleep");
	more.reset();
	pool.wake();
	is_uint(sleeping(pool), 0, "until there is room");
	pool.set_limit(0);
}

int main()
{
	alarm(120);
	gpumem::device gpu;
	gpumem::pool pool(gpu, "sleeper");

	if (can(pool)) {
		test_content(pool);
		test_tags(pool);
		test_refusals(pool);
		gpumem::check(gpumem_pool_check(pool.get()));
	}
	return done_testing();
}
