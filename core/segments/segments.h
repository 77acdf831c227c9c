/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory of segments: the model of a heap without virtual memory
 * (space/space.h), and what it does beyond that. A segment is a raw allocation
 * of the driver. It stays where it is and goes back whole, so what counts is
 * that few are cut: an unused one is spared (order/arena.h), goes back for
 * another of the right size (exchange.c), or is waited for (drain.c). What a
 * large block leaves of its segment small ones do not cut either.
 *
 * The heap's mutex guards it.
 */
#ifndef GM_SEGMENTS_SEGMENTS_H
#define GM_SEGMENTS_SEGMENTS_H

#include "order/order.h"
#include "space/space.h"

extern const struct gm_model gm_segments;

/* Where what is spared would do for so much: may another segment be taken? If
 * that is waste, an unused one goes back for it: that costs calls, so not for
 * ever so often; and not while it cannot go. One in use stays, so that it can
 * go later. May ask the driver. */
bool gm_segment_may_exchange(struct gm_heap *heap,
			     const struct gm_attempt *attempt,
			     const struct gm_extent *spared, uint64_t bytes);

/* Rather than reserve more than ever, the host waits for work on segments of
 * which nothing is used, for `segment_wait_ms` at most: once in an attempt.
 * True: it has, with the mutex released meanwhile. */
bool gm_segments_drain(struct gm_heap *heap, struct gm_attempt *attempt,
		       size_t bytes, size_t alignment);

/* So large is a new segment at least; and larger than this is one that is
 * spared while nothing of it is used. */
uint64_t gm_budget_segment(const struct gm_heap *heap);
uint64_t gm_budget_spared(const struct gm_heap *heap);
/* An exchange: a segment of so many bytes is taken beyond the waste, although
 * something free would do, and an unused one goes back for it. It takes calls
 * of the driver, and so each has to wait for a number of allocations. May there
 * be one now? The second counts one, also where nothing free would have done.
 */
bool gm_budget_may_exchange(struct gm_heap *heap, uint64_t bytes);
void gm_budget_exchange(struct gm_heap *heap, uint64_t bytes);

/* ---- between the files of this module ---- */

/* Claims what lies side by side in one segment, so many bytes together, of
 * whichever streams; on any terms. */
bool gm_segment_transfer(const struct gm_transfer *transfer);

/* Bytes of the smallest segment that holds so many. */
uint64_t gm_segment_least(const struct gm_heap *heap, size_t bytes,
			  size_t alignment);
/* Bytes of the segment that is taken for it: room for several, as a rule. */
uint64_t gm_segment_good(const struct gm_heap *heap, size_t bytes,
			 size_t alignment);
gpumem_status gm_segment_grow(struct gm_heap *heap, struct gm_attempt *attempt,
			      struct gm_arena *arena, size_t bytes,
			      size_t alignment, struct gm_extent **extent_out);
gpumem_status gm_segment_release(struct gm_heap *heap,
				 const struct gm_release *leave,
				 uint64_t *bytes_out);
/* Nothing in the segment is used, and it is no graph's: it may go once it is
 * completed. */
bool gm_segment_whole(const struct gm_span *span);
/* The same, and it is. */
bool gm_segment_completed(const struct gm_span *span);
/* What its ends have beyond whole units. */
uint64_t gm_segment_slack(const struct gm_heap *heap,
			  const struct gm_span *span);
/* Records that a segment has come, or goes. */
void gm_segment_record(const struct gm_heap *heap, const struct gm_span *span);
void gm_segment_record_end(const struct gm_heap *heap,
			   const struct gm_span *span);

#endif
