/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A slab: a run of memory cut into equal small blocks, its *slots*, all for one
 * stream. One mark per slot, in host memory, says what the slot is:
 *
 *     0                        not live: free here, or cached
 *     1 .. GM_SMALL_MAX        live; the bytes that were asked for
 *     the same | GM_MARK_MORE  live, and what it has more, a tag, a word or an
 *                              entry (extent/tags.h), is in `more`
 *     GM_MARK_PENDING          freed, streams may still use it
 *
 *     mark has GM_MARK_MORE  =>  more is not 0; else it is 0, but for one that
 *         a thread is about to note
 *     free_count == number of bits in free[] <= number of marks that are 0
 *     in partial[class][level] of the arena  <=>  0 < free_count < slots, or
 *         never used; then level == gm_slab_level()
 *     in empty[class] of the arena            =>  free_count == slots
 *     asleep  =>  in no list: a page of its run is away (pages/away.h)
 *
 * A mark is written by the thread that allocates or frees the slot, without a
 * lock; everything else is guarded by the heap's mutex. All that the hot path
 * needs to know of a slab is in the entries of its run in the map of addresses,
 * so that it need not touch the slab itself, only the mark:
 *
 *     bit 0        1
 *     bits 1-5     the class
 *     bits 6-47    where the slab lies in host memory
 *     bits 48-51   how many granules of the run lie before this one
 *     bits 52-63   the arena's number, or 0
 */
#ifndef GM_CACHE_SLAB_H
#define GM_CACHE_SLAB_H

#include "depot.h"
#include "metadata.h"
#include "extent/map.h"
#include "order/arena.h"

#include <stdatomic.h>

enum {
	GM_MARK_MORE = 0x8000,
	GM_MARK_PENDING = 0x7fff,
	GM_ENTRY_GRANULE_SHIFT = 48,
	GM_ENTRY_ARENA_SHIFT = 52,
	GM_SLAB_LEVELS = 4,
	GM_ARENA_NUMBERS = 4096
};

/* The slabs of an arena, and the depot of what threads have too much of. */
struct gm_slabs {
	/* With a free slot; the fuller ones first. */
	struct gm_slab *partial[GM_CLASS_COUNT][GM_SLAB_LEVELS];
	struct gm_slab *empty[GM_CLASS_COUNT]; /* at most one, all free */
	struct gm_arena *next;		       /* of the arenas with slabs */
	bool linked;	       /* it is in their list: count > 0 => linked */
	size_t count;	       /* of slabs */
	unsigned number;       /* constant; of no other arena unless 0 */
	struct gm_depot depot; /* not under the mutex */
};

/* The stream of a slab whose stream was dropped: equal to no stream. */
extern char gm_stream_gone;

struct gm_slab {
	uintptr_t address;
	_Atomic gpumem_stream stream;
	struct gm_class class; /* a copy, to be at hand */
	uint32_t class_index;
	uint32_t free_count, level;
	struct gm_arena *arena;
	struct gm_extent *extent;
	struct gm_slab *next, *prev; /* in partial */
	bool asleep;
	uint64_t free[GM_SLOTS_MAX / 64];
	/* On lines of their own, since they are written without the mutex; so
	 * far apart that what one thread takes at a time fills a line. */
	_Alignas(GM_LINE) gm_mark mark[]; /* class.marks, and as many `more` */
};

static inline gm_mark *gm_slab_mark(const struct gm_slab *slab, uint32_t slot)
{
	size_t at = (size_t)slot << slab->class.spread;

	return (gm_mark *)&slab->mark[at];
}

/* What the slot of a mark has more, where the mark says so. Behind all marks: a
 * program without tags never touches it. */
static inline gm_mark *gm_mark_more(const struct gm_class *class, gm_mark *mark)
{
	return mark + class->marks;
}

