/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of the heap's rooms share: the device host:0, one heap on it,
 * streams that are held busy, and blocks without a pool. A heap is used here as
 * the pool above it would: under its mutex only where there are threads. Each
 * test program includes this once.
 */
#ifndef HEAP_FIXTURE_H
#define HEAP_FIXTURE_H

#include "base/error.h"
#include "base/fork.h"
#include "base/option.h"
#include "device/driver.h"
#include "loader/loader.h"
#include "cache/hot.h"
#include "extent/map.h"
#include "heap/heap.h"
#include "pages/handle.h"
#include "segments/segments.h"
#include "../../tap.h"
#include <gpumem/host.h>
#include <pthread.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define HEAP_USE __attribute__((unused)) static

/* The thread's cache, for a block that has nothing more than its size. */
#define gm_local_alloc(heap, bytes, stream)                                    \
	gm_hot_alloc(heap, bytes, stream, 0, GM_HOT_PLAIN)
#define gm_local_free(ptr, stream) gm_hot_free(ptr, false, stream, GM_HOT_PLAIN)

static struct gpumem_device *device;
static struct gm_heap heap;

HEAP_USE const char *last_text(void)
{
	static struct gpumem_error error;

	error.size = sizeof(error);
	gm_error_get(&error);
	return error.text;
}

