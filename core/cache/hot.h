/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The hot path: a block out of the calling thread's cache, and back into it. It
 * is all in this header, to be inlined in the API layer. No mutex: the owner
 * locks its cache as local.h says, or holds the heap's mutex.
 */
#ifndef GM_CACHE_HOT_H
#define GM_CACHE_HOT_H

#include "local.h"
#include "extent/map.h"

/* The door has the hot path in it, though it is also tried again elsewhere. */
#define GM_HOT static inline __attribute__((always_inline))

GM_HOT void gm_local_count_alloc(struct gm_local *local, size_t requested,
				 size_t bytes)
{
	struct gm_group *group = local->group;

	gm_delta_add(&group->counts.requested, requested,
		     &group->above->requested, GM_STEP_BYTES);
	gm_delta_add(&group->counts.allocated, bytes, &group->above->allocated,
		     GM_STEP_BYTES);
	gm_delta_add(&group->counts.blocks, 1, &group->above->blocks,
		     GM_STEP_BLOCKS);
}

GM_HOT void gm_local_count_free(struct gm_local *local, size_t requested,
				size_t bytes)
{
	struct gm_counts *counts = &local->group->counts;

	gm_delta_sub(&counts->requested, requested);
	gm_delta_sub(&counts->allocated, bytes);
	gm_delta_sub(&counts->blocks, 1);
}

/* Takes a ready slot. The owner has entered, or holds the heap's mutex. */
GM_HOT void *gm_local_pop(struct gm_local *local, unsigned class_index,
			  uint32_t class_bytes, size_t bytes)
{
	struct gm_bin *bin = &local->bin[class_index];
	struct gm_slot *slot = &bin->slot[--bin->count];

	atomic_store_explicit(slot->mark, (uint16_t)bytes,
			      memory_order_relaxed);
	gm_local_count_alloc(local, bytes, class_bytes);
	return (void *)slot->address;
}

/* The same for a large block of exactly the size that `bytes` rounds to; NULL:
 * there is none. */
GM_HOT void *gm_local_pop_large(struct gm_local *local, size_t unit,
				size_t bytes)
{
	size_t rounded = (bytes + unit - 1) & ~(unit - 1);
	struct gm_extent *extent = gm_cached_take(&local->cached, rounded);

	if (!extent)
		return NULL;
	extent->requested = bytes;
	gm_extent_set(extent, GM_EXTENT_LARGE);
	gm_local_count_alloc(local, bytes, rounded);
	return (void *)extent->address;
}

/* What is constant where the hot path is inlined. While its heap is recorded
 * the PLAIN one finds nothing. AFTER: blocks of other threads have just come
 * into the cache. */
enum gm_hot { GM_HOT_PLAIN, GM_HOT_RECORDED, GM_HOT_RECORDED_AFTER };

GM_HOT bool gm_hot_lock(struct gm_local *local, enum gm_hot how,
			bool *recorded_out)
{
	return how == GM_HOT_PLAIN ? gm_local_lock(local)
				   : gm_local_lock_recorded(local, recorded_out);
}

/* A ready block, or NULL. */
GM_HOT void *gm_hot_alloc(struct gm_heap *heap, size_t bytes,
			  gpumem_stream stream, enum gm_hot how)
{
	struct gm_local *local = gm_local_last;
	bool recorded = false;
	unsigned class_index;
	void *ptr = NULL;

	if (!gm_local_is(local, heap, stream) ||
	    !gm_hot_lock(local, how, &recorded))
		return NULL;
	if (bytes - 1 < GM_SMALL_MAX) {
		class_index = gm_class_of(&heap->classes, bytes);
		if (local->bin[class_index].count)
			ptr = gm_local_pop(local, class_index,
					   heap->classes.of[class_index].bytes,
					   bytes);
	} else {
		ptr = gm_local_pop_large(local, heap->unit, bytes);
	}
	if (recorded && ptr)
		gm_local_record(local, GPUMEM_RECORD_ALLOC,
				how == GM_HOT_RECORDED_AFTER
					? gm_record_now_after()
					: gm_record_now(),
				ptr, bytes);
	gm_local_unlock(local);
	return ptr;
}

/* A ready block, or NULL: take the slow path. Without the mutex. */
GM_HOT void *gm_local_alloc(struct gm_heap *heap, size_t bytes,
			    gpumem_stream stream)
{
	return gm_hot_alloc(heap, bytes, stream, GM_HOT_PLAIN);
}

/* Puts a live slot among the ready ones. The owner has entered, or holds the
 * heap's mutex; there is room. */
