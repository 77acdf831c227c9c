/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What NO_WAIT and NO_GROW forbid: work that lasts until it is let go, so that
 * whoever waits for it does so for ever; and every driver call for memory
 * counted. What only one thread can hold is in unit/heap/flags.c.
 */
#include "fixture.h"

static gpumem_pool *pool;
static gpumem_stream stream;
static unsigned asked;

static bool note(gpumem_pool *of, const struct gpumem_pressure *pressure,
		 void *user)
{
	(void)of;
	(void)pressure;
	(void)user;
	asked++;
	return false;
}

static void start(bool vm, const char *wait)
{
	option("wait", wait);
	device_start("64MiB", vm);
	pool = new_pool(0);
	stream = new_stream();
	must(gpumem_pool_pressure_add(pool, note, NULL));
	asked = 0;
}

static void end(void)
{
	sound(pool, "sound");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_stream_destroy(device, stream));
	ok(device_end(), "nothing is left");
}

static gpumem_status flagged(size_t bytes, uint32_t flags, void **ptr_out)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);

	options.flags = flags;
	return gpumem_alloc_with(pool, bytes, NULL, &options, ptr_out, NULL);
}

/* All calls that take memory from the driver, give it back or move it. */
static uint64_t memory_calls(void)
{
	static const unsigned calls[] = {
		GPUMEM_CALL_ALLOC,	 GPUMEM_CALL_FREE,
		GPUMEM_CALL_VA_RESERVE,	 GPUMEM_CALL_VA_RELEASE,
		GPUMEM_CALL_PAGE_CREATE, GPUMEM_CALL_PAGE_DESTROY,
		GPUMEM_CALL_MAP,	 GPUMEM_CALL_UNMAP};
	uint64_t count = 0;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		count += calls_of(pool, calls[i]).count;
	return count;
}

static void refused(size_t bytes, uint32_t flags, const char *what)
{
	struct gpumem_stats before = stats_of(pool), after;
	uint64_t calls = memory_calls();
	void *ptr = &pool;

	is_status(flagged(bytes, flags, &ptr), GPUMEM_NO_MEMORY, "%s", what);
	is_ptr(ptr, &pool, "no output is touched");
	ok(strstr(last_text(), " out of memory") != NULL, "says: %s",
	   last_text());
	ok(!(flags & GPUMEM_ALLOC_NO_GROW) ==
			   !strstr(last_text(), "GPUMEM_ALLOC_NO_GROW") &&
		   !(flags & GPUMEM_ALLOC_NO_WAIT) ==
			   !strstr(last_text(), "GPUMEM_ALLOC_NO_WAIT"),
	   "and which flag forbade what");
	after = stats_of(pool);
	is_uint(after.ooms, before.ooms + 1, "counts as out of memory");
	is_uint(after.trims, before.trims, "nothing was trimmed");
	is_uint(after.reserved.current, before.reserved.current,
		"what is reserved stays");
	if (!(flags & GPUMEM_ALLOC_NO_GROW))
		return;
	is_uint(after.retries, before.retries, "it was not tried again");
	is_uint(memory_calls(), calls, "no driver was called for memory");
	is_uint(asked, 0, "no callback was called");
}

/* ---- NO_GROW ---- */

static void had(size_t bytes, const char *what)
{
	uint64_t calls = memory_calls(), hits = stats_of(pool).hits;
	void *ptr = NULL;

	is_status(flagged(bytes, GPUMEM_ALLOC_NO_GROW, &ptr), GPUMEM_OK, "%s",
		  what);
	is_uint(memory_calls(), calls, "without a driver call for memory");
	is_uint(stats_of(pool).hits, hits + 1, "which is a hit");
	must(gpumem_free(ptr, NULL));
}

