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
 *     reserved == page_bytes * (mapped pages + spare)      with VM
 *     reserved == sum of the spans' taken bytes            without
 *     page[i].handle != 0  <=>  the address of page i is in no hole
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

/* Gives back what is unused and settled until at most keep_bytes are reserved.
 * The first error is returned, the rest goes on. Nothing while a stream is
 * captured. */
gpumem_status gm_space_trim(struct gm_heap *heap, uint64_t keep_bytes);

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
gpumem_status gm_pages_trim(struct gm_heap *heap, uint64_t keep_bytes);
gpumem_status gm_segments_trim(struct gm_heap *heap, uint64_t keep_bytes);
/* Gives a page that is mapped nowhere back; one that the driver will not take
 * stays ours, as a spare one, for which there is room. */
gpumem_status gm_page_destroy(struct gm_heap *heap, gpumem_page page);
/* Puts pages among the spare ones; there is room for those that were there. */
void gm_spare_give(struct gm_space *space, const gpumem_page *pages,
		   size_t count);
gpumem_status gm_spare_room(struct gm_space *space, size_t count);

void gm_hole_add(struct gm_heap *heap, struct gm_extent *hole);
void gm_hole_remove(struct gm_heap *heap, struct gm_extent *hole);
/* Makes an extent a hole and merges it with those beside it. */
void gm_hole_insert(struct gm_heap *heap, struct gm_extent *extent);

#endif
