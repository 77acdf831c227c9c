/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What the two tables of the ladder share; see ladder.h. */
#ifndef GM_HEAP_RUNGS_H
#define GM_HEAP_RUNGS_H

#include "heap.h"

/* Which flags of an allocation leave a row out. */
enum { NO_WAIT = GPUMEM_ALLOC_NO_WAIT, NO_GROW = GPUMEM_ALLOC_NO_GROW };

/* May an allocation have its stream wait for another's work? As the host's
 * waiting that goes by option `wait`: whoever has work on a stream that waits
 * for later work of another must not have them ordered. */
static inline bool gm_may_follow(const struct gm_heap *heap, uint32_t flags)
{
	return heap->policy->wait && !(flags & NO_WAIT) &&
	       gm_device_has(heap->driver.device, GPUMEM_CAP_STREAMS);
}

/* A row goes to the log, and which flags leave it out. */
void gm_rung_tell(const struct gm_heap *heap, const char *table,
		  unsigned number, const char *name, uint32_t left_out);

/* What served an allocation does, at level debug. */
void gm_rung_tell_served(const struct gm_heap *heap, enum gpumem_served served,
			 size_t bytes);

void gm_sources_tell(const struct gm_heap *heap);
void gm_helps_tell(const struct gm_heap *heap);

#endif
