/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Refills the caches of threads from the depot of their arena or the slabs, and
 * flushes them to these; also without the mutex. See local.h.
 */
#include "cache.h"
#include "base/fork.h"

#include <string.h>

static bool from_depot(struct gm_local *local, unsigned class_index)
{
	struct gm_bin *bin = &local->bin[class_index];

	bin->count = gm_depot_take(&local->arena->slabs->depot, local->shard,
				   class_index, bin->slot);
	return bin->count > 0;
}

bool gm_local_refill(struct gm_local *local, unsigned class_index)
{
	const struct gm_heap *heap = atomic_load(&local->heap);
	struct gm_bin *bin = &local->bin[class_index];

	if (!from_depot(local, class_index))
		bin->count =
			gm_slab_take(local->arena, class_index, bin->slot,
				     heap->classes.of[class_index].keep / 2);
	return bin->count > 0;
}

static void drop_oldest(struct gm_bin *bin, uint32_t count)
{
	bin->count -= count;
	memmove(bin->slot, bin->slot + count,
		bin->count * sizeof(bin->slot[0]));
}

static bool to_depot(struct gm_local *local, unsigned class_index)
{
	struct gm_bin *bin = &local->bin[class_index];
	uint32_t count = (bin->count + 1) / 2;

	if (!gm_depot_put(&local->arena->slabs->depot, local->shard,
			  class_index, bin->slot, count))
		return false;
	drop_oldest(bin, count);
	return true;
}

void gm_local_spill(struct gm_local *local, unsigned class_index)
{
	struct gm_bin *bin = &local->bin[class_index];
	uint32_t count = (bin->count + 1) / 2;

	if (to_depot(local, class_index))
		return;
	for (uint32_t i = 0; i < count; i++)
		gm_slab_put_slot(&bin->slot[i]);
	drop_oldest(bin, count);
}

/* The thread's cache of this heap and stream, or NULL. */
static struct gm_local *find_own(const struct gm_heap *heap,
				 gpumem_stream stream)
{
	struct gm_local *local = gm_local_own;

	while (local && !gm_local_is(local, heap, stream))
		local = local->next_of_thread;
	return local;
}

/* Locks a cache without the mutex, and makes it the one that was used last.
 * False also when so much has drifted that it must be folded in first. */
static bool lock_to_refill(struct gm_local *local)
{
	const struct gm_delta *allocated;
	uint32_t claimed;

	if (!local || !gm_local_lock_recorded(local, &claimed))
		return false;
	gm_local_use(local);
	allocated = &local->group->counts.allocated;
	if (allocated->high <= GM_DRIFT_BYTES &&
	    gm_delta_now(allocated) >= -GM_DRIFT_BYTES)
		return true;
	gm_local_unlock(local);
	return false;
}

bool gm_local_refill_for(const struct gm_heap *heap, size_t bytes,
			 gpumem_stream stream)
{
	bool changed = !gm_local_is(gm_local_last, heap, stream), small;
	struct gm_local *local;

	small = bytes - 1 < GM_SMALL_MAX;
	if ((!small && !changed) || gm_forked())
		return false;
	local = changed ? find_own(heap, stream) : gm_local_last;
	if (!lock_to_refill(local))
		return false;
	if (small) {
		unsigned class_index = gm_class_of(&heap->classes, bytes);

		if (!local->bin[class_index].count)
			changed = from_depot(local, class_index);
	}
	gm_local_unlock(local);
	return changed;
}

/* The thread's cache of the arena that a block belongs to, if the block is
 * freed on that arena's stream, or on any. */
static struct gm_local *find_home(uintptr_t entry, bool any,
				  gpumem_stream stream)
{
	struct gm_local *local = gm_local_own;

	for (; local; local = local->next_of_thread) {
		if ((!any && local->stream != stream) ||
		    !atomic_load(&local->heap))
			continue;
		if (entry & 1 ? gm_entry_arena(entry) == local->arena_number
			      : gm_extent_arena((struct gm_extent *)entry) ==
					local->arena)
			break;
	}
	return local;
}

struct gm_local *gm_local_home(uintptr_t entry, gpumem_stream stream)
{
	return find_home(entry, false, stream);
}

static bool flush(const void *ptr, bool any, gpumem_stream stream)
{
	uintptr_t entry = gm_map_get((uintptr_t)ptr);
	const struct gm_heap *heap;
	struct gm_local *local;
	bool changed;

	if (!entry || gm_forked())
		return false;
	local = find_home(entry, any, stream);
	changed = local != gm_local_last;
	if (!local || (!changed && !(entry & 1)))
		return false;
	heap = atomic_load(&local->heap);
	if (!heap || !lock_to_refill(local))
		return false;
	if (entry & 1) {
		unsigned class_index = gm_entry_class(entry);

		if (local->bin[class_index].count ==
		    heap->classes.of[class_index].keep)
			changed = to_depot(local, class_index);
	}
	gm_local_unlock(local);
	return changed;
}

bool gm_local_flush_for(const void *ptr, gpumem_stream stream)
{
	return flush(ptr, false, stream);
}

bool gm_local_flush_for_own(const void *ptr)
{
	return flush(ptr, true, NULL);
}
