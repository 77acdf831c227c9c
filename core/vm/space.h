/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where a heap's addresses and its memory come from: the only module that takes
 * memory from the driver and gives it back. This is its contract, with
 * budget.h; handle.h is between its own files.
 *
 *     a page is stolen      in gm_space_grow() and gm_space_extend() only:
 *                           steal.c unmaps whole handles of free extents
 *                           whose last use has completed, supply.c takes them
 *                           for a growth, pages.c maps them where needed
 *     the limit is enforced here only, by budget.h, before memory is taken
 *                           from the driver (supply.c, segment.c)
 *     nothing waits         for an event: what has not completed is skipped
 *
 * With virtual memory: spans of addresses in which pages are mapped; one as a
 * rule, and more when it is full (range.c). The driver gives physical handles
 * of one or more pages, which are mapped and unmapped whole (extent/span.h).
 * Without: a span per raw allocation ("segment"), none of which can be stolen.
 *
 *     reserved == page_bytes * (mapped pages - stale ones + spare + growth's),
 *                 with VM; of these releasing_bytes are being given back to the
 *                 driver
 *     reserved == sum of the spans' taken bytes + releasing_bytes, without
 *     a hole, and what is being given back, begins and ends where a handle does
 *     spare_pages == sum of the pages of the spare handles
 *     spare_count + releasing_bytes / page_bytes + growth.spare_count
 *                 <= spare_room, with VM
 *
 * The heap's mutex guards it.
 */
#ifndef GM_VM_SPACE_H
#define GM_VM_SPACE_H

#include "budget.h"
#include "growth.h"
#include "stale.h"
#include "extent/map.h"

/* Large spans begin at multiples of a region of the map (map.h), so that heaps
 * rarely share one. Pages larger than that would not begin at multiples of
 * themselves. */
#define GM_SPAN_ALIGNMENT (1ull << GM_REGION_SHIFT)
#define GM_PAGE_BYTES_MAX GM_SPAN_ALIGNMENT

struct gm_arena;

/* A physical handle that is not mapped, or lent. */
struct gm_handle {
	gpumem_page page;
	size_t pages;	/* that it covers */
	uint64_t seqno; /* spare: of the heap, when it became that;
			   lent: of its last free */
	bool lent;	/* its last place is stale from now on */
	uintptr_t from; /* where it was mapped last; 0: it never was */
};

struct gm_space {
	struct gm_budget budget;
	size_t handle_pages;	 /* constant: of the largest handle, or 1 */
	uint64_t span_bytes;	 /* VM: of all spans */
	uint64_t most_bytes;	 /* VM: constant: they never come to more */
	uint32_t holes;		 /* VM: a ring */
	struct gm_stale stale;	 /* VM: see stale.h */
	struct gm_handle *spare; /* VM: by age, the oldest first */
	size_t spare_count, spare_room, spare_pages;
	uint64_t releasing_bytes; /* being given back: see release.c */
	uint64_t releases; /* how often that ended, in success or failure */
	struct gm_growth growth;
};

/* What to give back to the driver in one step. */
struct gm_release {
	uint64_t bytes; /* at most so much, rounded up to a handle or segment */
	uint64_t newest; /* only what was last freed with this seqno or before
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

/* open.c: a device uses all that is mapped too, from now on; what is mapped
 * later is the driver's business (struct gm_driver). Within a growth that has
 * not let go of the mutex. OK, or what the driver said, when it uses some. */
gpumem_status gm_space_open(struct gm_heap *heap, struct gpumem_device *peer);

/* mapped.c: for a recording that begins: an event for all that is mapped. */
void gm_space_record(const struct gm_heap *heap);

/*
 * Makes a free extent of `arena` where `bytes` fit at `alignment`: by stealing
 * pages of other free extents if the waste would exceed gm_budget_target() or
 * the driver refuses, else by taking memory from the driver, within the limit.
 * OK; LIMIT; NO_MEMORY; or another error of the driver.
 *
 * The mutex is released during calls of the driver, and while another thread
 * grows the heap (growth.h). OK with *extent_out NULL: other threads have had
 * their way meanwhile, and `arena` may be its stream's no longer: the caller
 * begins anew.
 */
gpumem_status gm_space_grow(struct gm_heap *heap, struct gm_attempt *attempt,
			    struct gm_arena *arena, size_t bytes,
			    size_t alignment, struct gm_extent **extent_out);

/* place.c, with virtual memory: how few pages of which nothing is used so much
 * can take; a free extent of the arena at whose front it takes the fewest, the
 * smallest of those, and how many (NULL: none is long enough); and how many it
 * takes where a growth would put it. */
size_t gm_place_least(const struct gm_heap *heap, size_t bytes);
struct gm_extent *gm_place_free(const struct gm_arena *arena, size_t bytes,
				size_t *pages_out);
size_t gm_place_growth(const struct gm_arena *arena,
		       const struct gm_attempt *attempt, size_t bytes);

/* Without virtual memory, where an unused segment would do for so much: may
 * another one be taken? If that is waste, the first goes back for it: that
 * costs calls, so not for ever so often; and not while it cannot go. May ask
 * the driver. */
bool gm_segment_may_exchange(struct gm_heap *heap,
			     const struct gm_attempt *attempt,
			     const struct gm_extent *unused, uint64_t bytes);

/*
 * The same at one place, with virtual memory: the first `hole_bytes` of a hole,
 * rounded up to pages, become free memory of `arena`, for `bytes` that become
 * active there. The free extents on both sides of the hole are not stolen from.
 * in_order: what is used there comes after all earlier work of the arena's
 * stream.
 * On failure some of it may be free memory. Statuses as above.
 */
gpumem_status gm_space_extend(struct gm_heap *heap, struct gm_attempt *attempt,
			      struct gm_arena *arena, struct gm_extent *hole,
			      size_t hole_bytes, size_t bytes, bool in_order);

/* Gives back what is unused and completed until at most keep_bytes are
 * reserved, and no more than could be given back at the beginning. Continues
 * after an error and returns the first. Nothing where a capture
 * forbids it. The mutex is released during the calls of the driver. */
gpumem_status gm_space_trim(struct gm_heap *heap, uint64_t keep_bytes);
/* One step of it; the arenas were polled before. *bytes_out: how much was given
 * back, 0 when nothing more can be. */
gpumem_status gm_space_release(struct gm_heap *heap,
			       const struct gm_release *leave,
			       uint64_t *bytes_out);

/* Bytes that a trim could give back if everything were completed: whole handles
 * in free extents, and spare ones; or unused segments. Looks at every free
 * extent that holds a page. */
uint64_t gm_space_whole_bytes(const struct gm_heap *heap);

/*
 * Free extents, spare handles and what is being given back:
 *
 *     whole_bytes + page_part_bytes + handle_part_bytes + graph_bytes
 *             == sum of the free extents + spare + releasing_bytes + growth's
 *                + what the ends of segments have beyond whole units
 *
 * So, with what the module above has in caches and in slabs:
 *
 *     reserved == active + whole_bytes + cached + page_part_bytes +
 *                 handle_part_bytes + slab parts + graph_bytes
 */
struct gm_parts {
	uint64_t whole_bytes;	  /* as gm_space_whole_bytes() */
	uint64_t page_part_bytes; /* in pages of which blocks have a part */
	/* Whole pages, of handles of which blocks have a part; or what is free
	 * in segments that are in use. */
	uint64_t handle_part_bytes;
	uint64_t graph_bytes; /* of private arenas */
};
struct gm_parts gm_space_parts(const struct gm_heap *heap);
/* Of whole_bytes: what streams are not known to be done with. Looks at every
 * page that is free. */
uint64_t gm_space_busy_bytes(const struct gm_heap *heap);

/* How large a block can be, whatever becomes free; and how large one is that
 * can be made now for the stream, of `driver_bytes` that the driver has and of
 * all that is unused and completed, beyond the soft limit if need be. The
 * arenas were polled. */
uint64_t gm_space_most_bytes(const struct gm_heap *heap);
uint64_t gm_space_now_bytes(struct gm_heap *heap,
			    const struct gm_attempt *attempt,
			    gpumem_stream stream, uint64_t driver_bytes);

struct gm_tally;

/* check_space.c: adds a free extent to the tally's parts, page by page; and
 * compares all with gm_space_parts(), and what blocks and caches have with
 * `reserved`. */
void gm_check_part(const struct gm_heap *heap, const struct gm_extent *extent,
		   struct gm_tally *tally);
gpumem_status gm_check_parts(const struct gm_heap *heap,
			     const struct gm_tally *tally,
			     uint64_t cached_bytes);

/* check_space.c, as extent/check.h has it: no page that lies wholly in a free
 * extent has a later number; no handle lies in the extent, whole pages, in part
 * only; holes and pages, or segments. */
gpumem_status gm_check_settled(const struct gm_heap *heap,
			       const struct gm_extent *extent);
/* Of an extent that is being mapped, what is not. */
uint64_t gm_space_unmapped_bytes(const struct gm_heap *heap,
				 const struct gm_extent *extent);
gpumem_status gm_check_borders(const struct gm_heap *heap,
			       const struct gm_extent *extent);
gpumem_status gm_check_space(const struct gm_heap *heap,
			     const struct gm_tally *tally);

#endif
