/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of a pool share that is looked at, used and changed while one
 * of its threads grows it: its mutex is free during the driver's calls. The
 * driver of these tests lets another thread run in the middle of such a call,
 * to its end; then the call succeeds or is refused. No clock, and no chance.
 * Each test program includes this once. Only the main thread calls what is
 * here, and what runs in the middle of its calls.
 */
#ifndef POOL_LET_GO_H
#define POOL_LET_GO_H

#include "loader/loader.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/option.h"
#include "pool/pool.h"
#include "../device/hooked.h"
#include <gpumem/host.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define PAGE (2 * MIB)
#define LET_USE __attribute__((unused)) static

static const char *last_text(void)
{
	static _Thread_local struct gpumem_error error;

	error.size = sizeof(error);
	gm_error_get(&error);
	return error.text;
}

#define must(call)                                                             \
	do {                                                                   \
		if (call)                                                      \
			bail("line %d: %s: %s", __LINE__, #call, last_text()); \
	} while (0)

static struct gpumem_device *device;
static struct gpumem_pool *pool;
static const char *slot; /* in which things happen */
static gpumem_stream stream;

/* ---- the driver ---- */

/* In the next call of the slot by this thread fn runs in another one, and then
 * the call is refused or not. */
static struct {
	const char *slot;
	unsigned skip; /* so many calls before */
	void (*fn)(void);
	gpumem_status refuse;
} next;

static _Thread_local bool is_main;
/* Calls by other threads that create, map or allocate. */
static _Atomic unsigned created;

static void *run_fn(void *unused)
{
	void (*fn)(void) = next.fn;

	(void)unused;
	fn();
	gm_locals_end_call();
	return NULL;
}

static bool grows(const char *call)
{
	return !strcmp(call, "page_create") || !strcmp(call, "map") ||
	       !strcmp(call, "alloc");
}

static gpumem_status meanwhile(const char *call, size_t count)
{
	pthread_t thread;

	(void)count;
	if (!is_main && grows(call))
		atomic_fetch_add(&created, 1);
	if (!is_main || !next.slot || strcmp(next.slot, call) != 0)
		return GPUMEM_OK;
	if (next.skip && next.skip--)
		return GPUMEM_OK;
	next.slot = NULL;
	if (next.fn && pthread_create(&thread, NULL, run_fn, NULL))
		bail("no thread");
	if (next.fn)
		pthread_join(thread, NULL);
	return next.refuse;
}

static void expect(void (*fn)(void), gpumem_status refuse)
{
	next.slot = slot;
	next.fn = fn;
	next.refuse = refuse;
	atomic_store(&created, 0);
}

static void is_over(void)
{
	ok(!next.slot, "%s: it happened", slot);
}

/* ---- the pool ---- */

static void pool_start(uint64_t limit_bytes)
{
	const struct gpumem_pool_config config = {.size = sizeof(config),
						  .limit_bytes = limit_bytes};

	must(gm_pool_create(device, &config, NULL, &pool));
}

static void pool_end(void)
{
	must(gm_pool_destroy(pool, false));
	is_uint(gpumem_host_used_bytes(0), 0, "%s: nothing is left", slot);
}

static gpumem_status allocate(size_t bytes, gpumem_stream on, void **ptr_out)
{
	const struct gm_request request = {
		.bytes = bytes, .alignment = 1, .stream = on};

	return gm_pool_alloc(pool, &request, ptr_out);
}

LET_USE void *block(size_t bytes)
{
	void *ptr;

	must(allocate(bytes, NULL, &ptr));
	return ptr;
}

static void give(void *ptr)
{
	must(gm_heap_free_own(ptr));
}

static void sound(const char *what)
{
	if (!is_status(gm_pool_check(pool), GPUMEM_OK, "%s: %s", slot, what))
		diag("%s", last_text());
}

LET_USE uint64_t reserved(void)
{
	struct gpumem_stats stats;

	gm_pool_stats(pool, &stats);
	return stats.reserved.current;
}

LET_USE void trim(void)
{
	uint64_t released;

	must(gm_heap_trim(&pool->heap, 0, &released));
}

/* ---- the test ---- */

static void let_go_start(void)
{
	const struct gm_backend *host;

	alarm(60);
	is_main = true;
	gm_fork_init();
	must(gm_backend_find("host", &host));
	must(gm_option_set("host.capacity", "8GiB"));
	must(gm_device_open("host:0", &device));
	must(gm_stream_create(device, &stream));
	hook_driver(device, (struct hooks){meanwhile, NULL});
}

/* In each call by which a pool grows, with and without virtual memory. */
static void in_each_slot(void (*test)(bool pool_has_pages))
{
	static const char *const slots[] = {"page_create", "map", "alloc"};

	for (int i = 0; i < 3; i++) {
		slot = slots[i];
		must(gm_option_set("vm", i < 2 ? "on" : "off"));
		test(i < 2);
	}
	must(gm_option_set("vm", NULL));
	slot = slots[0];
}

#endif
