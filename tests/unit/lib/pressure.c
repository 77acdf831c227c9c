/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The soft limit, the program's callbacks, and waiting: what happens between
 * "there is none" and "out of memory", and in which order.
 */
#include "fixture.h"

/* Who was called, as letters in order. */
static char calls[64];
static struct gpumem_pressure met; /* by the last one */

static bool note(gpumem_pool *pool, const struct gpumem_pressure *pressure,
		 void *user)
{
	size_t length = strlen(calls);

	(void)pool;
	met = *pressure;
	if (length < sizeof(calls) - 1) {
		calls[length] = *(const char *)user;
		calls[length + 1] = '\0';
	}
	return false;
}

static void add(gpumem_pool *pool, gpumem_pressure_fn fn, void *user)
{
	must(gpumem_pool_pressure_add(pool, fn, user));
}

static const char *called_by(gpumem_pool *pool, size_t bytes)
{
	void *ptr;

	calls[0] = '\0';
	if (!gpumem_alloc(pool, bytes, NULL, &ptr))
		must(gpumem_free(ptr, NULL));
	return calls;
}

/* The device's end, without a limit of the pool's. */
static void end_device(void)
{
	static char a[] = "a";
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	gpumem_pool *pool = new_pool(0);

	must(gpumem_device_memory(device, &memory));
	add(pool, note, a);
	must(gpumem_host_outside(0, memory.total_bytes - 8 * MIB));
	is_str(called_by(pool, 9 * MIB), "a", "the driver has no more");
	is_int(met.limit, GPUMEM_PRESSURE_DEVICE, "which is said");
	is_uint(met.limit_bytes, memory.total_bytes, "with what there is");
	must(gpumem_pool_set_limit(pool, 16 * MIB));
	is_str(called_by(pool, 9 * MIB), "a", "nor below a limit");
	is_int(met.limit, GPUMEM_PRESSURE_DEVICE, "which was not met");
	must(gpumem_host_outside(0, 0));
	must(gpumem_pool_destroy(pool, 0));
}

static void order(void)
{
	static char a[] = "a", b[] = "b", c[] = "c";
	gpumem_pool *pool = new_pool(8 * MIB);
	void *live = new_block(pool, 2 * MIB, NULL);

	is_str(called_by(pool, 4 * MIB), "", "no need, no call");
	said(gpumem_pool_pressure_remove(pool, note, a), GPUMEM_NOT_FOUND,
	     "removed before it was added");
	add(pool, note, a);
	add(pool, note, b);
	add(pool, note, c);
	is_str(called_by(pool, 4 * MIB), "", "still no need");
	is_str(called_by(pool, 8 * MIB), "abc", "in order of addition");
	is_uint(met.needed_bytes, 8 * MIB, "with the bytes needed");
	is_int(met.limit, GPUMEM_PRESSURE_HARD, "and the limit that was met");
	is_uint(met.limit_bytes, 8 * MIB, "with its value");
	is_uint(met.size, sizeof(met), "in a struct of its size");
	must(gpumem_pool_pressure_remove(pool, note, b));
	is_str(called_by(pool, 8 * MIB), "ac", "one taken out");
	add(pool, note, b);
	add(pool, note, a);
	is_str(called_by(pool, 8 * MIB), "acba", "put in again, and one twice");
	must(gpumem_pool_pressure_remove(pool, note, a));
	is_str(called_by(pool, 8 * MIB), "cba", "the first of the two goes");
	is_str(called_by(pool, SIZE_MAX), "", "no help for the impossible");
	is_str(called_by(pool, 9 * MIB), "", "nor for what exceeds the limit");
	must(gpumem_pool_pressure_remove(pool, note, a));
	must(gpumem_pool_pressure_remove(pool, note, b));
	must(gpumem_pool_pressure_remove(pool, note, c));
	said(gpumem_pool_pressure_remove(pool, note, c), GPUMEM_NOT_FOUND,
	     "nobody is left");
	is_str(called_by(pool, 8 * MIB), "", "nobody is called");
	must(gpumem_free(live, NULL));
	must(gpumem_pool_destroy(pool, 0));
}

/* ---- callbacks that do something ---- */

static void *spare;

static bool free_spare(gpumem_pool *pool,
		       const struct gpumem_pressure *pressure, void *answer)
{
	(void)pool;
	(void)pressure;
	must(gpumem_free(spare, NULL));
	spare = NULL;
	return *(bool *)answer;
}

