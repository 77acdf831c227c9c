/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where a heap's addresses and its memory come from: the only module that takes
 * memory from the driver and gives it back. This is its contract, with
 * budget.h; handle.h is between its own files.
 *
 * With virtual memory: spans of addresses in which pages are mapped; one as a
 * rule, and more when it has no room (range.c). The driver gives pages in
 * handles, which map and unmap whole (extent/span.h). A page that is free in
 * one place is moved to where it is needed (steal.c). Without: a span per raw
 * allocation ("segment").
 *
 *     reserved == page_bytes * (mapped pages + spare), with VM; of these
 *                 leaving_bytes may be mapped no more, or not spare any more
 *     reserved == sum of the spans' taken bytes + leaving_bytes, without
 *     a hole, and what is leaving, begins and ends where a handle does
 *     spare_pages == sum of the pages of the spare handles
 *     spare_count + leaving_bytes / page_bytes <= spare_room    with VM
 *
 * The heap's mutex guards it.
 */
#ifndef GM_VM_SPACE_H
#define GM_VM_SPACE_H

#include "budget.h"
#include "extent/map.h"

/* Large spans begin at multiples of a region of the map (map.h), so that heaps
 * hardly share one. Pages larger than that would not begin at multiples of
 * themselves. */
#define GM_SPAN_ALIGNMENT (1ull << GM_REGION_SHIFT)
#define GM_PAGE_BYTES_MAX GM_SPAN_ALIGNMENT

struct gm_arena;

/* One that is mapped nowhere. */
struct gm_handle {
	gpumem_page page;
	size_t pages;	 /* that it covers */
	uint64_t ticket; /* spare: of the heap, when it became that */
};

struct gm_space {
	struct gm_budget budget;
	size_t handle_pages;	 /* constant: of the largest handle, or 1 */
	uint64_t span_bytes;	 /* VM: of all spans */
	uint64_t most_bytes;	 /* VM: constant: they never come to more */
	uint32_t holes;		 /* VM: a ring */
	struct gm_handle *spare; /* VM: by age, the oldest first */
	size_t spare_count, spare_room, spare_pages;
	uint64_t leaving_bytes; /* on their way to the driver: see leave.c */
	uint64_t leaves;	/* how often that ended, well or not */
};

/* What is to go back to the driver in one step. */
struct gm_leave {
	uint64_t bytes; /* at most so much, rounded up to a handle or segment */
	uint64_t newest; /* only what was last freed with this ticket or before
			  */
	unsigned skip;	 /* pass over the first so many that could go */
};

/* Without the mutex. OK or NO_HOST_MEMORY. */
gpumem_status gm_space_init(struct gm_heap *heap);
/* Reserves the first span when the heap has VM, once the size of pages is
 * known. OK, NO_HOST_MEMORY, or what the driver said, with what can be done. */
gpumem_status gm_space_start(struct gm_heap *heap);
/* Gives back everything, used or not. */
gpumem_status gm_space_fini(struct gm_heap *heap);
uint64_t gm_space_host_bytes(const struct gm_heap *heap);

/*
 * Makes a free extent of `arena` where `bytes` fit at `alignment`: by moving
 * pages that other free extents do not need, when the waste would grow too
 * large or the driver has none, else by taking from the driver. OK; LIMIT;
 * NO_MEMORY; or another word of the driver.
 */
gpumem_status gm_space_grow(struct gm_heap *heap, struct gm_arena *arena,
			    size_t bytes, size_t alignment,
			    struct gm_extent **extent_out);

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

struct gm_tally;

/* check_space.c, as extent/check.h has it: no handle lies in the extent, whole
 * pages, in part only; holes and pages, or segments. */
gpumem_status gm_check_borders(const struct gm_heap *heap,
			       const struct gm_extent *extent);
gpumem_status gm_check_space(const struct gm_heap *heap,
			     const struct gm_tally *tally);

#endif
