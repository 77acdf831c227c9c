/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Where the ladder puts a block. Beside fixture.h. */
#ifndef HEAP_SERVED_H
#define HEAP_SERVED_H

#include "fixture.h"
#include "heap/ladder.h"

/* For the arena; it is free again afterwards. *grown_out: the heap has grown.
 */
HEAP_USE uintptr_t served_at(struct gm_arena *of, size_t bytes, bool *grown_out)
{
	const struct gm_want want = {.bytes = bytes, .alignment = heap.unit};
	struct gm_extent *extent;
	struct gm_attempt attempt = {0};
	uintptr_t address;

	/* Growing releases it. */
	pthread_mutex_lock(&heap.mutex);
	must(gm_ladder_take(of, &attempt, &want, &extent));
	*grown_out = attempt.grown;
	address = extent->address;
	(void)gm_arena_insert(of, extent);
	pthread_mutex_unlock(&heap.mutex);
	return address;
}

#endif