static void helps(void)
{
	gpumem_pool *pool = new_pool(16 * MIB);
	bool yes = true;
	void *ptr = NULL;

	add(pool, free_spare, &yes);
	spare = new_block(pool, 10 * MIB, NULL);
	is_status(gpumem_alloc(pool, 12 * MIB, NULL, &ptr), GPUMEM_OK,
		  "a callback frees a block and the allocation succeeds");
	is_uint(stats_of(pool).retries, 1, "after one more try");
	is_uint(stats_of(pool).ooms, 0, "it is no failure");
	ok(spare == NULL && stats_of(pool).blocks.current == 1, "one is left");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

/* Everything that one may want to do there. */
static bool busy_bee(gpumem_pool *pool, const struct gpumem_pressure *pressure,
		     void *user)
{
	unsigned *count = user;
	struct gpumem_block found = GPUMEM_INIT(struct gpumem_block);
	void *ptr = new_block(pool, 1000, NULL);

	must(gpumem_query(ptr, &found));
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_trim(pool, 0, NULL));
	must(gpumem_pool_check(pool));
	(void)stats_of(pool);
	must(gpumem_pool_pressure_remove(pool, busy_bee, user));
	must(gpumem_pool_set_limit(pool, pressure->needed_bytes + 10 * MIB));
	++*count;
	return true;
}

static void does_everything(void)
{
	gpumem_pool *pool = new_pool(16 * MIB);
	unsigned count = 0;

	/* 1000 bytes need a page. */
	(void)new_block(pool, 10 * MIB, NULL);
	add(pool, busy_bee, &count);
	ok(new_block(pool, 16 * MIB, NULL) != NULL,
	   "a callback raises the limit");
	is_uint(count, 1, "called once");
	is_uint(stats_of(pool).limit_bytes, 26 * MIB, "by as much as it said");
	said(gpumem_pool_pressure_remove(pool, busy_bee, &count),
	     GPUMEM_NOT_FOUND, "it took itself out");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

/* One that runs out of memory itself is not asked to help itself. */
static bool needs_help(gpumem_pool *pool,
		       const struct gpumem_pressure *pressure, void *user)
{
	unsigned *count = user;
	void *ptr;

	if (++*count < 100 && gpumem_alloc(pool, pressure->needed_bytes, NULL,
					   &ptr) != GPUMEM_LIMIT)
		*count = 1000;
	return false;
}

static void no_endless_help(void)
{
	gpumem_pool *pool = new_pool(8 * MIB);
	unsigned count = 0;
	void *ptr, *live;

	live = new_block(pool, 2 * MIB, NULL);
	add(pool, needs_help, &count);
	said(gpumem_alloc(pool, 8 * MIB, NULL, &ptr), GPUMEM_LIMIT,
	     "a callback that fails too");
	is_uint(count, 1, "is called once");
	said(gpumem_alloc(pool, 8 * MIB, NULL, &ptr), GPUMEM_LIMIT, "again");
	is_uint(count, 2, "and once more");
	must(gpumem_free(live, NULL));
	must(gpumem_pool_destroy(pool, 0));
}

/* Two pools, each of whose callbacks needs memory of both. */
static gpumem_pool *both[2];
static unsigned asked[2];

static bool needs_both(gpumem_pool *pool,
		       const struct gpumem_pressure *pressure, void *user)
{
	void *ptr;

	(void)user;
	if (++asked[pool == both[1]] >= 100)
		return false;
	for (int i = 1; i >= 0; i--)
		if (gpumem_alloc(both[i], pressure->needed_bytes, NULL, &ptr) !=
		    GPUMEM_LIMIT)
			asked[i] = 1000;
	return false;
}

static void no_endless_help_of_two(void)
{
	void *ptr, *live[2];

	for (int i = 0; i < 2; i++) {
		both[i] = new_pool(8 * MIB);
		live[i] = new_block(both[i], 2 * MIB, NULL);
		add(both[i], needs_both, NULL);
	}
	said(gpumem_alloc(both[0], 8 * MIB, NULL, &ptr), GPUMEM_LIMIT,
	     "a callback that needs another pool");
	is_uint(asked[0], 1, "is called once, also after that pool's");
	is_uint(asked[1], 1, "and so is that pool's");
	for (int i = 0; i < 2; i++) {
		must(gpumem_free(live[i], NULL));
		must(gpumem_pool_destroy(both[i], 0));
	}
}

/* ---- the soft limit ---- */

static void soft_limit(void)
{
	static char a[] = "a";
	gpumem_pool *pool = new_pool(0);
	void *ptr;

	must(gpumem_pool_set_soft_limit(pool, 16 * MIB));
	must(gpumem_pool_set_limit(pool, 32 * MIB));
	add(pool, note, a);
	must(gpumem_free(new_block(pool, 12 * MIB, NULL), NULL));
	must(gpumem_pool_trim(pool, UINT64_MAX, NULL));
	must(gpumem_stream_sync(device, NULL));
	calls[0] = '\0';
	/* More than what is cached, so that this is of no use as it is. */
	ptr = new_block(pool, 14 * MIB, NULL);
	is_str(calls, "", "caches are given back first");
	ok(stats_of(pool).reserved.peak <= 16 * MIB, "and that is enough");
	is_str(called_by(pool, 4 * MIB), "a",
	       "then the program is asked before the pool grows");
	is_int(met.limit, GPUMEM_PRESSURE_SOFT, "for the soft limit");
	is_uint(met.limit_bytes, 16 * MIB, "which is this");
	is_uint(met.reserved_bytes, 14 * MIB, "and so much is reserved");
	ok(stats_of(pool).reserved.peak > 16 * MIB, "then it grows");
	is_uint(stats_of(pool).ooms, 0, "nothing failed");
	is_str(called_by(pool, 4 * MIB), "", "what is there is had for free");
	is_str(called_by(pool, 20 * MIB), "a",
	       "the hard limit asks once, not twice");
	is_uint(stats_of(pool).ooms, 1, "and is hard");
	ok(stats_of(pool).reserved.peak <= 32 * MIB, "never exceeded");
	must(gpumem_pool_set_soft_limit(pool, 0));
	must(gpumem_pool_trim(pool, 0, NULL));
	is_str(called_by(pool, 4 * MIB), "", "0 is none");
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_destroy(pool, 0));
}

