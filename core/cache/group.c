/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What threads did in their caches, on its way to the heap's counters; see
 * counts.h and local.h.
 */
#include "cache.h"

/* While several threads use a heap the peaks may be more above what was surely
 * reached than this part, and the steps of all threads, only until the next
 * look at it. Each look raises what was reached by as much, so there are a few
 * hundred until a level has doubled. */
enum { LOOSE_PART = 256 };

struct gm_group *gm_group_own(const struct gm_heap *heap)
{
	struct gm_local *local = gm_local_own;

	while (local && !gm_local_is(local, heap, local->stream))
		local = local->next_of_thread;
	return local ? local->group : NULL;
}

/* There are fewer groups than caches, the new one counted, so one has room. */
static struct gm_group *make_group(struct gm_heap *heap)
{
	struct gm_local *local = gm_local_own;

	while (atomic_load(&local->room.count))
		local = local->next_of_thread;
	local->room.above = &heap->counters.above;
	if (++heap->caches->group_count > 1)
		heap->counters.shared = true;
	return &local->room;
}

void gm_group_join(struct gm_heap *heap, struct gm_local *local)
{
	local->group = gm_group_own(heap);
	if (!local->group)
		local->group = make_group(heap);
	atomic_fetch_add(&local->group->count, 1);
}

void gm_group_leave(struct gm_heap *heap, struct gm_local *local)
{
	struct gm_group *group = local->group;

	if (group->used == local)
		group->used = NULL;
	/* The thread may use it for another heap at once. */
	if (atomic_load(&group->count) == 1) {
		heap->caches->group_count--;
		heap->caches->tagged_count -= group->tags != NULL;
		gm_tag_deltas_end(group->tags);
		group->tags = NULL;
	}
	atomic_fetch_sub(&group->count, 1);
}

static void take(struct gm_counts *sum, struct gm_group *group)
{
	if (group->used && gm_counts_any(&group->counts))
		atomic_store_explicit(&group->used->idle_ticks, 0,
				      memory_order_relaxed);
	gm_counts_take(sum, &group->counts, group->above);
}

/* What is counted by tag is counted in all as well, so there is none of it
 * where there is nothing of that. */
static void fold_tags(struct gm_heap *heap, struct gm_group *group)
{
	if (group->tags)
		gm_tags_fold(heap->tags, group->tags);
}

static void fold(struct gm_heap *heap, struct gm_group *group)
{
	struct gm_counts sum = {0};

	take(&sum, group);
	gm_counters_fold(&heap->counters, &sum);
	fold_tags(heap, group);
}

void gm_local_fold(struct gm_local *local)
{
	fold(atomic_load(&local->heap), local->group);
}

/* Would folding in what the thread did, `own`, and `bytes` more then, leave the
 * gauge's peak far from what is known? `active` and `allocated` change by the
 * same in caches. */
static bool is_loose(const struct gm_heap *heap, const struct gm_gauge *gauge,
		     const struct gm_delta *own, size_t bytes)
{
	const struct gm_counters *counters = &heap->counters;
	int64_t level = (int64_t)gauge->current, high;
	int64_t enough =
		(int64_t)(gauge->reached + gauge->reached / LOOSE_PART) +
		(int64_t)heap->caches->group_count * 2 * GM_STEP_BYTES;

	high = level + own->high + atomic_load(&counters->above.allocated) -
	       own->published + (int64_t)bytes;
	return level + gm_delta_now(own) > enough ||
	       (high > (int64_t)gauge->peak && high > enough);
}

/* What is pending is active and not allocated, so that either may be near its
 * peak while the other is far below. */
static bool any_loose(const struct gm_heap *heap, const struct gm_group *group,
		      size_t bytes)
{
	static const struct gm_delta none;
	const struct gm_delta *own = group ? &group->counts.allocated : &none;

	return is_loose(heap, &heap->counters.active, own, bytes) ||
	       is_loose(heap, &heap->counters.allocated, own, bytes);
}

bool gm_locals_others(const struct gm_heap *heap)
{
	return heap->caches->group_count > (gm_group_own(heap) ? 1 : 0);
}

void gm_locals_fold_own(struct gm_heap *heap, size_t bytes)
{
	struct gm_group *group = gm_group_own(heap);

	heap->counters.known = false;
	if (heap->caches->group_count > (group ? 1 : 0))
		heap->counters.shared = true;
	if (heap->counters.shared && any_loose(heap, group, bytes)) {
		gm_locals_stop(heap);
		gm_locals_fold(heap);
		gm_locals_go(heap);
	} else if (group && gm_counts_any(&group->counts)) {
		fold(heap, group);
	}
}

void gm_locals_fold(struct gm_heap *heap)
{
	struct gm_local *local = heap->caches->locals;
	struct gm_counts sum = {0};

	for (; local; local = local->next) {
		take(&sum, local->group);
		fold_tags(heap, local->group);
	}
	gm_counters_fold(&heap->counters, &sum);
	gm_counters_level(&heap->counters, gm_locals_others(heap));
}
