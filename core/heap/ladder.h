/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The ladder: what is tried, and in which order, between "the thread's cache
 * has none" and "out of memory". ladder.c has it as two lists, to be read from
 * top to bottom: the sources of free memory, under the heap's mutex, and what
 * helps when they have none, with nothing locked, after which they are tried
 * again. How much waste is allowed before memory is moved rather than taken is
 * in vm/budget.c.
 */
#ifndef GM_HEAP_LADDER_H
#define GM_HEAP_LADDER_H

#include "order/order.h"

/* What is asked of a heap. */
struct gm_request {
	size_t bytes;	  /* > 0 */
	size_t alignment; /* a power of two; blocks have at least the unit's */
	gpumem_stream stream;
};

/* What whoever made the heap can do for it. Called with nothing locked. */
struct gm_helpers {
	/* Gives back what the device's other heaps have to spare. */
	void (*trim_others)(struct gm_heap *heap);
	/* Asks the program; true: it may have helped. */
	bool (*ask_program)(struct gm_heap *heap, uint64_t needed_bytes);
};

/* An extent of exactly `bytes` out of the arena's free memory, found or made;
 * in no index. *grown_out is set if it took a call of the driver for memory.
 * Under the mutex. OK, LIMIT, NO_MEMORY, NO_HOST_MEMORY, or the driver's word.
 */
gpumem_status gm_ladder_take(struct gm_arena *arena, size_t bytes,
			     size_t alignment, bool *grown_out,
			     struct gm_extent **extent_out);

/* Helps an attempt that failed with LIMIT or NO_MEMORY, and makes others, until
 * one does not or nothing is left to try; returns the last one's status. */
gpumem_status gm_ladder_climb(struct gm_heap *heap,
			      const struct gm_request *request,
			      gpumem_status status, void **ptr_out);

/* alloc.c: one attempt. *leaves_out: how much had left the heap by then. */
gpumem_status gm_heap_attempt(struct gm_heap *heap,
			      const struct gm_request *request,
			      bool beyond_soft, uint64_t *leaves_out,
			      void **ptr_out);

/* Both lists go to the log, at level debug. */
void gm_ladder_tell(const struct gm_heap *heap);

#endif
