/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How large a block can be, and how large one can be now: what is promised is
 * allocated, with option `wait` off, in states that are known and in random
 * ones; and it is not less than what can be seen to be there.
 */
#include "fixture.h"

enum { CAPACITY = 64 };

static gpumem_stream stream[3]; /* the first is the default one */

static struct gpumem_capacity capacity_of(gpumem_pool *pool, gpumem_stream on)
{
	struct gpumem_capacity capacity = GPUMEM_INIT(struct gpumem_capacity);

	must(gpumem_pool_capacity(pool, on, &capacity));
	return capacity;
}

/* It can be had; returns how much it was. */
static uint64_t promised(gpumem_pool *pool, gpumem_stream on, const char *what)
{
	uint64_t now = capacity_of(pool, on).now_bytes;
	void *ptr = NULL;

	is_status(gpumem_alloc(pool, now, on, &ptr), GPUMEM_OK,
		  "%s: %llu bytes can be had", what, (ull)now);
	must(gpumem_free(ptr, on));
	return now;
}

/* What the pool has to wait for is over when this returns. */
static void settle(gpumem_pool *pool)
{
	(void)capacity_of(pool, NULL); /* records events */
	for (int i = 0; i < 3; i++)
		must(gpumem_stream_sync(device, stream[i]));
}

static void test_empty(void)
{
	gpumem_pool *pool = new_pool(0);
	struct gpumem_capacity capacity = capacity_of(pool, NULL);
	void *ptr = NULL;

	is_uint(capacity.max_alloc_bytes, CAPACITY * MIB, "the whole device");
	is_uint(promised(pool, NULL, "empty"), CAPACITY * MIB, "now, too");
	is_status(gpumem_alloc(pool, capacity.max_alloc_bytes + 1, NULL, &ptr),
		  GPUMEM_NO_MEMORY, "and not a byte more");
	settle(pool);
	is_uint(promised(pool, stream[1], "cached"), CAPACITY * MIB,
		"what a thread has cached, on another stream");
	must(gpumem_host_outside(0, 20 * MIB));
	settle(pool);
	must(gpumem_pool_trim(pool, 0, NULL));
	is_uint(promised(pool, NULL, "beside others"), (CAPACITY - 20) * MIB,
		"what other programs left");
	must(gpumem_host_outside(0, 0));
	must(gpumem_pool_destroy(pool, 0));
}

static void test_limit(void)
{
	gpumem_pool *pool = new_pool(24 * MIB + 1);
	void *ptr;

	is_uint(capacity_of(pool, NULL).max_alloc_bytes, 24 * MIB,
		"whole pages under a limit");
	is_uint(promised(pool, NULL, "limit"), 24 * MIB, "all of them");
	must(gpumem_pool_set_soft_limit(pool, 4 * MIB));
	must(gpumem_pool_set_limit(pool, 24 * MIB));
	ptr = new_block(pool, 8 * MIB, NULL);
	is_uint(promised(pool, NULL, "soft"), 16 * MIB,
		"the soft limit is none");
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_destroy(pool, 0));
}

/* What another stream may still use is not counted, until it is over. */
static void test_busy(bool vm)
{
	gpumem_pool *pool = new_pool(40 * MIB);
	struct gate gate;
	void *ptr = new_block(pool, 24 * MIB, stream[1]);

	gate_launch(&gate, stream[1], ptr, 24 * MIB);
	must(gpumem_free(ptr, stream[1]));
	atomic_store(&gate.harmless, true);
	is_uint(promised(pool, stream[2], "busy"), 16 * MIB,
		"another has what the limit leaves");
	is_uint(promised(pool, stream[1], "its own"), vm ? 40 * MIB : 24 * MIB,
		"its own stream has it at once, with pages together with more");
	gate_finish(&gate, stream[1]);
	settle(pool);
	is_uint(promised(pool, stream[2], "done"), 40 * MIB,
		"and all when it is done");
	must(gpumem_pool_destroy(pool, 0));
}

/* Every other block is free: pages can be moved together, segments cannot. */
static void test_scattered(bool vm)
{
	gpumem_pool *pool = new_pool(0);
	/* A page each, or two in a segment. */
	uint64_t bytes = (vm ? 2 : 1) * MIB, count = CAPACITY * MIB / bytes;
	void *ptr[CAPACITY];

	for (uint64_t i = 0; i < count; i++)
		ptr[i] = new_block(pool, bytes, NULL);
	is_uint(promised(pool, NULL, "full"), 0, "nothing is left");
	for (uint64_t i = 0; i < count; i += 2)
		must(gpumem_free(ptr[i], NULL));
	settle(pool);
	is_uint(promised(pool, NULL, "scattered"),
		(vm ? CAPACITY / 2 : 1) * MIB, "what can be put together");
	for (uint64_t i = 1; i < count; i += 2)
		must(gpumem_free(ptr[i], NULL));
	must(gpumem_pool_destroy(pool, 0));
}

/* While a stream is being captured nothing may move or go back. */
static void test_captured(bool frees)
{
	gpumem_pool *pool = new_pool(32 * MIB);
	void *ptr = new_block(pool, 10 * MIB, stream[1]);

	must(gpumem_free(ptr, stream[1]));
	must(gpumem_stream_sync(device, stream[1]));
	ptr = new_block(pool, MIB, stream[2]);
	must(gpumem_host_capture(0, stream[2], true));
	ok(promised(pool, NULL, "captured") >= (frees ? 28 : 20) * MIB,
	   "of the driver's, frees %d", frees);
	must(gpumem_host_capture(0, stream[2], false));
	must(gpumem_free(ptr, stream[2]));
	settle(pool);
	is_uint(promised(pool, NULL, "captured no more"), 32 * MIB, "all");
	must(gpumem_pool_destroy(pool, 0));
}

