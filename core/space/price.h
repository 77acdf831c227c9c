/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What memory is worth, as one number. New memory costs nothing up to the peak,
 * and more and more from there: it bends where options say how much may be
 * unused, and ends at the limit.
 *
 *     reserved after it         price
 *     the peak                  0
 *     and `waste`               GM_PRICE_MOVE    pages move rather
 *     and `stream_waste`        GM_PRICE_WAIT    a stream waits for a block
 *     and 16 MiB, if more       GM_PRICE_WAITS   and for several
 *     beyond the limit          infinite; GM_PRICE_WAITS for as little as that,
 *                               since the program's callbacks may have it
 *
 * What costs less than new memory is tried before it (heap/sources.c,
 * pages/supply.c). Without pages it is `segment_waste`.
 *
 * The heap's mutex guards it; nothing is changed.
 */
#ifndef GM_SPACE_PRICE_H
#define GM_SPACE_PRICE_H

#include "order/attempt.h"

struct gm_arena;

#define GM_PRICE_MOVE 1.0
#define GM_PRICE_WAIT 2.0
#define GM_PRICE_WAITS 3.0

/* Of new memory for so many bytes. */
double gm_price_new(const struct gm_heap *heap,
		    const struct gm_attempt *attempt, uint64_t bytes);
/* Is it so little beyond the peak that no program misses it? */
bool gm_price_is_little(const struct gm_heap *heap, uint64_t bytes);

/* Of a page of which a block gets a part, since nobody else can have the rest:
 * by what is left then, with `bytes` more, of the limit, of the device's
 * memory, and of what the driver had when it had no more. 1: all of it; n: the
 * nth part; infinite: nothing. */
double gm_price_part(const struct gm_heap *heap,
		     const struct gm_attempt *attempt, uint64_t bytes);
/* From here on, the last eighth, memory counts for more than calls: what is
 * free is cut with care, and handles are as small as they get. Without it fewer
 * programs run near a limit (decision 46); later costs more of them (93). */
#define GM_PRICE_TIGHT 8.0

/* Is it worth the time to look for the place that takes the fewest pages? If
 * parts of pages take so much that the peak would not fit if it came again:
 * MOVE, within the waste; LIMIT, within what there is, where memory is tight
 * and less was left once than was needed. */
enum gm_care { GM_CARE_NONE, GM_CARE_MOVE, GM_CARE_LIMIT };
enum gm_care gm_price_care(const struct gm_heap *heap,
			   const struct gm_attempt *attempt, uint64_t bytes);

/* How many pages the largest of the new handles covers where so many pages are
 * to be mapped. */
size_t gm_price_handle_pages(const struct gm_heap *heap,
			     const struct gm_attempt *attempt, size_t pages);

/* The same for a heap that only grows, of which so many pages are multiples
 * then, for `bytes` that become active; 0: it does not, or too much would be
 * unused. Of what a fate has it is at most a part, since no other block gets
 * the rest. */
size_t gm_price_ahead_pages(const struct gm_arena *arena,
			    const struct gm_attempt *attempt, size_t pages,
			    uint64_t bytes);

#endif
