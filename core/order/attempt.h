/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * One attempt to get memory: what it may do, what it has heard, and what it
 * came to. It lies on the stack of the thread that makes it, and is handed
 * down; nothing of it is in the heap, so that nobody else acts by it while the
 * mutex is free. What is asked for is not in it: that is heap/ladder.h's.
 *
 * Where a function takes NULL, that is for all who make no attempt: they ask
 * each time, and may no more than any.
 *
 * Within a search each stream is asked once whether it is being captured, and
 * each that is busy whether it is done: an answer may be out of date as soon as
 * it is there, so it is as good for all that the search does. The arenas keep
 * the answers with the number of the newest search, whoever asks: a search that
 * let go of the mutex has a new number when it goes on.
 *
 * Its thread alone uses it; the heap's mutex guards the numbers.
 */
#ifndef GM_ORDER_ATTEMPT_H
#define GM_ORDER_ATTEMPT_H

#include "extent/heap_core.h"

struct gm_attempt {
	/* What it may do. */
	bool beyond_soft; /* exceed the soft limit */
	bool no_wait;	  /* no call that waits: GPUMEM_ALLOC_NO_WAIT */
	bool follows;	  /* its growth may end for want of short_pages */
	bool waits;	  /* its growth may end for want of places */
	/* What had to be done first: it is served by that. CACHE: nothing. */
	enum gpumem_served after;

	/* What it has heard. */
	uint64_t search; /* the number of the one under way; 0: none */
	/* In that one, without virtual memory: see gm_arena_fit(). */
	bool sparing;
	bool spares_busy;      /* what streams are at work on, too */
	uint64_t spared_bytes; /* segments that are larger */

	/* What it came to. */
	bool drained; /* it has waited for unused segments */
	/* Since its stream may get them from others, behind their work. 0: the
	 * last growth ended otherwise. */
	size_t short_pages;
	bool short_places;   /* so it ended: work has to be waited for */
	bool device_limited; /* it was short of the device's limit */
	bool over;	     /* the limit of a tag refused it, or it exceeds
				the pool's: no memory that becomes free would
				help */
	bool full;	     /* live blocks are in its way: nothing helps but
				that some are freed */
	bool grown;	     /* it took a call of the driver for memory */
	enum gpumem_served made_of; /* by a growth */
	enum gpumem_served served;  /* what the block is from */
	uint64_t completions;	    /* of the order, when it began */
	uint64_t releases;	    /* of the space, when it ended */
};

/* Its number; NULL: 0. */
static inline uint64_t gm_attempt_search(const struct gm_attempt *attempt)
{
	return attempt ? attempt->search : 0;
}

/* A search begins: one is under way until the second. */
void gm_search_begin(struct gm_heap *heap, struct gm_attempt *attempt);
void gm_search_end(struct gm_attempt *attempt);
/* After a time without the mutex: what was answered before counts no more. */
void gm_search_renew(struct gm_heap *heap, struct gm_attempt *attempt);

#endif
