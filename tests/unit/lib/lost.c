/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A device that is lost in the middle of everything: each call afterwards says
 * so or does what it can, nothing hangs, and all of it can be destroyed. The
 * device may then be opened anew.
 */
#include "fixture.h"

static gpumem_pool *pool;
static gpumem_stream stream, other;

/* Live, cached, pending, used elsewhere; small and large. */
enum { LIVE_SMALL, LIVE_LARGE, SHARED_SMALL, SHARED_LARGE, COUNT };

static void *blocks[COUNT];
static struct gate gate;

static void set_up(void)
{
	void *pending_small, *pending_large;

	pool = new_pool(0);
	stream = new_stream();
	other = new_stream();
	for (int i = 0; i < COUNT; i++)
		blocks[i] = new_block(pool, i % 2 ? 3 * MIB : 1000, stream);
	must(gpumem_use_on(blocks[SHARED_SMALL], other));
	must(gpumem_use_on(blocks[SHARED_LARGE], other));
	pending_small = new_block(pool, 1000, stream);
	pending_large = new_block(pool, MIB, stream);
	gate_launch(&gate, other, NULL, 0);
	must(gpumem_free(pending_small, other));
	must(gpumem_free(pending_large, other));
	must(gpumem_free(new_block(pool, MIB, NULL), NULL));
	gate_open(&gate);
	must(gpumem_stream_sync(device, other));
}

/* The first call of the driver that fails says it; then all others do. */
static void lose(void)
{
	void *ptr = NULL;

	must(gpumem_host_faults("*@1+:lost"));
	said(gpumem_alloc(pool, 100 * MIB, stream, &ptr), GPUMEM_LOST,
	     "allocate from the driver");
	is_ptr(ptr, NULL, "no output is touched");
	/* The driver is well again; the device stays lost. */
	must(gpumem_host_faults(""));
}

static bool any_block(const struct gpumem_block *one, void *user)
{
	(void)one;
	++*(unsigned *)user;
	return true;
}

static void asks_the_driver(void)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	gpumem_stream made = NULL;
	uint64_t calls, released = 1;
	void *ptr;

	calls = gpumem_host_calls();
	said(gpumem_alloc(pool, 100 * MIB, NULL, &ptr), GPUMEM_LOST, "alloc");
	said(gpumem_alloc_aligned(pool, 100 * MIB, MIB, other, &ptr),
	     GPUMEM_LOST, "alloc_aligned");
	said(gpumem_pool_trim(pool, 0, &released), GPUMEM_LOST, "trim");
	is_uint(released, 0, "releases nothing");
	said(gpumem_device_memory(device, &memory), GPUMEM_LOST, "memory");
	said(gpumem_stream_create(device, &made), GPUMEM_LOST, "stream_create");
	said(gpumem_stream_sync(device, stream), GPUMEM_LOST, "stream_sync");
	said(gpumem_fill(device, blocks[0], 1, 10, stream), GPUMEM_LOST,
	     "fill");
	said(gpumem_copy(device, blocks[0], blocks[1], 10, stream), GPUMEM_LOST,
	     "copy");
	said(gpumem_pool_set_limit(pool, 4 * MIB), GPUMEM_LOST, "set_limit");
	said(gpumem_pool_drop_stream(pool, stream), GPUMEM_LOST, "drop_stream");
	said(gpumem_stream_destroy(device, stream), GPUMEM_LOST,
	     "stream_destroy");
	is_uint(gpumem_host_calls(), calls, "the driver is not asked again");
	ok(made == NULL, "no output is touched");
}

/* A pool that reserves no addresses needs no driver before its first block. */
static void no_new_pool(bool vm)
{
	gpumem_pool *more = NULL;
	void *ptr;

	if (vm) {
		said(gpumem_pool_create(device, NULL, &more), GPUMEM_LOST,
		     "create");
		said(gpumem_device_pool(device, &more), GPUMEM_LOST,
		     "default pool");
		is_ptr(more, NULL, "no output is touched");
		return;
	}
	must(gpumem_device_pool(device, &more));
	said(gpumem_alloc(more, 100, NULL, &ptr), GPUMEM_LOST, "default pool");
	must(gpumem_pool_create(device, NULL, &more));
	said(gpumem_alloc(more, 100, NULL, &ptr), GPUMEM_LOST, "new pool");
	is_status(gpumem_pool_destroy(more, 0), GPUMEM_OK, "destroy");
}

