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
	struct gm_counts *counts = &group->counts;

	if (gm_delta_up(&counts->requested, requested))
		gm_delta_rise(&counts->requested, &group->above->requested,
			      GM_STEP_BYTES);
	if (gm_delta_up(&counts->allocated, bytes))
		gm_delta_rise(&counts->allocated, &group->above->allocated,
			      GM_STEP_BYTES);
	if (gm_delta_up(&counts->blocks, 1))
		gm_delta_rise(&counts->blocks, &group->above->blocks,
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

/* Takes a ready slot, which gets a tag or none, 0. The owner has entered, or
 * holds the heap's mutex. */
GM_HOT void *gm_local_pop(struct gm_local *local, const struct gm_class *class,
			  unsigned class_index, size_t bytes, uint32_t tag)
{
	struct gm_bin *bin = &local->bin[class_index];
	/* A copy: nothing is read of the bin behind what is written. */
	const struct gm_slot slot = bin->slot[--bin->count];

	if (tag)
		atomic_store_explicit(gm_mark_more(class, slot.mark),
				      (uint16_t)tag, memory_order_relaxed);
	atomic_store_explicit(slot.mark,
			      (uint16_t)(tag ? bytes | GM_MARK_MORE : bytes),
			      memory_order_relaxed);
	gm_local_count_alloc(local, bytes, class->bytes);
	return (void *)slot.address;
}

/* The same for a large block of exactly the size that `bytes` rounds to; NULL:
 * there is none. */
GM_HOT void *gm_local_pop_large(struct gm_local *local, size_t unit,
				size_t bytes, uint32_t tag)
{
	size_t rounded = (bytes + unit - 1) & ~(unit - 1);
	struct gm_extent *extent = gm_cached_take(&local->cached, rounded);

	if (!extent)
		return NULL;
	extent->requested = bytes;
	if (tag)
		extent->more = (uint16_t)tag;
	gm_extent_set(extent, GM_EXTENT_LARGE);
	gm_local_count_alloc(local, bytes, rounded);
	return (void *)extent->address;
}

/* What is constant where the hot path is inlined. PLAIN is that of a thread and
 * a block without a tag, of a heap that is not recorded; it leaves all else
 * alone. AGAIN knows of tags and recordings. AFTER: the same, when blocks of
 * other threads have just come into the cache. */
enum gm_hot { GM_HOT_PLAIN, GM_HOT_AGAIN, GM_HOT_AFTER };

/* Whether the thread counts blocks of the tag on its own, while it has locked
 * the cache. */
GM_HOT bool gm_local_counts(const struct gm_local *local, unsigned tag)
{
	struct gm_tag_deltas *deltas = local->group->tags;

	if (!deltas)
		return false;
	if (__builtin_expect(tag == deltas->last, true))
		return true;
	return gm_tag_choose(
		atomic_load_explicit(&local->heap, memory_order_relaxed)->tags,
		deltas, tag);
}

/* Of the cache that is locked: a ready block, or NULL; if it may have more,
 * with an event if the heap is recorded, as `claimed` of the cache says. */
GM_HOT void *gm_hot_take(struct gm_local *local, struct gm_heap *heap,
			 size_t bytes, uint32_t tag, enum gm_hot how,
			 uint32_t claimed)
{
	const struct gm_class *class;
	unsigned class_index;
	void *ptr;

	if (tag && !gm_local_counts(local, tag))
		return NULL;
	if (bytes - 1 < GM_SMALL_MAX) {
		class_index = gm_class_of(&heap->classes, bytes);
		class = &heap->classes.of[class_index];
		if (!local->bin[class_index].count)
			return NULL;
		ptr = gm_local_pop(local, class, class_index, bytes, tag);
	} else if (tag && gm_tag_fate(tag)) {
		return NULL; /* it has pages of its own */
	} else {
		ptr = gm_local_pop_large(local, heap->unit, bytes, tag);
	}
	if (tag && ptr)
		gm_tag_count_alloc(heap->tags, local->group->tags, tag, bytes);
	if (how != GM_HOT_PLAIN && claimed & GM_CLAIM_RECORDED && ptr)
		gm_local_record(local, GPUMEM_RECORD_ALLOC,
				how == GM_HOT_AFTER ? gm_record_now_after()
						    : gm_record_now(),
				ptr, bytes, tag);
	return ptr;
}

/* Locks the cache; for any block also where the thread has a tag, or the heap
 * is recorded. */
GM_HOT bool gm_hot_lock(struct gm_local *local, enum gm_hot how,
			uint32_t *claimed_out)
{
	return how == GM_HOT_PLAIN ? gm_local_lock(local)
				   : gm_local_lock_recorded(local, claimed_out);
}

/* A ready block, or NULL: take the slow path. Without the mutex. */
GM_HOT void *gm_hot_alloc(struct gm_heap *heap, size_t bytes,
			  gpumem_stream stream, uint32_t tag, enum gm_hot how)
{
	struct gm_local *local = gm_local_last;
	uint32_t claimed = 0;
	void *ptr;

	if (__builtin_expect(!gm_local_is(local, heap, stream), false) ||
	    !gm_hot_lock(local, how, &claimed))
		return NULL;
	ptr = gm_hot_take(local, heap, bytes, tag, how, claimed);
	gm_local_unlock(local);
	return ptr;
}

/* What a block that is freed counts for by tag goes with it: `more` is its
 * GM_MORE_ bits. False: it is not for the cache. */
GM_HOT bool gm_local_untag(struct gm_local *local, uint16_t more,
			   uint64_t requested)
{
	unsigned tag = more & GM_MORE_TAG;

	if (more & GM_MORE_SHARED)
		return false;
	if (!tag)
		return true;
	if (!gm_local_counts(local, tag))
		return false;
	gm_tag_count_free(local->group->tags, tag, requested);
	return true;
}

/* Puts a live slot of so many requested bytes, that has nothing more, among the
 * ready ones. The owner has entered, or holds the heap's mutex; there is room.
 */
GM_HOT void gm_local_push(struct gm_local *local, unsigned class_index,
			  uint32_t class_bytes, const struct gm_slot *slot,
			  uint32_t requested)
{
	struct gm_bin *bin = &local->bin[class_index];

	gm_local_count_free(local, requested, class_bytes);
	atomic_store_explicit(slot->mark, 0, memory_order_relaxed);
	bin->slot[bin->count++] = *slot;
}

/* Of a live slot that has more than its size: that is seen to, and what was
 * requested. 0: it is not live, or not for the cache. */
GM_HOT uint32_t gm_hot_untag(struct gm_local *local,
			     const struct gm_class *class, gm_mark *mark,
			     uint32_t value)
{
	uint16_t more;

	if (!(value & GM_MARK_MORE) || !gm_mark_live(value))
		return 0;
	more = atomic_load_explicit(gm_mark_more(class, mark),
				    memory_order_relaxed);
	value = gm_mark_bytes(value);
	if (!gm_local_untag(local, more, value))
		return 0;
	gm_mark_clear_more(class, mark);
	return value;
}

/* The entry's arena is the local's. */
GM_HOT bool gm_local_free_small(struct gm_local *local,
				const struct gm_heap *heap, uintptr_t entry,
				uintptr_t address, enum gm_hot how)
{
	unsigned class_index = gm_entry_class(entry);
	const struct gm_class *class = &heap->classes.of[class_index];
	uint32_t offset = gm_entry_offset(entry, address);
	uint32_t slot = gm_class_slot(class, offset);
	const struct gm_slot freed = {
		.address = address, .mark = gm_entry_mark(entry, class, slot)};
	uint32_t value;

	if (slot >= class->slots || slot * class->bytes != offset)
		return false;
	value = atomic_load_explicit(freed.mark, memory_order_relaxed);
	if (local->bin[class_index].count >= class->keep)
		return false;
	if (value - 1 >= GM_SMALL_MAX) {
		if (how != GM_HOT_PLAIN)
			value = gm_hot_untag(local, class, freed.mark, value);
		if (how == GM_HOT_PLAIN || !value)
			return false;
	}
	gm_local_push(local, class_index, class->bytes, &freed, value);
	return true;
}

/* Puts a live large block of the local's arena, with nothing more, among the
 * ready ones; there is room. */
static inline void gm_local_push_large(struct gm_local *local,
				       struct gm_extent *extent)
{
	gm_local_count_free(local, extent->requested, extent->bytes);
	gm_extent_set(extent, GM_EXTENT_CACHED);
	gm_cached_put(&local->cached, extent);
}

GM_HOT bool gm_local_free_large(struct gm_local *local,
				struct gm_extent *extent, uintptr_t address,
				enum gm_hot how)
{
	if (extent->address != address ||
	    gm_extent_arena(extent) != local->arena ||
	    !gm_extent_is(extent, GM_EXTENT_LARGE) ||
	    (how == GM_HOT_PLAIN && gm_extent_more(extent)) ||
	    !gm_cached_has_room(&local->cached, extent->bytes))
		return false;
	if (how != GM_HOT_PLAIN && gm_extent_more(extent)) {
		if (!gm_local_untag(local, gm_extent_more(extent),
				    extent->requested))
			return false;
		gm_extent_clear_more(extent);
	}
	gm_local_push_large(local, extent);
	return true;
}

struct gm_hot_block {
	uint64_t requested;
	uint16_t tag;
};

/* Of a live block that lies there; what else lies there has any. */
GM_HOT struct gm_hot_block gm_hot_look(uintptr_t entry, uintptr_t address)
{
	const struct gm_extent *extent = (const struct gm_extent *)entry;
	const struct gm_class *class;
	uint32_t slot;
	gm_mark *mark;

	if (!(entry & 1))
		return (struct gm_hot_block){extent->requested,
					     gm_extent_more(extent) &
						     GM_MORE_TAG};
	class = gm_entry_slots(entry);
	slot = gm_class_slot(class, gm_entry_offset(entry, address));
	if (slot >= class->slots)
		return (struct gm_hot_block){0, 0};
	mark = gm_entry_mark(entry, class, slot);
	return (struct gm_hot_block){
		gm_mark_bytes(atomic_load_explicit(mark, memory_order_relaxed)),
		gm_mark_has(class, mark) & GM_MORE_TAG};
}

/* Of the cache that is locked, of the block that the map knows by `entry`; if
 * it is for any block, with an event if the heap is recorded, as `claimed` of
 * the cache says. */
GM_HOT bool gm_hot_put(struct gm_local *local, const struct gm_heap *heap,
		       uintptr_t entry, void *ptr, enum gm_hot how,
		       uint32_t claimed)
{
	bool recorded = how != GM_HOT_PLAIN && claimed & GM_CLAIM_RECORDED;
	struct gm_hot_block block = {0, 0};
	uint64_t time = recorded ? gm_record_now() : 0;
	bool done;

	if (recorded)
		block = gm_hot_look(entry, (uintptr_t)ptr);
	if (entry & 1)
		done = gm_entry_arena(entry) == local->arena_number &&
		       gm_local_free_small(local, heap, entry, (uintptr_t)ptr,
					   how);
	else
		done = gm_local_free_large(local, (struct gm_extent *)entry,
					   (uintptr_t)ptr, how);
	if (recorded && done)
		gm_local_record(local, GPUMEM_RECORD_FREE, time, ptr,
				block.requested, block.tag);
	return done;
}

/* Frees a block into the thread's cache: one that is freed on `stream`, or any,
 * on its own stream, since a cache takes only blocks of its arena. False:
 * nothing has happened. Without the mutex. */
GM_HOT bool gm_hot_free(void *ptr, bool any, gpumem_stream stream,
			enum gm_hot how)
{
	uintptr_t entry = gm_map_get((uintptr_t)ptr);
	struct gm_local *local = gm_local_last;
	const struct gm_heap *heap =
		atomic_load_explicit(&local->heap, memory_order_relaxed);
	uint32_t claimed = 0;
	bool done;

	if (__builtin_expect(!entry || !heap, false) ||
	    (!any && __builtin_expect(local->stream != stream, false)) ||
	    !gm_hot_lock(local, how, &claimed))
		return false;
	done = gm_hot_put(local, heap, entry, ptr, how, claimed);
	gm_local_unlock(local);
	return done;
}

#endif