/* Also while the pool does not know the stream yet. */
static void test_captured_new(bool vm)
{
	gpumem_pool *pool;
	gpumem_stream fresh = new_stream();
	void *ptr;

	must(gpumem_option_set("vm", vm ? "on" : "off"));
	pool = new_pool(32 * MIB);
	ptr = new_block(pool, 10 * MIB, stream[1]);
	must(gpumem_free(ptr, stream[1]));
	must(gpumem_stream_sync(device, stream[1]));
	must(gpumem_host_capture(0, fresh, true));
	(void)promised(pool, fresh, "a new stream, captured");
	must(gpumem_host_capture(0, fresh, false));
	must(gpumem_option_set("vm", NULL));
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, fresh));
}

/* What a captured stream has freed it has from its own extents only. */
static void test_captured_own(void)
{
	gpumem_pool *pool = new_pool(32 * MIB);
	void *kept[4], *ptr[4];

	for (int i = 0; i < 4; i++) {
		ptr[i] = new_block(pool, 4 * MIB, stream[1]);
		kept[i] = new_block(pool, 2 * MIB, stream[1]);
	}
	must(gpumem_host_capture(0, stream[1], true));
	for (int i = 0; i < 4; i++)
		must(gpumem_free(ptr[i], stream[1]));
	(void)promised(pool, stream[1], "the captured stream");
	must(gpumem_host_capture(0, stream[1], false));
	for (int i = 0; i < 4; i++)
		must(gpumem_free(kept[i], stream[1]));
	must(gpumem_pool_destroy(pool, 0));
}

static void test_captures(bool frees, bool vm)
{
	option("host.capture_frees", frees ? "on" : "off");
	device_start("64MiB", vm);
	for (int i = 1; i < 3; i++)
		stream[i] = new_stream();
	test_captured(frees);
	test_captured_new(true);
	test_captured_new(false);
	test_captured_own();
	is_uint(gpumem_host_capture_violations(), 0, "nothing is disturbed");
	for (int i = 1; i < 3; i++)
		must(gpumem_stream_destroy(device, stream[i]));
	ok(device_end(), "nothing is left");
}

/* The driver does not say how much there is of others. */
static void test_kinds(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *pool = NULL;

	config.kind = GPUMEM_KIND_PINNED;
	config.limit_bytes = 8 * MIB;
	must(gpumem_pool_create(device, &config, &pool));
	is_uint(capacity_of(pool, NULL).max_alloc_bytes, 8 * MIB, "pinned");
	is_uint(promised(pool, NULL, "pinned"), 0, "none that is known of");
	must(gpumem_free(new_block(pool, 6 * MIB, NULL), NULL));
	ok(promised(pool, NULL, "pinned") >= 6 * MIB, "but what it has");
	must(gpumem_pool_destroy(pool, 0));
}

static void test_failures(void)
{
	struct gpumem_capacity capacity = GPUMEM_INIT(struct gpumem_capacity);
	gpumem_pool *pool = new_pool(0);

	must(gpumem_host_faults("memory_info@1"));
	is_status(gpumem_pool_capacity(pool, NULL, &capacity), GPUMEM_DRIVER,
		  "the driver does not say what is free");
	must(gpumem_host_faults(NULL));
	is_uint(capacity.now_bytes, 0, "the output is left alone");
	sound(pool, "nothing has happened");
	must(gpumem_pool_destroy(pool, 0));
}

static void test_random(uint64_t seed, bool vm)
{
	gpumem_pool *pool;
	long steps = scaled(2000, 200), short_of = 0, seen = 0;
	void *ptr[40] = {NULL};
	unsigned on[40];

	random_seed(seed);
	pool = new_pool(seed % 2 ? 48 * MIB : 0);
	for (long i = 0; i < steps; i++) {
		unsigned at = (unsigned)random_below(40);
		uint64_t bytes = 1 + random_below(one_in(3) ? 9 * MIB : 60000);
		uint64_t now;
		void *large = NULL;

		must(gpumem_free(ptr[at], stream[on[at] % 3]));
		ptr[at] = NULL;
		on[at] = (unsigned)random_below(3);
		(void)!gpumem_alloc(pool, bytes, stream[on[at]], &ptr[at]);
		if (!one_in(10))
			continue;
		at = (unsigned)random_below(3);
		now = capacity_of(pool, stream[at]).now_bytes;
		short_of += gpumem_alloc(pool, now, stream[at], &large) != 0;
		seen += now > 0;
		must(gpumem_free(large, stream[at]));
	}
	is_int(short_of, 0, "%ld steps of seed %llu, vm %d", steps, (ull)seed,
	       vm);
	ok(seen > 0, "some promised anything");
	sound(pool, "the pool is sound");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

static void run(bool vm)
{
	device_start("64MiB", vm);
	for (int i = 1; i < 3; i++)
		stream[i] = new_stream();
	test_empty();
	test_limit();
	test_busy(vm);
	test_scattered(vm);
	test_kinds();
	test_failures();
	for (uint64_t seed = 1; seed <= (uint64_t)scaled(100, 4); seed++)
		test_random(seed, vm);
	for (int i = 1; i < 3; i++)
		must(gpumem_stream_destroy(device, stream[i]));
	ok(device_end(), "nothing is left");
}

int main(void)
{
	alarm(120);
	option("wait", "off");
	for (int vm = 0; vm < 2; vm++) {
		run(vm);
		test_captures(false, vm);
		test_captures(true, vm);
	}
	return done_testing();
}