static inline void gm_local_push(struct gm_local *local, unsigned class_index,
				 uint32_t class_bytes, uintptr_t address,
				 gm_mark *mark)
{
	struct gm_bin *bin = &local->bin[class_index];

	gm_local_count_free(local,
			    atomic_load_explicit(mark, memory_order_relaxed),
			    class_bytes);
	atomic_store_explicit(mark, 0, memory_order_relaxed);
	bin->slot[bin->count++] =
		(struct gm_slot){.address = address, .mark = mark};
}

/* The entry's arena is the local's. */
static inline bool gm_local_free_small(struct gm_local *local,
				       const struct gm_heap *heap,
				       uintptr_t entry, uintptr_t address)
{
	unsigned class_index = gm_entry_class(entry);
	const struct gm_class *class = &heap->classes.of[class_index];
	uint32_t offset = gm_entry_offset(entry, address);
	uint32_t slot = gm_class_slot(class, offset);
	gm_mark *mark =
		gm_slab_of_entry(entry)->mark + ((size_t)slot << class->spread);

	if (slot >= class->slots || slot * class->bytes != offset ||
	    atomic_load_explicit(mark, memory_order_relaxed) - 1u >=
		    GM_SMALL_MAX ||
	    local->bin[class_index].count >= class->keep)
		return false;
	gm_local_push(local, class_index, class->bytes, address, mark);
	return true;
}

/* Puts a live large block of the local's arena, with no other uses, among the
 * ready ones; there is room. */
static inline void gm_local_push_large(struct gm_local *local,
				       struct gm_extent *extent)
{
	gm_local_count_free(local, extent->requested, extent->bytes);
	gm_extent_set(extent, GM_EXTENT_CACHED);
	gm_cached_put(&local->cached, extent);
}

static inline bool gm_local_free_large(struct gm_local *local,
				       struct gm_extent *extent,
				       uintptr_t address)
{
	if (extent->address != address ||
	    gm_extent_arena(extent) != local->arena ||
	    !gm_extent_is(extent, GM_EXTENT_LARGE) || extent->shared ||
	    !gm_cached_has_room(&local->cached, extent->bytes))
		return false;
	gm_local_push_large(local, extent);
	return true;
}

/* Of a live block that lies there; what else lies there has any. */
GM_HOT uint64_t gm_hot_requested(const struct gm_heap *heap, uintptr_t entry,
				 uintptr_t address)
{
	const struct gm_class *class;
	uint32_t slot;

	if (!(entry & 1))
		return ((const struct gm_extent *)entry)->requested;
	class = &heap->classes.of[gm_entry_class(entry)];
	slot = gm_class_slot(class, gm_entry_offset(entry, address));
	return slot < class->slots
		       ? atomic_load_explicit(
				 gm_slab_of_entry(entry)->mark +
					 ((size_t)slot << class->spread),
				 memory_order_relaxed)
		       : 0;
}

/* Of any stream, or only of a block that is freed on the stream of the cache.
 */
GM_HOT bool gm_hot_free(void *ptr, bool any, gpumem_stream stream,
			enum gm_hot how)
{
	uintptr_t entry = gm_map_get((uintptr_t)ptr);
	struct gm_local *local = gm_local_last;
	const struct gm_heap *heap =
		atomic_load_explicit(&local->heap, memory_order_relaxed);
	uint64_t time = 0, requested = 0;
	bool done = false, recorded = false;

	if (!entry || !heap || (!any && local->stream != stream) ||
	    !gm_hot_lock(local, how, &recorded))
		return false;
	if (recorded) {
		time = gm_record_now_after();
		requested = gm_hot_requested(heap, entry, (uintptr_t)ptr);
	}
	if (!(entry & 1))
		done = gm_local_free_large(local, (struct gm_extent *)entry,
					   (uintptr_t)ptr);
	else if (gm_entry_arena(entry) == local->arena_number)
		done = gm_local_free_small(local, heap, entry, (uintptr_t)ptr);
	if (recorded && done)
		gm_local_record(local, GPUMEM_RECORD_FREE, time, ptr,
				requested);
	gm_local_unlock(local);
	return done;
}

/* Frees a block into the thread's cache; false: take the slow path, and nothing
 * has happened. Without the mutex. */
GM_HOT bool gm_local_free(void *ptr, gpumem_stream stream)
{
	return gm_hot_free(ptr, false, stream, GM_HOT_PLAIN);
}

/* The same on the block's own stream: a cache takes only blocks of its arena,
 * and so of its stream. */
GM_HOT bool gm_local_free_own(void *ptr)
{
	return gm_hot_free(ptr, true, NULL, GM_HOT_PLAIN);
}

#endif
