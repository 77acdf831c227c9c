/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How much a heap may reserve: here the limits are enforced, and here is said
 * how much waste is allowed before memory is moved rather than taken.
 *
 * The heap's mutex guards it.
 */
#ifndef GM_VM_BUDGET_H
#define GM_VM_BUDGET_H

#include "extent/heap_core.h"

struct gm_budget {
	uint64_t limit_bytes, soft_limit_bytes; /* 0: none */
	bool beyond_soft; /* the soft limit is no limit for this attempt */
	double waste, waste_max; /* constant: fractions of highest_active */
	uint64_t toll_handles;	 /* moved, since a trim */
	uint64_t returned_bytes; /* all that ever went back to the driver */
};

/* OK when a pool can work with these limits, else INVALID: the hard one is less
 * than the driver has to give for one block, or than the soft one. */
gpumem_status gm_limits_judge(const struct gm_heap *heap, uint64_t soft_bytes,
			      uint64_t limit_bytes);

/* How much the driver has to give for a request: whole pages, or a segment. */
uint64_t gm_budget_need(const struct gm_heap *heap, uint64_t bytes);

/* How much more may be reserved; OK when so much may, or LIMIT with a sentence.
 */
uint64_t gm_limit_room(const struct gm_heap *heap);
gpumem_status gm_limit_check(const struct gm_heap *heap, uint64_t bytes);

/* What may be reserved before memory is moved rather than taken, if `bytes`
 * more become active. */
uint64_t gm_budget_target(const struct gm_heap *heap, uint64_t bytes);

/* May so much more be reserved whatever the waste? */
bool gm_budget_has_slack(const struct gm_heap *heap, uint64_t bytes);

/* How many pages the largest of the new handles covers where so many pages are
 * to be mapped. */
size_t gm_budget_handle_pages(const struct gm_heap *heap, size_t pages);

/* The writers of `reserved`; of device memory the device's sum follows. */
void gm_budget_reserve(struct gm_heap *heap, uint64_t bytes, uint64_t segments);
void gm_budget_unreserve(struct gm_heap *heap, uint64_t bytes,
			 uint64_t segments);

#endif
