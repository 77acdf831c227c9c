/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Runs cut into slots; see slab.h. */
#include "cache.h"
#include "slab.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

char gm_stream_gone;

size_t gm_slab_host_bytes(const struct gm_class *class)
{
	size_t bytes =
		sizeof(struct gm_slab) + 2 * class->marks * sizeof(gm_mark);

	return (bytes + GM_LINE - 1) & ~(size_t)(GM_LINE - 1);
}

/* The arena's lists of slabs with some, not all, slots free. */
static struct gm_slab **partial_head(const struct gm_slab *slab)
{
	return &slab->arena->slabs->partial[slab->class_index][slab->level];
}

static void partial_add(struct gm_slab *slab)
{
	struct gm_slab **head;

	slab->level = gm_slab_level(slab);
	head = partial_head(slab);
	slab->prev = NULL;
	slab->next = *head;
	if (*head)
		(*head)->prev = slab;
	*head = slab;
}

static void partial_remove(struct gm_slab *slab)
{
	if (slab->prev)
		slab->prev->next = slab->next;
	else
		*partial_head(slab) = slab->next;
	if (slab->next)
		slab->next->prev = slab->prev;
}

/* The entries of the run: slab.h says what is in them. */
static void fill_map(const struct gm_slab *slab)
{
	uintptr_t entry = (uintptr_t)slab | slab->class_index << 1 | 1 |
			  (uintptr_t)slab->arena->slabs->number
				  << GM_ENTRY_ARENA_SHIFT;

	for (uintptr_t i = 0; i << GM_GRANULE_SHIFT < slab->class.run_bytes;
	     i++)
		gm_map_set(slab->address + (i << GM_GRANULE_SHIFT),
			   entry | i << GM_ENTRY_GRANULE_SHIFT);
}

/* Its number of free slots has changed. */
static void partial_move(struct gm_slab *slab)
{
	if (gm_slab_level(slab) == slab->level)
		return;
	partial_remove(slab);
	partial_add(slab);
}

gpumem_status gm_slabs_make(struct gm_arena *arena)
{
	struct gm_slabs *slabs;

	if (arena->slabs)
		return GPUMEM_OK;
	slabs = aligned_alloc(GM_LINE, sizeof(*slabs));
	if (slabs)
		memset(slabs, 0, sizeof(*slabs));
	if (!slabs ||
	    !gm_depot_init(&slabs->depot, arena->heap->caches->shard_count)) {
		free(slabs);
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a stream's small blocks");
	}
	slabs->number = gm_arena_number_take();
	arena->slabs = slabs;
	return GPUMEM_OK;
}

/* The arena has one slab more. */
static void count_one(struct gm_arena *arena)
{
	struct gm_caches *caches = arena->heap->caches;

	arena->slabs->count++;
	if (arena->slabs->linked)
		return;
	arena->slabs->linked = true;
	arena->slabs->next = caches->with_slabs;
	caches->with_slabs = arena;
}

static void unlink_arena(const struct gm_arena *arena)
{
	struct gm_arena **link = &arena->heap->caches->with_slabs;

	if (!arena->slabs->linked)
		return;
	while (*link != arena)
		link = &(*link)->slabs->next;
	*link = arena->slabs->next;
}

void gm_slabs_fini(struct gm_arena *arena)
{
	if (!arena->slabs)
		return;
	unlink_arena(arena);
	gm_depot_fini(&arena->slabs->depot);
	gm_arena_number_give(arena->slabs->number);
	free(arena->slabs);
	arena->slabs = NULL;
}

uint64_t gm_slabs_host_bytes(const struct gm_arena *arena)
{
	if (!arena->slabs)
		return 0;
	return sizeof(*arena->slabs) +
	       gm_depot_host_bytes(&arena->slabs->depot);
}

/* aligned_alloc() wants it. */
_Static_assert(sizeof(struct gm_slabs) % GM_LINE == 0,
	       "the slabs of an arena are whole lines");