static void still_works(void)
{
	struct gpumem_block found = GPUMEM_INIT(struct gpumem_block);
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	struct gpumem_stats stats;
	unsigned visited = 0;
	const char *law;

	is_status(gpumem_device_get_info(device, &info), GPUMEM_OK, "info");
	is_str(info.name, "host:0", "its name is known");
	is_status(gpumem_query(blocks[LIVE_LARGE], &found), GPUMEM_OK, "query");
	is_ptr(found.ptr, blocks[LIVE_LARGE], "finds the block");
	is_status(gpumem_block_visit(pool, any_block, &visited), GPUMEM_OK,
		  "visit");
	ok(visited > 4, "sees the blocks");
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "check");
	stats = stats_of(pool);
	law = unlawful(&stats);
	ok(!law, "the law holds: %s", law ? law : "");
	is_uint(stats.blocks.current, COUNT, "%d blocks are live", COUNT);
	is_status(gpumem_pool_reset_stats(pool, GPUMEM_RESET_TOTALS), GPUMEM_OK,
		  "reset");
}

static void frees(void)
{
	is_status(gpumem_free(blocks[LIVE_SMALL], stream), GPUMEM_OK,
		  "a block may be freed");
	is_status(gpumem_free(blocks[SHARED_SMALL], stream), GPUMEM_OK,
		  "used elsewhere or not");
	is_status(gpumem_free(blocks[SHARED_LARGE], other), GPUMEM_OK,
		  "large or small");
	said(gpumem_free(blocks[LIVE_SMALL], stream), GPUMEM_BAD_POINTER,
	     "and not twice");
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "the pool is sound");
	is_uint(stats_of(pool).blocks.current, COUNT - 3, "the rest are live");
}

/* What a plugin keeps for an event would be lost with it otherwise. */
static void ends(void)
{
	uint64_t calls = gpumem_host_calls();

	said(gpumem_device_close(device), GPUMEM_BUSY, "a pool is left");
	said(gpumem_pool_destroy(pool, 0), GPUMEM_BUSY, "blocks are live");
	is_status(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE), GPUMEM_OK,
		  "the pool is forgotten");
	ok(gpumem_host_calls() > calls, "but its events are given back");
	said(gpumem_free(blocks[LIVE_LARGE], stream), GPUMEM_BAD_POINTER,
	     "its blocks too");
	is_status(gpumem_device_close(device), GPUMEM_OK, "close");
}

static void anew(void)
{
	must(gpumem_device_open("host:0", &device));
	pool = new_pool(0);
	must(gpumem_free(new_block(pool, 3 * MIB, NULL), NULL));
	is_uint(trim_all(pool, NULL, 0), 0, "a device opened anew works");
	must(gpumem_pool_destroy(pool, 0));
	is_uint(gpumem_host_used_bytes(0), 0, "and holds nothing old");
	must(gpumem_device_close(device));
}

/* Whichever call of the driver is the one that finds out. */
static void at_any_call(void)
{
	long last = scaled(200, 60), made = 0;

	for (long n = 1; n <= last; n++) {
		char fault[64];
		void *ptr[30];

		must(gpumem_device_open("host:0", &device));
		snprintf(fault, sizeof(fault), "*@%ld+:lost", n);
		must(gpumem_host_faults(fault));
		pool = NULL;
		if (gpumem_pool_create(device, NULL, &pool))
			goto close;
		for (size_t i = 0; i < 30; i++)
			if (gpumem_alloc(pool, i * i * 4 * KIB, NULL, &ptr[i]))
				ptr[i] = NULL;
		for (size_t i = 0; i < 30; i++)
			if (gpumem_free(ptr[i], NULL))
				ok(false, "a free failed at call %ld", n);
		(void)!gpumem_pool_trim(pool, 0, NULL);
		must(gpumem_pool_check(pool));
		must(gpumem_pool_destroy(pool, 0));
		made++;
	close:
		must(gpumem_device_close(device));
		must(gpumem_host_faults(""));
	}
	ok(made >= last - 10, "lost at any of %ld calls", last);
}

int main(void)
{
	bool vm;

	open_device(120);
	vm = has_vm();
	set_up();
	lose();
	asks_the_driver();
	no_new_pool(vm);
	still_works();
	frees();
	ends();
	anew();
	at_any_call();
	is_uint(gpumem_host_used_bytes(0), 0, "nothing is held");
	return done_testing();
}
