/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* All caches of a heap together: stopped, folded in, emptied. See local.h. */
#include "cache.h"

#include <limits.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <time.h>

enum { YIELDS = 32, PAUSE_NS = 2000, PAUSE_MAX_NS = 500 * 1000 };

/* The owner is out again in nanoseconds, unless it is not running. A thread
 * that goes before it by its priority yields to it in vain, and has to sleep.
 */
static void wait_for(const struct gm_local *local)
{
	struct timespec pause = {.tv_nsec = PAUSE_NS};

	for (unsigned round = 0; atomic_load(&local->busy); round++) {
		if (round < YIELDS) {
			sched_yield();
			continue;
		}
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < PAUSE_MAX_NS)
			pause.tv_nsec *= 2;
	}
}

void gm_locals_stop(struct gm_heap *heap)
{
	const struct gm_group *own = gm_group_own(heap);
	struct gm_local *local;
	bool others = false;

	for (local = heap->caches->locals; local; local = local->next) {
		if (local->group == own)
			continue;
		atomic_store(&local->claimed, GM_CLAIMED);
		others = true;
	}
	if (!others)
		return;
	if (heap->caches->membarrier)
		gm_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	for (local = heap->caches->locals; local; local = local->next)
		if (atomic_load(&local->claimed))
			wait_for(local);
}

void gm_locals_go(struct gm_heap *heap)
{
	struct gm_local *local = heap->caches->locals;

	for (; local; local = local->next)
		atomic_store_explicit(&local->claimed, gm_caches_claim(heap),
				      memory_order_release);
}

/* Returns how many batches, at most `most`. */
static unsigned empty_depot(struct gm_depot *depot, unsigned most)
{
	struct gm_slot slots[GM_BATCH_SLOTS];
	unsigned batches = 0, count;

	if (!atomic_load(&depot->used))
		return 0;
	for (unsigned i = 0; i < GM_CLASS_COUNT; i++) {
		while (batches < most &&
		       (count = gm_depot_take(depot, 0, i, slots))) {
			batches++;
			while (count)
				gm_slab_put_slot(&slots[--count]);
		}
	}
	if (batches < most)
		gm_depot_shrink(depot);
	return batches;
}

bool gm_depots_empty(struct gm_heap *heap, unsigned batches)
{
	struct gm_arena *arena = heap->caches->with_slabs;
	unsigned done = 0;

	for (; arena && done < batches; arena = arena->slabs->next)
		done += empty_depot(&arena->slabs->depot, batches - done);
	return done > 0;
}

void gm_locals_flush(struct gm_heap *heap)
{
	struct gm_local *local = heap->caches->locals;

	for (; local; local = local->next)
		gm_local_flush(local);
	(void)gm_depots_empty(heap, UINT_MAX);
}

uint64_t gm_locals_cached_bytes(const struct gm_heap *heap)
{
	const struct gm_local *local = heap->caches->locals;
	const struct gm_arena *arena = gm_arena_first(heap);
	uint64_t bytes = 0;

	for (; local; local = local->next) {
		bytes += local->cached.bytes + local->cached.huge_bytes;
		for (unsigned i = 0; i < heap->classes.count; i++)
			bytes += (uint64_t)local->bin[i].count *
				 heap->classes.of[i].bytes;
	}
	for (; arena; arena = gm_arena_after(heap, arena))
		for (unsigned i = 0; i < heap->classes.count; i++)
			bytes += gm_slabs_depot_count(arena, i) *
				 heap->classes.of[i].bytes;
	return bytes;
}

/* Has anything a free slot of the class? */
static bool has_slot(const struct gm_heap *heap, unsigned class_index)
{
	const struct gm_local *local = heap->caches->locals;
	const struct gm_arena *arena = heap->caches->with_slabs;

	for (; local; local = local->next)
		if (local->bin[class_index].count)
			return true;
	for (; arena; arena = arena->slabs->next)
		if (gm_slabs_have_slot(arena->slabs, class_index))
			return true;
	return false;
}

uint64_t gm_locals_largest_bytes(const struct gm_heap *heap)
{
	const struct gm_local *local = heap->caches->locals;
	uint64_t largest = 0;

	for (; local; local = local->next) {
		uint64_t bytes = gm_cached_largest_bytes(&local->cached);

		if (bytes > largest)
			largest = bytes;
	}
	for (unsigned i = heap->classes.count; i-- && !largest;)
		if (has_slot(heap, i))
			largest = heap->classes.of[i].bytes;
	return largest;
}

void gm_locals_drop(struct gm_heap *heap, const struct gm_arena *arena)
{
	struct gm_local *local = heap->caches->locals, *next;

	for (; local; local = next) {
		next = local->next;
		if (arena && local->arena != arena)
			continue;
		/* Its owner may use it for another heap at once, and ends the
		 * claim then (gm_local_of). */
		gm_local_unlink(local);
	}
}