gpumem_status gm_slab_create(struct gm_arena *arena, unsigned class_index,
			     struct gm_extent *extent)
{
	struct gm_heap *heap = arena->heap;
	const struct gm_class *class = &heap->classes.of[class_index];
	gpumem_status status = gm_slabs_make(arena);
	struct gm_slab *slab;

	if (status != GPUMEM_OK)
		return status;
	slab = gm_metadata_take(&heap->caches->metadata,
				gm_slab_host_bytes(class));
	if (!slab)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for the metadata of %u blocks",
			       class->slots);
	memset(slab, 0, sizeof(*slab) + class->marks * sizeof(gm_mark));
	slab->address = extent->address;
	slab->arena = arena;
	atomic_init(&slab->stream,
		    arena->dropped ? &gm_stream_gone : arena->stream);
	slab->class = *class;
	slab->class_index = class_index;
	slab->extent = extent;
	slab->free_count = class->slots;
	for (uint32_t i = 0; i < class->slots; i++)
		slab->free[i / 64] |= 1ull << (i % 64);
	gm_extent_set(extent, GM_EXTENT_RUN);
	gm_extent_move(extent, arena);
	fill_map(slab);
	partial_add(slab);
	count_one(arena);
	return GPUMEM_OK;
}

/* What is left of a slab that is in no list is its run. */
static void end(struct gm_slab *slab)
{
	const struct gm_extent *extent = slab->extent;

	slab->arena->slabs->count--;
	gm_map_fill(extent->address, extent->bytes, 0);
	gm_metadata_give(&slab->arena->heap->caches->metadata, slab,
			 gm_slab_host_bytes(&slab->class));
}

/* The run goes back to the free extents. The slab is in no list. */
static void destroy(struct gm_slab *slab)
{
	struct gm_arena *arena = slab->arena;
	struct gm_extent *extent = slab->extent;

	end(slab);
	(void)gm_arena_release(arena, extent);
}

void gm_slab_forget(const struct gm_slab *slab)
{
	gm_map_fill(slab->extent->address, slab->extent->bytes, 0);
}

/* A slab to take from: the fuller ones first, so that the others become empty;
 * one in use before an empty one. */
static struct gm_slab *source(struct gm_arena *arena, unsigned class_index)
{
	struct gm_slabs *slabs = arena->slabs;
	struct gm_slab *slab = NULL;

	if (!slabs)
		return NULL;
	for (unsigned i = 0; i < GM_SLAB_LEVELS && !slab; i++)
		slab = slabs->partial[class_index][i];
	if (!slab && (slab = slabs->empty[class_index])) {
		slabs->empty[class_index] = NULL;
		partial_add(slab);
	}
	return slab;
}

static unsigned take_from(struct gm_slab *slab, struct gm_slot *slots,
			  unsigned count)
{
	unsigned taken = 0;

	for (uint32_t word = 0; taken < count && word < GM_SLOTS_MAX / 64;) {
		uint32_t slot;

		if (!slab->free[word]) {
			word++;
			continue;
		}
		slot = word * 64 + (uint32_t)__builtin_ctzll(slab->free[word]);
		slab->free[word] &= slab->free[word] - 1;
		slots[taken].address =
			slab->address + (uintptr_t)slot * slab->class.bytes;
		slots[taken++].mark = gm_slab_mark(slab, slot);
	}
	partial_remove(slab);
	slab->free_count -= taken;
	if (slab->free_count)
		partial_add(slab);
	return taken;
}

unsigned gm_slab_take(struct gm_arena *arena, unsigned class_index,
		      struct gm_slot *slots, unsigned count)
{
	struct gm_slab *slab;
	unsigned taken = 0;

	while (taken < count && (slab = source(arena, class_index)))
		taken += take_from(slab, slots + taken, count - taken);
	return taken;
}

