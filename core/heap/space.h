/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where a heap's addresses and its memory come from: the only room of the heap
 * that takes from the driver and gives back.
 *
 * With virtual memory: spans of addresses in which pages are mapped; one as a
 * rule, and more when it has no room (range.c). The driver gives pages in
 * handles, each of a power of two of pages side by side, which map and unmap
 * whole. Pages of one handle are those neighbours whose entries in the table say
 * the same. Without: a span per raw allocation ("segment").
 *
 *     reserved == page_bytes * (mapped pages + spare), with VM; of these
 *                 leaving_bytes may be mapped no more, or not spare any more
 *     reserved == sum of the spans' taken bytes + leaving_bytes, without
 *     page[i].handle != 0  <=>  the address of page i is in no hole
 *     the table's entry behind the pages of each span is 0
 *     a hole, and what is leaving, begins and ends where a handle does
 *     spare_pages == sum of the pages of the spare handles
 *     spare_count + leaving_bytes / page_bytes <= spare_room    with VM
 *
 * The heap's mutex guards it.
 */
#ifndef GM_HEAP_SPACE_H
#define GM_HEAP_SPACE_H

#include "extent.h"
#include "map.h"

#include <gpumem/backend.h>

/* Large spans begin at multiples of a region of the map (map.h), so that heaps
 * hardly share one. Pages larger than that would not begin at multiples of
 * themselves. */
#define GM_SPAN_ALIGNMENT (1ull << GM_REGION_SHIFT)
#define GM_PAGE_BYTES_MAX GM_SPAN_ALIGNMENT

struct gm_heap;
struct gm_arena;

struct gm_span {
	uintptr_t address; /* as the driver gave it */
	size_t bytes;
	size_t first_page; /* VM: where its part of the table begins */
	struct gm_extent *first;
	struct gm_span *next, *prev;
};

struct gm_page {
	gpumem_page handle; /* that covers it; 0: nothing is mapped here */
	uint64_t ticket;    /* of the latest free that touched it */
};

/* One that is mapped nowhere. */
struct gm_handle {
	gpumem_page page;
	size_t pages;	 /* that it covers */
	uint64_t ticket; /* spare: of the heap, when it became that */
};

struct gm_space {
	struct gm_span *spans;	 /* in address order */
	struct gm_page *page;	 /* VM: by span, in order of their making */
	size_t page_count;	 /* VM: entries, one more for each span */
	size_t high_page;	 /* VM: pages[] beyond were never touched */
	uint64_t span_bytes;	 /* VM: of all spans */
	uint64_t most_bytes;	 /* VM: constant: they never come to more */
	uint32_t holes;		 /* VM: a ring */
	struct gm_handle *spare; /* VM: by age, the oldest first */
	size_t spare_count, spare_room, spare_pages;
	uint64_t leaving_bytes; /* on their way to the driver: see leave.c */
	uint64_t leaves;	/* how often that ended, well or not */
};

/* Handles of one size, side by side. */
struct gm_run {
	uintptr_t start;
	size_t count; /* of handles */
	size_t pages; /* of each */
};

/* Which handles in a free extent will do. */
struct gm_wish {
	size_t pages; /* at most so many together, or one handle */
	size_t least; /* of each handle */
	size_t most;
	uint64_t newest; /* last freed with this ticket or before it */
};

/* What is to go back to the driver in one step. */
struct gm_leave {
	uint64_t bytes; /* at most so much, rounded up to a handle or segment */
	uint64_t newest; /* only what was last freed with this ticket or before
			  */
	unsigned skip;	 /* pass over the first so many that could go */
};

/* Reserves the first span when the heap has VM. OK, NO_HOST_MEMORY, or what the
 * driver said, with what can be done. */
gpumem_status gm_space_init(struct gm_heap *heap);
/* Gives back everything, used or not. */
gpumem_status gm_space_fini(struct gm_heap *heap);

/*
 * Makes room for `bytes` at `alignment` among the free extents of `arena`, so
 * that gm_arena_fit() finds it: by moving pages that other free extents do not
 * need, when the waste would grow too large or the driver has none, else by
 * taking from the driver. OK; LIMIT; NO_MEMORY; or another word of the driver.
 */
gpumem_status gm_space_grow(struct gm_heap *heap, struct gm_arena *arena,
			    size_t bytes, size_t alignment);

/* Gives back what is unused and settled until at most keep_bytes are reserved,
 * and no more than could be given back at the beginning. The first error is
 * returned, the rest goes on. Nothing while a stream is captured. The mutex is
 * given up for the calls of the driver. */
gpumem_status gm_space_trim(struct gm_heap *heap, uint64_t keep_bytes);
/* One step of it; everything is settled as far as it can be. *bytes_out: what
 * went, 0 when nothing more can. */
gpumem_status gm_space_leave(struct gm_heap *heap, const struct gm_leave *leave,
			     uint64_t *bytes_out);

/* Bytes that a trim could give back if everything were settled: whole handles
 * in free extents, and spare ones; or unused segments. Looks at every free
 * extent that holds a page. */
uint64_t gm_space_whole_bytes(const struct gm_heap *heap);

/* ---- between the files of this room ---- */

