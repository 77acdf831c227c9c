/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How much a heap may reserve. The limit is enforced here: each file that takes
 * memory from the driver (supply.c, segment.c) calls gm_limit_check() or
 * gm_limit_room() first, under the mutex, and gm_budget_reserve() after; so
 * reserved <= limit at every instant. And how much free memory a heap may leave
 * unused before it moves pages rather than take more: gm_budget_target().
 *
 * The heap's mutex guards it.
 */
#ifndef GM_SPACE_BUDGET_H
#define GM_SPACE_BUDGET_H

#include "order/attempt.h"

struct gm_budget {
	uint64_t limit_bytes, soft_limit_bytes; /* 0: none */
	bool met_limit; /* a growth has needed more than the limit left, or
			   than the driver had */
	double waste, waste_max; /* constant: fractions of highest_allocated */
	double stream_waste;	 /* the same, before a stream waits */
	double limited_stream_waste; /* the same, in a heap with a limit */
	uint64_t migrated_handles;   /* since a trim */
	uint64_t highest_reserved;   /* of all time */
	uint64_t segment_wait_ns;    /* see segments/drain.c; 0: no more */
	/* Reserved when the driver had no more, until more is; or 0. */
	uint64_t refused_bytes;
	uint64_t returned_bytes;  /* all that ever went back to the driver */
	int64_t exchanged_blocks; /* see gm_budget_may_exchange() */
};

/* Options `waste` or `segment_waste`, `waste_max` and `stream_waste`. */
void gm_budget_read_options(struct gm_heap *heap);

/* OK when a pool can work with these limits, else INVALID: the hard one is less
 * than the driver has to give for one block, or than the soft one. */
gpumem_status gm_limits_judge(const struct gm_heap *heap, uint64_t soft_bytes,
			      uint64_t limit_bytes);

/* How much the driver has to give for a request: whole pages, or a segment. */
uint64_t gm_budget_need(const struct gm_heap *heap, uint64_t bytes);

/* What an attempt says is whether it may exceed the soft limit. */

/* The limit now; UINT64_MAX: none. */
uint64_t gm_limit_bytes(const struct gm_heap *heap,
			const struct gm_attempt *attempt);
/* The hard one; UINT64_MAX: none. And so many bytes, with what it leaves of
 * those that the driver has. */
uint64_t gm_limit_hard(const struct gm_heap *heap);
uint64_t gm_limit_beside(const struct gm_heap *heap, uint64_t bytes,
			 uint64_t driver_bytes);
/* How much more may be reserved; OK when so much may, or LIMIT with a sentence.
 */
uint64_t gm_limit_room(const struct gm_heap *heap,
		       const struct gm_attempt *attempt);
gpumem_status gm_limit_check(const struct gm_heap *heap,
			     const struct gm_attempt *attempt, uint64_t bytes);

/* The peak, if so much more is allocated. What is pending is no part of it: the
 * program has freed that. */
uint64_t gm_budget_high(const struct gm_heap *heap, uint64_t bytes);

/* Up to how many reserved bytes memory is taken from the driver rather than
 * moved, if `bytes` more are allocated. */
uint64_t gm_budget_target(const struct gm_heap *heap, uint64_t bytes);

/* The same before a stream waits for the work of another, whose memory it gets.
 */
uint64_t gm_budget_stream_target(const struct gm_heap *heap,
				 const struct gm_attempt *attempt,
				 uint64_t bytes);
/* What asking the driver for memory came to. At the limit of the device it has
 * no more, as far as the heap goes: what other pools have to spare helps. */
gpumem_status gm_budget_answer(struct gm_attempt *attempt,
			       gpumem_status status);
/* The driver has no more, as of now. */
void gm_budget_refuse(struct gm_heap *heap);

/* The only writers of `reserved`; for device memory they update the device's
 * sum too. */
void gm_budget_reserve(struct gm_heap *heap, uint64_t bytes, uint64_t segments);
void gm_budget_unreserve(struct gm_heap *heap, uint64_t bytes,
			 uint64_t segments);

#endif