/* For what is no test's subject. */
#define must(call)                                                             \
	do {                                                                   \
		if (call)                                                      \
			bail("%s: %s", #call, last_text());                    \
	} while (0)

/* Options live until they are set again; value NULL: the default. */
HEAP_USE void option(const char *key, const char *value)
{
	const struct gm_backend *host;

	gm_fork_init();
	must(gm_backend_find("host", &host));
	must(gm_option_set(key, value));
}

HEAP_USE void device_start(void)
{
	option("host.capacity", "64MiB");
	must(gm_device_open("host:0", &device));
}

/* The slab that the arena would take a slot from, but for an empty one. */
HEAP_USE struct gm_slab *partial_of(const struct gm_arena *arena,
				    unsigned class_index)
{
	struct gm_slab *slab = NULL;

	for (unsigned i = 0; arena->slabs && i < GM_SLAB_LEVELS && !slab; i++)
		slab = arena->slabs->partial[class_index][i];
	return slab;
}

HEAP_USE void device_end(void)
{
	is_uint(atomic_load(&device->reserved_bytes), 0,
		"the device has nothing reserved");
	gm_device_release(device);
	is_uint(gpumem_host_used_bytes(0), 0, "nothing of the device is used");
}

HEAP_USE void heap_start_with(uint64_t limit_bytes, uint64_t page_bytes)
{
	const struct gm_heap_config config = {.limit_bytes = limit_bytes,
					      .page_bytes = page_bytes};

	must(gm_heap_init(&heap, device, &config));
}

HEAP_USE void heap_start(void)
{
	heap_start_with(0, 0);
}

HEAP_USE void heap_end(void)
{
	if (gm_heap_fini(&heap) || gpumem_host_used_bytes(0) ||
	    atomic_load(&device->reserved_bytes))
		bail("the heap leaves %llu bytes behind: %s",
		     (unsigned long long)gpumem_host_used_bytes(0),
		     last_text());
}

/* Set by a test whose threads grow the heap beside each other: who comes second
 * gets nothing, and begins anew. */
static bool heap_shared;

/* What growing makes is free memory of the arena where the request fits, and
 * the only one. */
HEAP_USE gpumem_status heap_grow_as(struct gm_attempt *attempt,
				    struct gm_heap *of, struct gm_arena *arena,
				    size_t bytes, size_t alignment)
{
	struct gm_extent *none = gm_arena_fit(arena, NULL, bytes, alignment);
	struct gm_extent *made = NULL;
	gpumem_status status;
	/* Growing releases the mutex, which the test may hold. */
	bool mine = !pthread_mutex_trylock(&of->mutex);

	status = gm_space_grow(of, attempt, arena, bytes, alignment, &made);
	if (mine)
		pthread_mutex_unlock(&of->mutex);

	if (heap_shared && status == GPUMEM_OK)
		return status;
	if (status ? made != NULL
		   : !made || !gm_extent_is(made, GM_EXTENT_FREE) ||
			     (!none && made != gm_arena_fit(arena, NULL, bytes,
							    alignment)))
		bail("growing by %zu bytes does not give what it made", bytes);
	return status;
}

/* For an attempt that may no more than any. */
HEAP_USE gpumem_status heap_grow(struct gm_heap *of, struct gm_arena *arena,
				 size_t bytes, size_t alignment)
{
	struct gm_attempt attempt = {0};

	return heap_grow_as(&attempt, of, arena, bytes, alignment);
}

/* A trim gives the mutex up while it calls the driver. */
HEAP_USE gpumem_status heap_trim(uint64_t keep_bytes)
{
	gpumem_status status;

	pthread_mutex_lock(&heap.mutex);
	status = gm_space_trim(&heap, keep_bytes);
	pthread_mutex_unlock(&heap.mutex);
	return status;
}

/* As gm_pool_check(): every cache stopped and folded in. */
HEAP_USE gpumem_status heap_check(void)
{
	gpumem_status status;

	pthread_mutex_lock(&heap.mutex);
	gm_locals_stop(&heap);
	gm_locals_fold(&heap);
	status = gm_heap_check(&heap);
	gm_locals_go(&heap);
	pthread_mutex_unlock(&heap.mutex);
	return status;
}

#define sound(...)                                                             \
	do {                                                                   \
		if (!is_status(heap_check(), GPUMEM_OK, __VA_ARGS__))          \
			diag("%s", last_text());                               \
	} while (0)

/* Nothing may be unused, of what was never more than now. */
HEAP_USE void no_waste(void)
{
	heap.space->budget.waste = 0;
	heap.counters.highest_allocated = heap.counters.allocated.current;
}

HEAP_USE void set_limit(uint64_t bytes)
{
	heap.space->budget.limit_bytes = bytes;
}

/* What is reserved, if counters, heap and device agree on it. */
HEAP_USE uint64_t heap_reserved(void)
{
	uint64_t bytes = heap.counters.reserved.current;

	return bytes == gpumem_host_used_bytes(0) &&
			       bytes == atomic_load(&device->reserved_bytes)
		       ? bytes
		       : UINT64_MAX;
}

HEAP_USE struct gm_extent *next_of(const struct gm_extent *extent)
{
	return gm_extent_next(&heap.nodes, extent);
}

/* Calls that the heap has made of a slot. */
HEAP_USE uint64_t calls(enum gpumem_call call)
{
	return atomic_load(&heap.driver.calls[call].count);
}

HEAP_USE struct gm_arena *arena_of(gpumem_stream stream)
{
	struct gm_arena *arena;

	arena = gm_arena_find(&heap, stream);
	if (!arena)
		must(gm_arena_create(&heap, stream, NULL, &arena));
	return arena;
}

HEAP_USE gpumem_stream stream_new(void)
{
	gpumem_stream stream;

	must(gm_stream_create(device, &stream));
	return stream;
}

/* ---- work that lasts until it is told to end ---- */

struct hold {
	pthread_mutex_t mutex;
	pthread_cond_t more;
	bool ended;
};

#define HOLD                                                                   \
	{                                                                      \
		PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false     \
	}

HEAP_USE void hold_run(void *arg)
{
	struct hold *hold = arg;

	pthread_mutex_lock(&hold->mutex);
	while (!hold->ended)
		pthread_cond_wait(&hold->more, &hold->mutex);
	pthread_mutex_unlock(&hold->mutex);
}

HEAP_USE void hold_begin(struct hold *hold, gpumem_stream stream)
{
	*hold = (struct hold)HOLD;
	must(gpumem_host_launch(0, stream, hold_run, hold));
}

HEAP_USE void hold_let_go(struct hold *hold)
{
	pthread_mutex_lock(&hold->mutex);
	hold->ended = true;
	pthread_cond_signal(&hold->more);
	pthread_mutex_unlock(&hold->mutex);
}

/* The stream's work up to here is over when this returns. */
HEAP_USE void hold_end(struct hold *hold, gpumem_stream stream)
{
	hold_let_go(hold);
	must(gm_stream_sync(device, stream));
}

/* ---- chance: xorshift64*, the same in every run ---- */

static uint64_t chance_state = 0x9e3779b97f4a7c15u;

HEAP_USE uint64_t chance(uint64_t below)
{
	chance_state ^= chance_state >> 12;
	chance_state ^= chance_state << 25;
	chance_state ^= chance_state >> 27;
	return (chance_state * 0x2545f4914f6cdd1du >> 11) % below;
}

#include "blocks.h"

#endif