/* Which slot a mark belongs to. */
static inline uint32_t gm_slab_slot(const struct gm_slab *slab,
				    const gm_mark *mark)
{
	return (uint32_t)((mark - slab->mark) >> slab->class.spread);
}

/* The bytes that were asked for, of a live slot. */
static inline uint32_t gm_mark_bytes(uint32_t mark)
{
	return mark & ~(uint32_t)GM_MARK_MORE;
}

static inline bool gm_mark_live(uint32_t mark)
{
	return gm_mark_bytes(mark) - 1 < GM_SMALL_MAX;
}

/* GM_MORE_ bits of a slot by its mark; 0: nothing. */
static inline uint16_t gm_mark_has(const struct gm_class *class, gm_mark *mark)
{
	return atomic_load(mark) & GM_MARK_MORE
		       ? atomic_load(gm_mark_more(class, mark))
		       : 0;
}

static inline uint16_t gm_slab_more(const struct gm_slab *slab, uint32_t slot)
{
	return gm_mark_has(&slab->class, gm_slab_mark(slab, slot));
}

/* Of a live slot. Another thread may add something else meanwhile. */
static inline void gm_slab_add_more(const struct gm_slab *slab, uint32_t slot,
				    uint16_t bits)
{
	gm_mark *mark = gm_slab_mark(slab, slot);

	atomic_fetch_or(gm_mark_more(&slab->class, mark), bits);
	atomic_fetch_or(mark, GM_MARK_MORE);
}

/* Of a slot that ends: before its mark, which says that there is more. */
static inline void gm_mark_clear_more(const struct gm_class *class,
				      gm_mark *mark)
{
	if (atomic_load_explicit(mark, memory_order_relaxed) & GM_MARK_MORE)
		atomic_store_explicit(gm_mark_more(class, mark), 0,
				      memory_order_relaxed);
}

static inline struct gm_slab *gm_slab_of_entry(uintptr_t entry)
{
	const uintptr_t mask = (((uintptr_t)1 << GM_ENTRY_GRANULE_SHIFT) - 1) &
			       ~(uintptr_t)(GM_LINE - 1);

	return entry & 1 ? (struct gm_slab *)(entry & mask) : NULL;
}

/* In which list of those with free slots it belongs: the fuller, the lower. */
static inline uint32_t gm_slab_level(const struct gm_slab *slab)
{
	return slab->free_count * GM_SLAB_LEVELS / (slab->class.slots + 1);
}

static inline unsigned gm_entry_class(uintptr_t entry)
{
	return (unsigned)(entry >> 1) & 31;
}

static inline unsigned gm_entry_arena(uintptr_t entry)
{
	return (unsigned)(entry >> GM_ENTRY_ARENA_SHIFT);
}

/* The heap of an entry of a slab, and the class of its slots: also without the
 * mutex, where the slab may be gone, and another where it was. */
static inline struct gm_heap *gm_entry_heap(uintptr_t entry)
{
	return gm_metadata_heap(gm_slab_of_entry(entry));
}

static inline const struct gm_class *gm_entry_slots(uintptr_t entry)
{
	return &gm_entry_heap(entry)->classes.of[gm_entry_class(entry)];
}

static inline gm_mark *
gm_entry_mark(uintptr_t entry, const struct gm_class *class, uint32_t slot)
{
	return gm_slab_of_entry(entry)->mark + ((size_t)slot << class->spread);
}

/* How far into the run of its entry an address lies. */
static inline uint32_t gm_entry_offset(uintptr_t entry, uintptr_t address)
{
	unsigned granules = (unsigned)(entry >> GM_ENTRY_GRANULE_SHIFT) & 15;

	return (granules << GM_GRANULE_SHIFT) +
	       ((uint32_t)address & ((1u << GM_GRANULE_SHIFT) - 1));
}

/* Makes what an arena needs for slabs, where it has none. OK or NO_HOST_MEMORY.
 */
