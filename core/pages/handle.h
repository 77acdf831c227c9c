/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Internal to the module: physical handles, from the list of spare ones, stolen
 * out of free extents, and new from the driver. See space.h for the invariants.
 *
 * The heap's mutex guards it.
 */
#ifndef GM_PAGES_HANDLE_H
#define GM_PAGES_HANDLE_H

#include "pages.h"
#include "order/order.h"

/* Handles of one size, side by side. */
struct gm_run {
	uintptr_t start;
	size_t count; /* of handles */
	size_t pages; /* of each */
};

/* So many are unmapped, or destroyed, before those that take memory get their
 * turn: about 20 us each on an H200, whatever their size. */
enum { GM_STEP_HANDLES = 4 };

/* Which handles of a free extent are looked for. */
struct gm_handle_query {
	size_t pages; /* at most so many together, or one handle */
	size_t least; /* of each handle */
	size_t most;
	uint64_t newest; /* last freed with this seqno or before it */
	/* Of its stream, what is not completed too; NULL: of none. */
	const struct gm_arena *busy;
};

/* Where pages will be mapped: `count` from `start` on, all in `hole`. Together
 * with the free extents left and right of them, where not NULL, they hold what
 * was asked for: nothing is stolen from these. */
struct gm_plan {
	struct gm_extent *hole, *left, *right;
	uintptr_t start;
	size_t count;
	bool in_order;	     /* it is used after all earlier work of the arena's
				stream */
	bool lets_go;	     /* of the mutex: it is the growth under way */
	size_t handle_pages; /* of each new handle; 0: as few as they have */
};

/* Maps them, for `bytes` that become active. What was mapped is free memory of
 * `arena`, on failure too: *extent_out is what it is part of then, or as it was
 * if nothing was mapped. OK, or as gm_space_grow(). */
gpumem_status gm_plan_map(struct gm_heap *heap, struct gm_attempt *attempt,
			  struct gm_arena *arena, const struct gm_plan *plan,
			  size_t bytes, struct gm_extent **extent_out);

/* As gm_space_grow(); *extent_out may be set on failure too. */
gpumem_status gm_pages_grow(struct gm_heap *heap, struct gm_attempt *attempt,
			    struct gm_arena *arena, size_t bytes,
			    size_t alignment, struct gm_extent **extent_out);
/* As struct gm_model has them. */
uint64_t gm_pages_most_bytes(const struct gm_heap *heap);
uint64_t gm_pages_now_bytes(struct gm_heap *heap,
			    const struct gm_attempt *attempt,
			    gpumem_stream stream, uint64_t driver_bytes);
void gm_pages_record(const struct gm_heap *heap);
gpumem_status gm_pages_open(struct gm_heap *heap, struct gpumem_device *peer);
gpumem_status gm_pages_check_free(const struct gm_heap *heap,
				  const struct gm_extent *extent,
				  struct gm_tally *tally);
gpumem_status gm_pages_check(const struct gm_heap *heap,
			     const struct gm_tally *tally);

/* range.c: addresses for the pages of heaps. */

/* The first span. OK, NO_HOST_MEMORY, or what the driver said, with what can be
 * done. */
gpumem_status gm_range_start(struct gm_heap *heap);

/* One more span, with room for so many bytes at that alignment. OK; NO_MEMORY
 * with why not; LOST. */
gpumem_status gm_range_extend(struct gm_heap *heap, size_t bytes,
			      size_t alignment);
/* Gives the addresses of a span back, in which nothing is mapped. */
gpumem_status gm_range_release(struct gm_heap *heap,
			       const struct gm_span *span);

/* handle.c: the table of pages. */

static inline bool gm_page_pinned(const struct gm_heap *heap,
				  const struct gm_page *page)
{
	return gm_ranges_page(&heap->space->ranges,
			      (size_t)(page - heap->spans.page));
}

/* Whole handles in a free extent, of one size, completed, or of the busy
 * stream, side by side: as many pages as there are at one place, up to what is
 * wished; none: count is 0. */
struct gm_run gm_handles_find(const struct gm_heap *heap,
			      const struct gm_extent *extent,
			      const struct gm_handle_query *query);
/* Of the latest free that touched one of these pages. */
uint64_t gm_pages_seqno(const struct gm_page *page, size_t count);
/* Puts handles that were just mapped into the table; says which lie in a run;
 * takes out of it those that are mapped no more, and records that. What is away
 * is so afterwards. */
void gm_handles_set(struct gm_heap *heap, const struct gm_run *run,
		    const gpumem_page *pages);
