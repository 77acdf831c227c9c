/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pages whose memory a sleep takes, while the blocks on them stay live at their
 * addresses. What is copied, where to, and when, is core/sleep's business. A
 * handle goes whole. Its pages are *away* from the moment that the sleep has
 * chosen them:
 *
 *     page.seqno - GM_AWAY_BASE == the number of the sleep; no free is there
 *         that has not completed, and none is noted
 *     of a handle all pages are away, or none; not always by one sleep
 *     page.handle == 0  =>  the memory is gone, and the addresses are no hole
 *
 * No extent there is FREE: what was, and what is freed meanwhile, is ASLEEP
 * until the page has memory again, and then free memory; or until nothing live
 * is on the page, and then it is a hole. That of a graph, which has its arena,
 * always gets its memory back.
 *
 *     an ASLEEP extent has arena NULL, or a graph's
 *     every page that an ASLEEP extent has a part of is away, but for want of
 *         host memory, or while `busy`
 *
 * So nothing that looks for memory finds any there: neither growth, nor who
 * steals or gives back. The heap's mutex guards it; gm_away_unmap() keeps it
 * during its calls of the driver.
 */
#ifndef GM_PAGES_AWAY_H
#define GM_PAGES_AWAY_H

#include "pages.h"

struct gm_first;

/* All of the handles of a range, that are mapped, are away, of sleep `number`
 * (1 or more). */
void gm_away_mark(struct gm_heap *heap, uintptr_t start, size_t bytes,
		  uint64_t number);
/* Those of the sleep that still have memory are away no more. */
void gm_away_unmark(struct gm_heap *heap, uint64_t number);
/* The same of all in a range, of whatever sleep. */
void gm_away_unmark_area(struct gm_heap *heap, uintptr_t start, size_t bytes);
/* Is any of the sleep's? */
bool gm_away_has(const struct gm_heap *heap, uint64_t number);

/* The part of a free extent from `start` up to `end` is ASLEEP; two nodes have
 * been reserved. Returns the extent that is that part. */
struct gm_extent *gm_away_cut(struct gm_heap *heap, struct gm_extent *extent,
			      uintptr_t start, uintptr_t end);
/* A block or a run on such a page has ended; it is out of the map. */
void gm_away_end(struct gm_heap *heap, struct gm_extent *extent);

/* Takes the memory of all pages that are away. What does not unmap is away no
 * more; what the driver does not take back is spare. *bytes_out: how many went
 * back. OK; NO_HOST_MEMORY; or the driver's first error. */
gpumem_status gm_away_unmap(struct gm_heap *heap, uint64_t *bytes_out);

/* New handles of so many pages each, as a growth of its own, that count as
 * taken: as many as the limit leaves room for, of `count`. Without the mutex.
 * OK: *made_out of them, 1 at least; LIMIT; NO_MEMORY; or another error of the
 * driver. */
gpumem_status gm_away_create(struct gm_heap *heap, struct gm_attempt *attempt,
			     size_t pages, size_t count, gpumem_page *page,
			     size_t *made_out);
/* One that is mapped nowhere goes back; what the driver does not take is spare,
 * and without host memory for that stays taken for good. Likewise. */
void gm_away_return(struct gm_heap *heap, size_t pages, gpumem_page page);

/* New handles are mapped at such pages, side by side, of one size: they are
 * away no more. */
void gm_away_restore(struct gm_heap *heap, const struct gm_run *run,
		     const gpumem_page *pages);
/* The same, but they are away as before, each of its sleep, and have memory. */
void gm_away_refill(struct gm_heap *heap, const struct gm_run *run,
		    const gpumem_page *pages);

/* Of all ASLEEP extents, what is on pages with memory becomes free, and what
 * nothing live shares a page with a hole. Counts what is parked anew. */
void gm_away_settle(struct gm_heap *heap);

#endif
