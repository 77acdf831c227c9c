/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where a heap's addresses and its memory come from: the only room of the heap
 * that takes from the driver and gives back.
 *
 * With virtual memory: one span, reserved once, in which pages are mapped. A
 * page is one physical handle, and maps and unmaps whole. Without: a span per
 * raw allocation ("segment").
 *
 *     reserved == page_bytes * (mapped pages + spare), with VM; of these
 *                 leaving_bytes may be mapped no more, or not spare any more
 *     reserved == sum of the spans' taken bytes + leaving_bytes, without
 *     page[i].handle != 0  <=>  the address of page i is in no hole
 *     spare_count + leaving_bytes / page_bytes <= spare_room    with VM
 *
 * The heap's mutex guards it.
 */
#ifndef GM_HEAP_SPACE_H
#define GM_HEAP_SPACE_H

#include "extent.h"

#include <gpumem/backend.h>

struct gm_heap;
struct gm_arena;

struct gm_span {
	uintptr_t address; /* as the driver gave it */
	size_t bytes;
	struct gm_extent *first;
	struct gm_span *next, *prev;
};

struct gm_page {
	gpumem_page handle; /* 0: nothing is mapped here */
	uint64_t ticket;    /* of the latest free that touched it */
};

struct gm_space {
	struct gm_span *spans; /* in address order */
	struct gm_page *page;  /* VM: by page number in the span */
	size_t page_count;     /* VM: in the span */
	size_t high_page;      /* VM: pages[] beyond were never touched */
	uint32_t holes;	       /* VM: a ring */
	gpumem_page *spare;    /* VM: pages that are mapped nowhere */
	size_t spare_count, spare_room;
	uint64_t leaving_bytes; /* on their way to the driver: see leave.c */
};

/* Pages side by side. */
struct gm_page_run {
	uintptr_t start;
	size_t count;
};

/* What is to go back to the driver in one step. */
struct gm_leave {
	uint64_t bytes;	 /* at most so much, rounded up to a page or segment */
	uint64_t newest; /* only what was last freed with this ticket or before
			  */
	unsigned skip;	 /* pass over the first so many that could go */
};

/* Reserves the span when the heap has VM; tries less when the system has not so
 * many addresses. */
gpumem_status gm_space_init(struct gm_heap *heap, uint64_t bytes);
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

/* Bytes that a trim could give back if everything were settled: whole pages in
 * free extents, and spare ones; or unused segments. */
uint64_t gm_space_whole_bytes(const struct gm_heap *heap);

/* ---- between the files of this room ---- */

gpumem_status gm_pages_grow(struct gm_heap *heap, struct gm_arena *arena,
			    size_t bytes, size_t alignment);
gpumem_status gm_segment_grow(struct gm_heap *heap, struct gm_arena *arena,
			      size_t bytes, size_t alignment);

/* Part of an extent was freed, with the extent's ticket. */
void gm_pages_touch(struct gm_heap *heap, const struct gm_extent *extent);

/* Appends up to `want` pages to pages[], taken out of free extents, never out
 * of a or b; only settled ones. Returns how many. */
size_t gm_pages_steal(struct gm_heap *heap, gpumem_page *pages, size_t want,
		      const struct gm_extent *a, const struct gm_extent *b);
/* The longest run of pages in a free extent that are settled and last freed
 * with ticket `newest` or before; or the first of `want`. */
struct gm_page_run gm_pages_settled(const struct gm_heap *heap,
				    const struct gm_extent *extent, size_t want,
				    uint64_t newest);
/* Cuts a run of pages out of a free extent; two nodes have been reserved. The
 * result is in no index. */
struct gm_extent *gm_pages_cut(struct gm_heap *heap, struct gm_extent *extent,
			       const struct gm_page_run *run);
/* Takes pages that are mapped no more out of the table, into pages[]. */
void gm_pages_clear(struct gm_heap *heap, const struct gm_page_run *run,
		    gpumem_page *pages);
gpumem_status gm_pages_leave(struct gm_heap *heap, const struct gm_leave *leave,
			     uint64_t *bytes_out);
gpumem_status gm_segment_leave(struct gm_heap *heap,
			       const struct gm_leave *leave,
			       uint64_t *bytes_out);
/* Gives pages that are mapped nowhere back; those that the driver will not take
 * stay ours, as spare ones, for which there is room. How many went. */
size_t gm_pages_destroy(struct gm_heap *heap, gpumem_page *pages, size_t count);
/* The table's entry for the page at an address. */
struct gm_page *gm_page_at(const struct gm_heap *heap, uintptr_t address);
/* Puts pages among the spare ones; there is room for those that were there. */
void gm_spare_give(struct gm_space *space, const gpumem_page *pages,
		   size_t count);
gpumem_status gm_spare_room(struct gm_heap *heap, size_t count);

void gm_hole_add(struct gm_heap *heap, struct gm_extent *hole);
void gm_hole_remove(struct gm_heap *heap, struct gm_extent *hole);
/* Makes an extent a hole and merges it with those beside it. */
void gm_hole_insert(struct gm_heap *heap, struct gm_extent *extent);

#endif
