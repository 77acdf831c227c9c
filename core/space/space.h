/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where a heap's addresses and its memory come from, and how much it may
 * reserve (budget.h). There are two models, which a heap has one of (struct
 * gm_model): with virtual memory core/pages, in which the pages of free memory
 * move to where they are needed; without it core/segments, in which memory
 * stays where the driver gave it. They alone take memory from the driver and
 * give it back.
 *
 *     the limit is enforced there only, by budget.h, before memory is taken
 *                           from the driver (supply.c, segment.c)
 *     nothing waits         for an event: what has not completed is skipped;
 *                           but segments/drain.c, for a bounded time
 *
 * With pages: spans of addresses in which pages are mapped; one as a rule, and
 * more when it is full (range.c). The driver gives physical handles of one or
 * more pages, which are mapped and unmapped whole (extent/span.h). With
 * segments: a span per raw allocation.
 *
 *     reserved == page_bytes * (mapped pages - stale ones + spare + growth's)
 *                 + away.taken_bytes, with pages; of these releasing_bytes are
 *                 being given back to the driver
 *     reserved == sum of the spans' bytes + releasing_bytes, with segments
 *     a hole, and what is being given back, begins and ends where a handle does
 *     spare_pages == sum of the pages of the spare handles
 *     spare_count + releasing_bytes / page_bytes + growth.spare_count
 *                 <= spare_room, with pages
 *
 * The heap's mutex guards it.
 */
#ifndef GM_SPACE_SPACE_H
#define GM_SPACE_SPACE_H

#include "budget.h"
#include "growth.h"
#include "price.h"
#include "ranges.h"
#include "base/option.h"

struct gm_arena;
struct gm_first;
struct gm_tally;

/* A physical handle that is not mapped, or lent. */
struct gm_handle {
	gpumem_page page;
	size_t pages;	/* that it covers */
	uint64_t seqno; /* spare: of the heap, when it became that;
			   lent: of its last free */
	bool lent;	/* its last place is stale from now on */
	uintptr_t from; /* where it was mapped last; 0: it never was */
};

/* Places that pages have left, but for the mapping: see pages/stale.h. */
struct gm_stale {
	bool on;	   /* constant: pages can be lent */
	uint32_t ring;	   /* the stale extents, about the oldest first */
	uint32_t lending;  /* those of the growth under way */
	uint32_t retiring; /* being unmapped; the mutex may be free */
	uint64_t bytes;
	size_t handles;
	size_t places; /* constant: with more handles there is much of it */
	size_t most;   /* constant: handles */
	pthread_cond_t retired; /* one is not being unmapped any more */
};

/*
 * What a sleep has taken, or is about to take (pages/away.h, core/sleep). Away
 * is a page that is marked so in the table; it has memory until all is copied,
 * and again when a wake could not undo that it was mapped.
 *
 *     pages == how many are marked; gone_pages == those of them without memory
 *     sleeping.current == sum of the live blocks' bytes on these
 *     parked_bytes == sum of the ASLEEP extents' bytes that have memory
 *     active <= reserved + sleeping
 */
struct gm_away {
	/* A sleep or a wake is under way: no page that is away becomes a hole.
	 */
	bool busy;
	uint64_t pages, gone_pages;
	uint64_t parked_bytes; /* free, but kept for the wake */
	/* By a wake, from the driver, and in no table yet. */
	uint64_t taken_bytes, taken_handles;
};

struct gm_space {
	const struct gm_model *model; /* constant */
	struct gm_budget budget;
	struct gm_growth growth;
	struct gm_ranges ranges;
	uint64_t releasing_bytes; /* being given back: see release.c */
	uint64_t releases; /* how often that ended, in success or failure */
	/* With pages. */
	size_t handle_pages; /* constant: of the largest handle, or 1 */
	uint64_t span_bytes; /* of all spans */
	uint64_t most_bytes; /* constant: they never come to more */
	uint32_t holes;	     /* a ring */
	struct gm_stale stale;
	struct gm_away away;
	struct gm_handle *spare; /* by age, the oldest first */
	size_t spare_count, spare_room, spare_pages;
};

/* What to give back to the driver in one step. */
struct gm_release {
	uint64_t bytes; /* at most so much, rounded up to a handle or segment */
	uint64_t newest; /* only what was last freed with this seqno or before
			  */
	unsigned skip;	 /* pass over the first so many that could go */
};

/* What the driver gave as one: a handle, or a segment. */
struct gm_unit {
	uintptr_t address;
	uint64_t bytes; /* 0: nothing is mapped there */
};

/* Which rows of the ladder are for a model (heap/sources.c). */
enum { GM_WITH_PAGES = 4, GM_WITH_SEGMENTS = 8 };

/*
 * A model of memory. Each call is one of the functions below, or says what it
 * has of its own there.
 */
struct gm_model {
	unsigned with; /* GM_WITH_... */
	/* How much of it may be unused, and at most, if moves are saved. */
	enum gm_core_option waste, waste_max;
	/* Without the mutex: what is constant; the first addresses; and at the
	 * end all goes back, used or not, but for the spans' own structs. */
	void (*init)(struct gm_heap *heap);
	gpumem_status (*start)(struct gm_heap *heap);
	void (*end)(struct gm_heap *heap, struct gm_first *first);

	/* How much the driver has to give for a request. */
	uint64_t (*need)(const struct gm_heap *heap, uint64_t bytes);
	gpumem_status (*grow)(struct gm_heap *heap, struct gm_attempt *attempt,
			      struct gm_arena *arena, size_t bytes,
			      size_t alignment, struct gm_extent **extent_out);
	/* Claims several pieces of other streams' free memory that together
	 * serve `bytes`, if grows after a growth. False: there are none. */
	bool (*gather)(const struct gm_transfer *transfer, bool grows);
	/* Before a trim: what can go without one. */
	gpumem_status (*settle)(struct gm_heap *heap);
	gpumem_status (*release)(struct gm_heap *heap,
				 const struct gm_release *leave,
				 uint64_t *bytes_out);

	uint64_t (*whole_bytes)(const struct gm_heap *heap);
	uint64_t (*busy_bytes)(const struct gm_heap *heap);
	/* What no block can have, at the ends of units. */
	uint64_t (*rest_bytes)(const struct gm_heap *heap);
	uint64_t (*most_bytes)(const struct gm_heap *heap);
	uint64_t (*now_bytes)(struct gm_heap *heap,
			      const struct gm_attempt *attempt,
			      gpumem_stream stream, uint64_t driver_bytes);

	struct gm_unit (*unit)(const struct gm_heap *heap,
			       const struct gm_span *span, uintptr_t address);
	void (*record)(const struct gm_heap *heap);
	/* Calls fn for each range that has memory and is not about to lose it.
	 */
	void (*mapped)(const struct gm_heap *heap,
		       void (*fn)(uintptr_t address, uint64_t bytes,
				  void *user),
		       void *user);
	/* It stays, or may go again, whole units of it. False: some of it has
	 * no memory, or is about to lose it, and nothing was changed. */
	bool (*pin)(struct gm_heap *heap, uintptr_t address, size_t bytes,
		    bool pinned);
	gpumem_status (*open)(struct gm_heap *heap, struct gpumem_device *peer);
	/* A free extent, which is added to the tally's parts; and all. */
	gpumem_status (*check_free)(const struct gm_heap *heap,
				    const struct gm_extent *extent,
				    struct gm_tally *tally);
	gpumem_status (*check)(const struct gm_heap *heap,
			       const struct gm_tally *tally);
};

/* Which one it is, for what is said of a heap. What a heap does differs in the
 * model's functions, and in which rows of the ladder are for it. */
static inline bool gm_space_has_pages(const struct gm_heap *heap)
{
	return heap->space->model->with == GM_WITH_PAGES;
}

/* Without the mutex. OK or NO_HOST_MEMORY. */
gpumem_status gm_space_init(struct gm_heap *heap, const struct gm_model *model);
/* Reserves the first span when the heap has pages, once their size is known.
 * OK, NO_HOST_MEMORY, or what the driver said, with what can be done. */
gpumem_status gm_space_start(struct gm_heap *heap);
/* Gives back everything, used or not. */
gpumem_status gm_space_fini(struct gm_heap *heap);
uint64_t gm_space_host_bytes(const struct gm_heap *heap);

/* A device uses all that is there too, from now on; what is mapped later is the
 * driver's business (struct gm_driver). Within a growth that has not let go of
 * the mutex. OK, or what the driver said, when it uses some. */
gpumem_status gm_space_open(struct gm_heap *heap, struct gpumem_device *peer);

/* For a recording that begins: an event for all that has memory. */
void gm_space_record(const struct gm_heap *heap);

/* The unit at an address of the span. */
struct gm_unit gm_space_unit(const struct gm_heap *heap,
			     const struct gm_span *span, uintptr_t address);

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
 *                + away.parked_bytes + away.taken_bytes
 *
 * So, with what the module above has in caches and in slabs:
 *
 *     reserved == active - sleeping + whole_bytes + cached + page_part_bytes +
 *                 handle_part_bytes + slab parts + graph_bytes
 */
struct gm_parts {
	uint64_t whole_bytes;	  /* as gm_space_whole_bytes() */
	uint64_t page_part_bytes; /* in pages of which blocks have a part */
	/* Whole pages, of handles of which blocks have a part, and what is
	 * parked; or what is free in segments that are in use. */
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

/* check_parts.c: compares what the walk found with gm_space_parts(), and what
 * blocks and caches have with `reserved`. */
gpumem_status gm_check_parts(const struct gm_heap *heap,
			     const struct gm_tally *tally,
			     uint64_t cached_bytes);

#endif
