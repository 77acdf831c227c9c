/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Time as the tests of decay invent it: somebody is there each millisecond, and
 * looks whether the heap is sound. Each test program includes this once.
 */
#ifndef HEAP_DECAY_H
#define HEAP_DECAY_H

#include "fixture.h"

#define PAGE (2 * MIB)
#define MS ((uint64_t)1000 * 1000)

enum { PERIOD_MS = 800, TICK_MS = PERIOD_MS / GM_DECAY_TICKS };

static struct gm_arena *arena;
static uint64_t now_ms;
static unsigned unsound;

HEAP_USE void restart(const char *vm)
{
	if (arena)
		heap_end();
	option("vm", vm);
	heap_start();
	arena = arena_of(NULL);
	now_ms = 5000;
	unsound = 0;
}

HEAP_USE void step(void)
{
	bool leaving;

	pthread_mutex_lock(&heap.mutex);
	(void)gm_decay_step(&heap, now_ms * MS);
	leaving = heap.space->releasing_bytes > 0;
	pthread_mutex_unlock(&heap.mutex);
	if (leaving || heap_check()) {
		if (!unsound++)
			diag("at %" PRIu64 " ms: %s", now_ms, last_text());
	}
}

/* Somebody is there each millisecond. Returns when `reserved` first fell, or
 * the end. */
HEAP_USE uint64_t pass(uint64_t until_ms)
{
	uint64_t fell_ms = until_ms, before = heap.counters.reserved.current;

	for (; now_ms < until_ms; now_ms++) {
		step();
		if (fell_ms == until_ms &&
		    heap.counters.reserved.current < before)
			fell_ms = now_ms;
	}
	return fell_ms;
}

/* Nobody looks at the caches meanwhile: that folds them in. */
HEAP_USE void pass_unseen(uint64_t until_ms)
{
	pthread_mutex_lock(&heap.mutex);
	for (; now_ms < until_ms; now_ms++)
		(void)gm_decay_step(&heap, now_ms * MS);
	pthread_mutex_unlock(&heap.mutex);
}

#endif
