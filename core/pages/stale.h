/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pages that serve elsewhere before their last use is over. A page of a free
 * extent cannot be unmapped while work may still touch it; but where the driver
 * maps a page at a second address (CAP_ALIAS), the same stream can have it
 * there at once, since what the stream does there comes after all that it did
 * before. The extent lends it: its addresses, still mapped, are *stale* until
 * the work is over, and are unmapped then, a hole. That goes for all arenas of
 * the stream, since only whole handles are lent: each is of one fate, the one
 * that it was lent to. Other streams get nothing
 * so but what has become theirs, behind the work (order/transfer.h), nor does a
 * graph, and a stream lends nothing while it is being captured.
 *
 *     a handle is mapped at one place that is not stale, or is spare; its
 *         stale places are besides
 *     a stale extent has completed, or its seqno <= page[].seqno of its
 *         handles' other places
 *     so: a handle whose last free has completed is stale in no place but such
 *         as have completed
 *     bytes, handles == sums of the stale extents; `lending` is empty but
 *         during a growth
 *
 * What it costs is addresses, which are many, and the time to unmap them, 20 us
 * each on an H200. So pages are lent as long as half of the addresses and
 * `most` places are left for that; then the host waits, if it may, for work to
 * be over rather than that memory is wasted. But what has completed is unmapped
 * as soon as there is much of it (`places`): with each lending twice as much as
 * it lent, the oldest first. A trim unmaps all that has completed, and lets go
 * of the mutex for every few of them (retire.c); growth, which may keep it,
 * unmaps no more than is said here in one go.
 *
 * Each stale extent has handles of one size, and is merged only with such as
 * are over, to be unmapped in one call. The heap's mutex guards it.
 */
#ifndef GM_PAGES_STALE_H
#define GM_PAGES_STALE_H

#include "space/space.h"

struct gm_run;

/* So many places of a handle are unmapped for it while the mutex is kept. */
enum { GM_STALE_HOLD = 16 };

void gm_stale_init(struct gm_heap *heap);
void gm_stale_fini(struct gm_heap *heap);

/* The arena, if its stream may lend pages to it, or NULL. */
struct gm_arena *gm_stale_lender(const struct gm_heap *heap,
				 struct gm_arena *arena);
/* How many more pages may become stale; at the bound, as many completed ones
 * are unmapped first. No capture forbids that. */
size_t gm_stale_room(struct gm_heap *heap, const struct gm_attempt *attempt,
		     size_t want);
/* How many more pages may become stale as it is. */
size_t gm_stale_left(const struct gm_heap *heap);

/* The extent, which is in no index and of handles of one size, becomes stale,
 * for the growth under way. */
void gm_stale_begin(struct gm_heap *heap, struct gm_extent *extent);
/* Of that growth, those of handles of so many pages or fewer are free memory
 * again: their handles were not mapped elsewhere. */
void gm_stale_undo(struct gm_heap *heap, size_t pages);
/* The growth has ended. Where much is stale, some that has completed is
 * unmapped. */
void gm_stale_commit(struct gm_heap *heap, const struct gm_attempt *attempt);

/* The handles of a stale extent. */
struct gm_run gm_stale_run(const struct gm_heap *heap,
			   const struct gm_extent *extent);
/* For the end of a heap: unmaps all, and takes them out of the table of pages.
 * What does not unmap keeps its span. */
void gm_stale_unmap_all(struct gm_heap *heap, struct gm_first *first);

/* ---- retire.c. No capture forbids to unmap. ---- */

/* Unmaps places that have completed, of so many handles at most, the oldest
 * first: they become holes. Of how many. */
size_t gm_stale_retire(struct gm_heap *heap, const struct gm_attempt *attempt,
		       size_t most);
/* Of a few, for a growth, which lets go of the mutex. False: none has
 * completed. */
bool gm_stale_retire_apart(struct gm_heap *heap, struct gm_attempt *attempt);
/* Handles of one that has completed, from `first` on; the mutex is kept. OK,
 * NO_HOST_MEMORY, or an error of the driver. */
gpumem_status gm_stale_unmap(struct gm_heap *heap, struct gm_extent *extent,
			     size_t first, size_t count);
/* All that have completed, for a trim; the mutex is released meanwhile. OK, or
 * the first error of the driver: then some have stayed. */
gpumem_status gm_stale_retire_all(struct gm_heap *heap);
/* Before handles go back to the driver, which takes none that is mapped: they
 * are nobody's, and have completed. Unmaps all their places; the mutex is
 * released meanwhile. OK, or an error of the driver. */
gpumem_status gm_stale_clear(struct gm_heap *heap, const gpumem_page *handles,
			     size_t count);
/* The same with the mutex kept. False: it still has places, since there are
 * many, one is being unmapped, or the driver refuses. */
bool gm_stale_clear_now(struct gm_heap *heap, gpumem_page handle);
/* check_stale.c: *handles_out counts the stale places of handles. */
gpumem_status gm_check_stale(const struct gm_heap *heap,
			     const struct gm_tally *tally,
			     uint64_t *handles_out);

#endif