gpumem_status gm_pages_grow(struct gm_heap *heap, struct gm_arena *arena,
			    size_t bytes, size_t alignment);
/* Bytes of the smallest segment that holds so many. */
uint64_t gm_segment_least(const struct gm_heap *heap, size_t bytes,
			  size_t alignment);
gpumem_status gm_segment_grow(struct gm_heap *heap, struct gm_arena *arena,
			      size_t bytes, size_t alignment);

/* Part of an extent was freed, with the extent's ticket. */
void gm_pages_touch(struct gm_heap *heap, const struct gm_extent *extent);

/* Puts a span among the others. */
void gm_span_link(struct gm_space *space, struct gm_span *span);
/* That of an address, which lies in one. */
struct gm_span *gm_span_of(const struct gm_heap *heap, uintptr_t address);

/* range.c: addresses for the pages of heaps. */

/* One more span, with room for so many bytes at that alignment. OK; NO_MEMORY
 * with why not; LOST. */
gpumem_status gm_range_extend(struct gm_heap *heap, size_t bytes,
			      size_t alignment);
/* Gives the addresses of a span back, in which nothing is mapped. */
gpumem_status gm_range_release(struct gm_heap *heap,
			       const struct gm_span *span);

/* handle.c: the table of pages. */

/* The entry for the page at an address. */
struct gm_page *gm_page_at(const struct gm_heap *heap, uintptr_t address);
/* How many pages the handle covers whose first page this is. */
size_t gm_handle_pages(const struct gm_heap *heap, const struct gm_page *page);
/* Whole handles in a free extent, of one size, settled, side by side: as many
 * pages as there are at one place, up to what is wished; none: count is 0. */
struct gm_run gm_handles_settled(const struct gm_heap *heap,
				 const struct gm_extent *extent,
				 const struct gm_wish *wish);
/* Puts handles that were just mapped into the table; says which lie in a run;
 * takes out of it those that are mapped no more. */
void gm_handles_enter(struct gm_heap *heap, const struct gm_run *run,
		      const gpumem_page *pages);
void gm_handles_list(const struct gm_heap *heap, const struct gm_run *run,
		     gpumem_page *pages);
void gm_handles_clear(struct gm_heap *heap, const struct gm_run *run);
uint64_t gm_handles_whole_bytes(const struct gm_heap *heap);
size_t gm_run_bytes(const struct gm_heap *heap, const struct gm_run *run);

/* supply.c */

struct gm_need {
	size_t pages;		       /* so many */
	uint64_t bytes;		       /* will be active on them */
	const struct gm_extent *a, *b; /* are not to be stolen from */
};

/* Finds handles that cover exactly what is needed. There is room for as many as
 * there are pages; and among the spare ones for those, for the stock, and for
 * one more. On failure what is new has gone back, and what was ours is spare.
 */
gpumem_status gm_handles_supply(struct gm_heap *heap,
				const struct gm_need *need,
				struct gm_handle *handles, size_t *count_out);

/* steal.c and leave.c */

/* Takes settled handles of at most `want` pages together out of free extents;
 * and of at most `more` pages besides, which become spare. Returns how many
 * handles of the former. */
size_t gm_handles_steal(struct gm_heap *heap, const struct gm_need *need,
			size_t want, size_t more, struct gm_handle *handles);
/* Gives one handle of any size back, spare or out of a free extent, so that
 * smaller ones can be had for it. Returns its pages; 0: there is none. */
size_t gm_handles_break(struct gm_heap *heap, const struct gm_need *need);
/* Cuts a run out of a free extent; two nodes have been reserved. The result is
 * in no index. */
struct gm_extent *gm_run_cut(struct gm_heap *heap, struct gm_extent *extent,
			     const struct gm_run *run);
gpumem_status gm_pages_leave(struct gm_heap *heap, const struct gm_leave *leave,
			     uint64_t *bytes_out);
/* Nothing in the segment is used, and it is no graph's: it may go once it is
 * settled. */
bool gm_segment_whole(const struct gm_span *span);
gpumem_status gm_segment_leave(struct gm_heap *heap,
			       const struct gm_leave *leave,
			       uint64_t *bytes_out);
/* Gives handles that are mapped nowhere back; those that the driver will not
 * take stay ours, as spare ones, for which there is room. How many went. */
size_t gm_handles_destroy(struct gm_heap *heap, const struct gm_handle *handles,
			  size_t count);

/* spare.c */

/* Room for so many handles more than there are. */
gpumem_status gm_spare_room(struct gm_heap *heap, size_t count);
/* Puts handles among the spare ones, for which there is room. */
void gm_spare_give(struct gm_heap *heap, const struct gm_handle *handles,
		   size_t count);
struct gm_handle gm_spare_take(struct gm_space *space, size_t at);
/* So many pages may be spare for what is missing next. */
size_t gm_spare_stock(const struct gm_heap *heap);

void gm_hole_add(struct gm_heap *heap, struct gm_extent *hole);
void gm_hole_remove(struct gm_heap *heap, struct gm_extent *hole);
/* Makes an extent a hole and merges it with those beside it. */
void gm_hole_insert(struct gm_heap *heap, struct gm_extent *extent);

#endif