static void test_no_grow(bool vm)
{
	void *large;

	start(vm, "off");
	refused(1000, GPUMEM_ALLOC_NO_GROW, "an empty pool has none");
	refused(3 * MIB, GPUMEM_ALLOC_NO_GROW, "nor a large one");
	large = new_block(pool, 8 * MIB, stream);
	refused(MIB, GPUMEM_ALLOC_NO_GROW, "all is in use");
	must(gpumem_free(large, stream));
	had(8 * MIB, "what another stream has freed");
	had(5 * MIB, "a part of it");
	had(1000, "small blocks");
	refused(17 * MIB, GPUMEM_ALLOC_NO_GROW, "more than there is");
	must(gpumem_pool_set_soft_limit(pool, MIB * 2));
	refused(17 * MIB, GPUMEM_ALLOC_NO_GROW, "beyond the soft limit");
	end();
}

/* Free pages that lie apart could be moved to one place. */
static void test_no_move(void)
{
	void *ptr[8], *moved = NULL;

	start(true, "off");
	for (int i = 0; i < 8; i++)
		ptr[i] = new_block(pool, 4 * MIB, NULL);
	must(gpumem_pool_set_limit(pool, 32 * MIB));
	for (int i = 0; i < 8; i += 2)
		must(gpumem_free(ptr[i], NULL));
	refused(8 * MIB, GPUMEM_ALLOC_NO_GROW, "pages lie apart");
	is_uint(stats_of(pool).moved_bytes, 0, "and none is moved");
	must(flagged(8 * MIB, 0, &moved));
	ok(stats_of(pool).moved_bytes > 0, "as without the flag");
	end();
}

/* ---- waiting ---- */

/* All memory there is was freed on a stream that is busy. */
static void fill_pending(struct gate *gate)
{
	void *ptr = new_block(pool, 56 * MIB, NULL);

	gate_launch(gate, stream, NULL, 0);
	must(gpumem_use_on(ptr, stream));
	must(gpumem_free(ptr, NULL));
}

static void test_no_wait(bool vm, uint32_t flags)
{
	struct gate gate = {0};

	start(vm, "on");
	fill_pending(&gate);
	refused(48 * MIB, flags, "pending blocks are not waited for");
	ok(!atomic_load(&gate.passed), "their stream is busy still");
	is_uint(asked, flags & GPUMEM_ALLOC_NO_GROW ? 0 : 1,
		"the callbacks were asked, but for NO_GROW");
	gate_finish(&gate, stream);
	end();
}

/* NO_GROW alone waits, and then takes what has become free: it is not given
 * back first. */
static void test_grow_waits(bool vm)
{
	struct gate gate = {0};
	pthread_t opener;
	uint64_t calls, trims;
	void *ptr = NULL;

	start(vm, "on");
	fill_pending(&gate);
	calls = memory_calls();
	trims = stats_of(pool).trims;
	opener = gate_open_later(&gate);
	is_status(flagged(48 * MIB, GPUMEM_ALLOC_NO_GROW, &ptr), GPUMEM_OK,
		  "what is pending is waited for");
	pthread_join(opener, NULL);
	is_uint(memory_calls(), calls, "and not given back in between");
	is_uint(stats_of(pool).trims, trims, "by no trim");
	is_uint(stats_of(pool).retries, 1, "it was tried again");
	end();
}

/* NO_WAIT takes what can be had at once, from the driver too. */
static void test_wait_grows(bool vm)
{
	void *ptr = NULL;

	start(vm, "on");
	must(flagged(8 * MIB, GPUMEM_ALLOC_NO_WAIT, &ptr));
	is_uint(stats_of(pool).misses, 1, "NO_WAIT grows");
	must(gpumem_pool_set_soft_limit(pool, 12 * MIB));
	must(flagged(16 * MIB, GPUMEM_ALLOC_NO_WAIT, &ptr));
	is_uint(asked, 1, "asks the program");
	ok(reserved_of(pool) > 12 * MIB, "and passes the soft limit");
	end();
}

int main(void)
{
	alarm(60);
	for (int vm = 0; vm < 2; vm++) {
		test_no_grow(vm);
		test_no_wait(vm, GPUMEM_ALLOC_NO_WAIT);
		test_no_wait(vm, GPUMEM_ALLOC_NO_WAIT | GPUMEM_ALLOC_NO_GROW);
		test_grow_waits(vm);
		test_wait_grows(vm);
	}
	test_no_move();
	return done_testing();
}