void gm_slab_put(struct gm_slab *slab, uint32_t slot)
{
	struct gm_slab **empty = &slab->arena->slabs->empty[slab->class_index];

	slab->free[slot / 64] |= 1ull << (slot % 64);
	if (slab->free_count++)
		partial_move(slab);
	else
		partial_add(slab);
	if (slab->free_count < slab->class.slots)
		return;
	partial_remove(slab);
	/* One is kept: a block freed and allocated again at the border must not
	 * make and unmake a slab each time. */
	if (!*empty)
		*empty = slab;
	else
		destroy(slab);
}

void gm_slab_put_pending(struct gm_slab *slab, uint32_t slot)
{
	atomic_store_explicit(gm_slab_mark(slab, slot), 0,
			      memory_order_relaxed);
	gm_slab_put(slab, slot);
}

void gm_slab_put_slot(const struct gm_slot *slot)
{
	struct gm_slab *slab = gm_slab_of_entry(gm_map_get(slot->address));

	gm_slab_put(slab, gm_slab_slot(slab, slot->mark));
}

void gm_slab_sleep(struct gm_slab *slab)
{
	struct gm_slab **empty = &slab->arena->slabs->empty[slab->class_index];

	if (slab == *empty)
		*empty = NULL;
	else if (slab->free_count)
		partial_remove(slab);
	slab->asleep = true;
}

void gm_slab_wake(struct gm_slab *slab)
{
	slab->asleep = false;
	if (slab->free_count)
		partial_add(slab);
}

bool gm_slab_put_asleep(struct gm_slab *slab, uint32_t slot)
{
	slab->free[slot / 64] |= 1ull << (slot % 64);
	if (++slab->free_count < slab->class.slots || slab->arena->graph)
		return false;
	end(slab);
	return true;
}

/* New ones that no slot was ever taken from are in the last list. */
static void purge_class(struct gm_slabs *slabs, unsigned class_index)
{
	struct gm_slab *slab = slabs->empty[class_index], *next;

	slabs->empty[class_index] = NULL;
	if (slab)
		destroy(slab);
	slab = slabs->partial[class_index][GM_SLAB_LEVELS - 1];
	for (; slab; slab = next) {
		next = slab->next;
		if (slab->free_count < slab->class.slots)
			continue;
		partial_remove(slab);
		destroy(slab);
	}
}

void gm_slabs_purge(struct gm_arena *arena)
{
	if (!arena->slabs)
		return;
	for (unsigned i = 0; i < arena->heap->classes.count; i++)
		purge_class(arena->slabs, i);
}

/* Those that have none left leave the list. */
void gm_slabs_purge_all(struct gm_heap *heap)
{
	struct gm_arena **link = &heap->caches->with_slabs, *arena;

	while ((arena = *link)) {
		if (!arena->graph)
			gm_slabs_purge(arena);
		if (arena->slabs->count) {
			link = &arena->slabs->next;
			continue;
		}
		*link = arena->slabs->next;
		arena->slabs->linked = false;
	}
}

static struct gm_slab *slab_of_run(const struct gm_extent *extent)
{
	return gm_slab_of_entry(gm_map_get(extent->address));
}

void gm_slabs_orphan(struct gm_arena *arena)
{
	struct gm_extent *extent = gm_heap_first(arena->heap);

	gm_slabs_purge(arena);
	for (; extent; extent = gm_heap_next(arena->heap, extent))
		if (gm_extent_is(extent, GM_EXTENT_RUN) &&
		    extent->arena == arena)
			atomic_store(&slab_of_run(extent)->stream,
				     &gm_stream_gone);
}

void gm_slab_move(struct gm_extent *run, struct gm_arena *arena)
{
	struct gm_slab *slab = slab_of_run(run);

	if (slab->free_count && !slab->asleep)
		partial_remove(slab);
	slab->arena->slabs->count--;
	count_one(arena);
	slab->arena = arena;
	atomic_store(&slab->stream, arena->stream);
	fill_map(slab);
	if (slab->free_count && !slab->asleep)
		partial_add(slab);
}