static bool free_before_growing(gpumem_pool *pool,
				const struct gpumem_pressure *pressure,
				void *user)
{
	(void)pressure;
	(void)user;
	must(gpumem_free(spare, NULL));
	must(gpumem_pool_trim(pool, UINT64_MAX, NULL));
	must(gpumem_stream_sync(device, NULL));
	return true;
}

static void soft_helped(void)
{
	gpumem_pool *pool = new_pool(0);

	must(gpumem_pool_set_soft_limit(pool, 16 * MIB));
	spare = new_block(pool, 12 * MIB, NULL);
	add(pool, free_before_growing, NULL);
	(void)new_block(pool, 8 * MIB, NULL);
	ok(stats_of(pool).reserved.peak <= 16 * MIB,
	   "what the callback frees is used before the pool grows");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

/* ---- waiting ---- */

static struct gate gate;

static bool open_gate(gpumem_pool *pool, const struct gpumem_pressure *pressure,
		      void *user)
{
	(void)pool;
	(void)pressure;
	(void)user;
	gate_open(&gate);
	return false;
}

/* The block is pending until the last callback was asked. */
static void waits(bool wait)
{
	gpumem_stream other = new_stream();
	gpumem_pool *pool;
	void *ptr = NULL;

	must(gpumem_option_set("wait", wait ? "on" : "off"));
	pool = new_pool(16 * MIB);
	must(gpumem_option_set("wait", NULL));
	gate_launch(&gate, other, NULL, 0);
	ptr = new_block(pool, 12 * MIB, NULL);
	must(gpumem_use_on(ptr, other));
	must(gpumem_free(ptr, NULL));
	is_uint(stats_of(pool).pending_bytes, 12 * MIB, "a block is pending");
	if (wait) {
		add(pool, open_gate, NULL);
		is_status(gpumem_alloc(pool, 14 * MIB, NULL, &ptr), GPUMEM_OK,
			  "an allocation waits for it");
	} else {
		said(gpumem_alloc(pool, 14 * MIB, NULL, &ptr), GPUMEM_LIMIT,
		     "without option `wait` it fails");
		gate_open(&gate);
	}
	must(gpumem_stream_sync(device, other));
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_stream_destroy(device, other));
}

int main(void)
{
	open_device(120);
	order();
	end_device();
	helps();
	does_everything();
	no_endless_help();
	no_endless_help_of_two();
	soft_limit();
	soft_helped();
	waits(true);
	waits(false);
	is_uint(gpumem_host_used_bytes(0), 0, "the device is empty");
	must(gpumem_device_close(device));
	return done_testing();
}