gpumem_status gm_slabs_make(struct gm_arena *arena);
/* Of an arena that ends: it has no slabs any more. */
void gm_slabs_fini(struct gm_arena *arena);
uint64_t gm_slabs_host_bytes(const struct gm_arena *arena);

/* How many slots of a class are in the depot, with all caches stopped. */
static inline uint64_t gm_slabs_depot_count(const struct gm_arena *arena,
					    unsigned class_index)
{
	return arena->slabs ? gm_depot_count(&arena->slabs->depot, class_index)
			    : 0;
}

/* Has it a free slot of the class, also in the depot, with all caches stopped?
 */
static inline bool gm_slabs_have_slot(const struct gm_slabs *slabs,
				      unsigned class_index)
{
	for (unsigned i = 0; i < GM_SLAB_LEVELS; i++)
		if (slabs->partial[class_index][i])
			return true;
	return slabs->empty[class_index] ||
	       gm_depot_count(&slabs->depot, class_index);
}

/* Makes a slab out of an extent that was carved for it (run_bytes long, aligned
 * to GM_RUN_UNIT) and puts it into the arena. NO_HOST_MEMORY: the extent is as
 * it was. */
gpumem_status gm_slab_create(struct gm_arena *arena, unsigned class_index,
			     struct gm_extent *extent);

/* Takes up to `count` free slots of the class out of the arena's slabs. Returns
 * how many. */
unsigned gm_slab_take(struct gm_arena *arena, unsigned class_index,
		      struct gm_slot *slots, unsigned count);

/* Puts a slot back whose mark is 0; one that was pending. */
void gm_slab_put(struct gm_slab *slab, uint32_t slot);
void gm_slab_put_pending(struct gm_slab *slab, uint32_t slot);
void gm_slab_put_slot(const struct gm_slot *slot);

/* A page of its run is to be away: nothing is taken out of it until it wakes
 * up. No cache has a slot of it, and none is pending. */
void gm_slab_sleep(struct gm_slab *slab);
void gm_slab_wake(struct gm_slab *slab);
/* A slot of one that sleeps is free, and its mark 0. True: it was the last, so
 * the slab has ended; its run is the caller's. */
bool gm_slab_put_asleep(struct gm_slab *slab, uint32_t slot);

/* Gives the runs of empty slabs back to the arena's free extents. */
void gm_slabs_purge(struct gm_arena *arena);
/* Of all arenas but those of graphs. */
void gm_slabs_purge_all(struct gm_heap *heap);

/* The stream of the arena is gone: its slabs belong to no stream. */
void gm_slabs_orphan(struct gm_arena *arena);

/* The slab of a run whose arena's stream was dropped becomes one of `arena`,
 * for which gm_slabs_make() was called. */
void gm_slab_move(struct gm_extent *run, struct gm_arena *arena);

/* number.c: without the mutex. */
unsigned gm_arena_number_take(void);
void gm_arena_number_give(unsigned number);

/* The slab's heap ends: its blocks leave the map of addresses. */
void gm_slab_forget(const struct gm_slab *slab);

size_t gm_slab_host_bytes(const struct gm_class *class);

/* How many bytes of a slot have no memory. */
static inline uint64_t gm_slot_gone_bytes(const struct gm_heap *heap,
					  const struct gm_slab *slab,
					  uint32_t slot)
{
	return slab->asleep ? gm_pages_gone_bytes(
				      &heap->spans,
				      slab->address + (uintptr_t)slot *
							      slab->class.bytes,
				      slab->class.bytes)
			    : 0;
}

struct gm_tally;

/* check_slab.c, as extent/check.h has it: one run; then the lists of all
 * arenas.
 */
gpumem_status gm_check_slab(const struct gm_heap *heap,
			    const struct gm_extent *extent,
			    struct gm_tally *tally);
gpumem_status gm_check_slabs(const struct gm_heap *heap,
			     struct gm_tally *tally);

#endif
