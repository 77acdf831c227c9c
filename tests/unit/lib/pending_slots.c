/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Freed small blocks that another stream still uses, for the stream that they
 * are of, which is made to wait for that use: in need, and so that slabs which
 * cannot move do not become more and more. The streams are held: no work on
 * them is over unless somebody waits for it.
 */
#include "held.h"

enum { SMALL = 3000, COUNT = 64, ROUNDS = 400, LARGE = 48 * MIB };

static void begin(void)
{
	pool = new_pool(0);
	a = new_stream();
	b = new_stream();
	must(gpumem_host_hold(0, a, true));
	must(gpumem_host_hold(0, b, true));
}

static void finish(void)
{
	must(gpumem_pool_check(pool));
	must(gpumem_stream_sync(device, a));
	must(gpumem_stream_sync(device, b));
	(void)trim_all(pool, (const gpumem_stream[]){a, b}, 2);
	is_uint(reserved(), 0, "when all is over, all goes back");
	must(gpumem_stream_destroy(device, a));
	must(gpumem_stream_destroy(device, b));
	must(gpumem_pool_destroy(pool, 0));
	is_uint(gpumem_host_used_bytes(0), 0, "the device is empty");
}

/* A block that B is going to write, freed. */
static void used_by_b(unsigned char *ptr)
{
	fill(ptr, OLD, SMALL, b);
	must(gpumem_use_on(ptr, b));
	must(gpumem_free(ptr, a));
}

/* All that the pool may reserve is in use or pending. */
static void test_need(void)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	unsigned char *ptr[COUNT];
	void *none = NULL;
	unsigned had = 0;

	options.flags = GPUMEM_ALLOC_NO_GROW | GPUMEM_ALLOC_NO_WAIT;
	begin();
	ptr[had++] = new_block(pool, SMALL, a);
	must(gpumem_pool_set_limit(pool, reserved()));
	while (gpumem_alloc_with(pool, 32 * KIB, a, &options, &none, NULL) ==
	       GPUMEM_OK)
		;
	while (had < COUNT && gpumem_alloc_with(pool, SMALL, a, &options, &none,
						NULL) == GPUMEM_OK)
		ptr[had++] = none;
	ok(had > 1 && had < COUNT, "all of the pool is in use");
	for (unsigned i = 0; i < had; i++)
		used_by_b(ptr[i]);
	is_status(gpumem_alloc_with(pool, SMALL, a, &options, &none, NULL),
		  GPUMEM_NO_MEMORY, "what is pending is not to be had at once");
	ptr[0] = new_block(pool, SMALL, a);
	is_uint(calls_of(pool, GPUMEM_CALL_EVENT_SYNC).count, 0,
		"but behind its use, for which the host does not wait");
	fill(ptr[0], NEW, SMALL, a);
	must(gpumem_stream_sync(device, a));
	ok(holds(ptr[0], NEW, SMALL), "what the stream writes stays");
	must(gpumem_stream_sync(device, b));
	ok(holds(ptr[0], NEW, SMALL), "whatever the other does");
	must(gpumem_free(ptr[0], a));
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_stream_destroy(device, a));
	must(gpumem_stream_destroy(device, b));
}

/* One of many is over, behind more than are asked about at a time: who must not
 * wait for the others gets it. */
static void test_deep(void)
{
	enum { DEEP = 1200 };
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	gpumem_stream done = new_stream();
	static unsigned char *ptr[DEEP];
	void *again = NULL;

	begin();
	for (int i = 0; i < DEEP; i++)
		ptr[i] = new_block(pool, SMALL, a);
	options.flags = GPUMEM_ALLOC_NO_GROW | GPUMEM_ALLOC_NO_WAIT;
	while (gpumem_alloc_with(pool, SMALL, a, &options, &again, NULL) ==
	       GPUMEM_OK)
		;
	for (int i = 0; i + 1 < DEEP; i++)
		used_by_b(ptr[i]);
	must(gpumem_use_on(ptr[DEEP - 1], done));
	must(gpumem_free(ptr[DEEP - 1], a));
	must(gpumem_alloc_with(pool, SMALL, a, &options, &again, NULL));
	ok(again == ptr[DEEP - 1], "what is over is had, wherever it is");
	must(gpumem_stream_sync(device, b));
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_stream_destroy(device, a));
	must(gpumem_stream_destroy(device, b));
	must(gpumem_stream_destroy(device, done));
}

/* Small blocks and large ones in turn, so that each slab would lie in a page of
 * its own. Returns what is reserved in the end. */
static uint64_t reserved_in_turn(const char *wait)
{
	uint64_t most;

	must(gpumem_option_set("wait", wait));
	begin();
	for (int i = 0; i < ROUNDS; i++) {
		unsigned char *large = new_block(pool, LARGE, a), *ptr[COUNT];

		for (int j = 0; j < COUNT; j++)
			ptr[j] = new_block(pool, SMALL, a);
		must(gpumem_free(large, a));
		large = new_block(pool, LARGE - (size_t)(i % 8) * 3 * MIB, a);
		for (int j = 0; j < COUNT; j++)
			used_by_b(ptr[j]);
		must(gpumem_free(large, a));
	}
	most = reserved();
	finish();
	must(gpumem_option_set("wait", NULL));
	return most;
}

static void test_waste(void)
{
	uint64_t off = reserved_in_turn("off"), on = reserved_in_turn(NULL);

	ok(off > 96 * MIB, "without waits the pool comes to %u MiB",
	   (unsigned)(off / MIB));
	ok(on < 80 * MIB, "with them to %u", (unsigned)(on / MIB));
}

int main(void)
{
	open_device(240);
	test_need();
	test_deep();
	test_waste();
	must(gpumem_device_close(device));
	return done_testing();
}