void gm_handles_list(const struct gm_heap *heap, const struct gm_run *run,
		     gpumem_page *pages);
void gm_handles_clear(struct gm_heap *heap, const struct gm_run *run);
/* Tells that they are about to be unmapped, or that they are not after all
 * (space/ranges.h). */
void gm_run_leaves(const struct gm_heap *heap, const struct gm_run *run);
void gm_run_stays(const struct gm_heap *heap, const struct gm_run *run);
uint64_t gm_handles_whole_bytes(const struct gm_heap *heap);
/* Of whole handles in free extents what is completed, or of the stream that may
 * be busy. */
uint64_t gm_handles_completed_bytes(const struct gm_heap *heap,
				    const struct gm_arena *busy);
size_t gm_run_bytes(const struct gm_heap *heap, const struct gm_run *run);
/* Cuts a run out of a free extent; two nodes have been reserved. The result is
 * in no index. */
struct gm_extent *gm_run_cut(struct gm_heap *heap, struct gm_extent *extent,
			     const struct gm_run *run);

/* mapped.c: records that a handle was mapped there; the model's. */
void gm_handle_record(const struct gm_heap *heap, uintptr_t address,
		      const struct gm_handle *handle);
void gm_pages_mapped(const struct gm_heap *heap,
		     void (*fn)(uintptr_t address, uint64_t bytes, void *user),
		     void *user);
bool gm_pages_pin(struct gm_heap *heap, uintptr_t address, size_t bytes,
		  bool pinned);

/* supply.c */

struct gm_need {
	struct gm_attempt *attempt;    /* that they are for */
	size_t pages;		       /* so many */
	uint64_t bytes;		       /* will be active on them */
	const struct gm_extent *a, *b; /* not stolen from; NULL: none */
	struct gm_arena *lender; /* its stream lends them to it; NULL: no */
	bool lets_go;		 /* these two: see struct gm_plan */
	size_t handle_pages;
};

/* Finds handles that cover exactly what is needed. There is room for as many as
 * there are pages; and among the spare ones for those, for the stock, and for
 * one more. On failure what is new has gone back, and what was ours is spare.
 */
gpumem_status gm_handles_supply(struct gm_heap *heap,
				const struct gm_need *need,
				struct gm_handle *handles, size_t *count_out);

/* steal.c and release.c */

/* Steals: unmaps completed handles of at most `want` pages together out of free
 * extents; and of at most `more` pages besides, which become spare. Returns how
 * many handles of the former. */
size_t gm_handles_steal(struct gm_heap *heap, const struct gm_need *need,
			size_t want, size_t more, struct gm_handle *handles);
/* Lends: handles of at most `want` pages together that the stream of
 * need->lender has in free extents of any fate, completed or not, which stay
 * mapped there: gm_stale_commit() follows, or gm_stale_undo(). Returns how
 * many. */
size_t gm_handles_lend(struct gm_heap *heap, const struct gm_need *need,
		       size_t want, struct gm_handle *handles);
/* Gives one handle of any size back, spare or out of a free extent, so that
 * smaller ones can be had for it. Returns its pages; 0: there is none. */
size_t gm_handles_break(struct gm_heap *heap, const struct gm_need *need);
gpumem_status gm_pages_release(struct gm_heap *heap,
			       const struct gm_release *leave,
			       uint64_t *bytes_out);
/* Gives handles that are mapped nowhere back; those that the driver will not
 * take stay ours, as spare ones, for which there is room. How many went. */
size_t gm_handles_destroy(struct gm_heap *heap,
			  const struct gm_attempt *attempt,
			  const struct gm_handle *handles, size_t count);

/* spare.c */

/* Room for so many handles more than there are. */
gpumem_status gm_spare_room(struct gm_heap *heap, size_t count);
/* Puts handles among the spare ones, for which there is room. */
void gm_spare_give(struct gm_heap *heap, const struct gm_handle *handles,
		   size_t count);
struct gm_handle gm_spare_take(struct gm_space *space, size_t at);
/* So many pages may be spare for what is missing next. */
size_t gm_spare_stock(const struct gm_heap *heap);

/* hole.c */

void gm_hole_add(struct gm_heap *heap, struct gm_extent *hole);
void gm_hole_remove(struct gm_heap *heap, struct gm_extent *hole);
/* Makes an extent a hole and merges it with those beside it. */
void gm_hole_insert(struct gm_heap *heap, struct gm_extent *extent);

#endif
