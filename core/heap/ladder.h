/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The ladder: what an allocation tries, and in which order, between a miss in
 * the thread's cache and "out of memory". It is two tables, read from top to
 * bottom: the sources of free memory (sources.c), tried under the heap's mutex;
 * and what helps when all of them fail (helps.c: trim, callbacks, soft limit,
 * waiting), done without a lock, after each of which the sources are tried
 * again. Each row says which flags of an allocation leave it out.
 *
 * The last source, gm_space_grow(), steals pages from other free extents or
 * takes memory from the driver; which of the two comes first, and the limit,
 * are space/budget.h's.
 */
#ifndef GM_HEAP_LADDER_H
#define GM_HEAP_LADDER_H

#include "order/order.h"

/* One allocation. */
struct gm_request {
	size_t bytes;	  /* > 0 */
	size_t alignment; /* a power of two; blocks have at least the unit's */
	gpumem_stream stream;
	uint32_t flags; /* GPUMEM_ALLOC_NO_WAIT and _NO_GROW mean something */
	uint32_t tag;	/* of the block; 0: none */
	bool larger;	/* if small, any slot or a large block will do */
	uint64_t *holds_out; /* what the block holds, if that is not what
				gm_heap_usable() says; NULL: nobody asks */
	const struct gm_stack *stack; /* NULL: nobody asked for it */
	struct gm_tag_over *over; /* what refused it, if that was the limit of a
				     tag; NULL: nobody asks */
	bool *device_limit_out;	  /* set: it was the device's, device/claim.h;
				     NULL: nobody asks */
};

/* It gets a slot of a slab. */
static inline bool gm_request_is_small(const struct gm_request *request)
{
	return request->bytes <= GM_SMALL_MAX &&
	       request->alignment <= GM_SMALL_MAX;
}

/* What an allocation needs of its arena: an extent of exactly so many bytes. */
struct gm_want {
	size_t bytes, alignment;
	uint32_t flags;		      /* of the request */
	const struct gm_class *class; /* of the slots in it; NULL: a block */
};

/* Callbacks of the module above. Called without a lock. */
struct gm_helpers {
	/* Trims the device's other heaps. */
	void (*trim_others)(struct gm_heap *heap);
	/* Waits for the oldest work that their free memory waits for, and trims
	 * them; true: there was some, so *waited_out, or they gave something
	 * back. */
	bool (*wait_for_others)(struct gm_heap *heap, bool *waited_out);
	/* Runs the program's pressure callbacks, since an attempt gave LIMIT or
	 * NO_MEMORY; true: try again. */
	bool (*ask_program)(struct gm_heap *heap, uint64_t needed_bytes,
			    gpumem_status why);
};

/* Such an extent out of the arena's free memory, found or made; in no index.
 * Under the mutex, which is released where gm_space_grow() does. OK, LIMIT,
 * NO_MEMORY, NO_HOST_MEMORY, or the driver's error. OK without an extent: begin
 * anew.
 */
gpumem_status gm_ladder_take(struct gm_arena *arena, struct gm_attempt *attempt,
			     const struct gm_want *want,
			     struct gm_extent **extent_out);

/* After an attempt that failed with LIMIT or NO_MEMORY: works through the
 * second table and attempts again, until an attempt gives another status or the
 * table ends, or one is over. attempt: that one, and then the last, whose
 * status it returns. Without the mutex. */
gpumem_status gm_ladder_climb(struct gm_heap *heap, struct gm_attempt *attempt,
			      const struct gm_request *request,
			      gpumem_status status, void **ptr_out);

/* want.c: what an allocation needs of its arena when no cache has anything:
 * for a small one, a run of slots. */
struct gm_want gm_heap_want(const struct gm_heap *heap,
			    const struct gm_request *request);

/* take.c: whose free memory is for it. OK or NO_HOST_MEMORY. Under the mutex.
 */
gpumem_status gm_heap_arena(struct gm_heap *heap,
			    const struct gm_request *request,
			    struct gm_arena **arena_out);
/* A block, from what the sources have. Under the mutex, which may be
 * released meanwhile. */
gpumem_status gm_heap_take(struct gm_heap *heap, struct gm_attempt *attempt,
			   const struct gm_request *request, void **ptr_out);

/* alloc.c: one attempt; the last one's is begun anew, but for what it may do.
 */
gpumem_status gm_heap_attempt(struct gm_heap *heap, struct gm_attempt *attempt,
			      const struct gm_request *request, void **ptr_out);

/* Both lists, and what each flag leaves out of them, go to the log, at level
 * debug. */
void gm_ladder_tell(const struct gm_heap *heap);

#endif
