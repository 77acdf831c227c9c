/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a sleep takes: a handle goes when a block on it is to sleep and nothing
 * on it stays. Each of those goes whole, or not at all:
 *
 *     a large block     as its tag says
 *     a slab            if all its live blocks go
 *     free memory       with whatever goes beside it, once no work is left on
 *                       it; a graph's only with tag 0, and as if it were live
 *     all else          is in the way until it has become one of these
 *
 * The heap is stopped and its caches are empty. See parts.h; what comes of it
 * is mark.c.
 */
#include "parts.h"
#include "base/error.h"

enum kind { NEUTRAL, STAYS, GOES, BUSY };

void gm_choose(struct gm_choice *choice, uint32_t tag)
{
	uint32_t count = atomic_load(&gm_tag_count);

	*choice = (struct gm_choice){.all = tag == 0};
	for (uint32_t i = 0; i < GM_TAGS_MAX; i++) {
		bool is_tag = i && i <= count;
		bool chosen = choice->all || i == tag ||
			      (is_tag && choice->of[gm_tag_parent(i)]);

		if (chosen)
			choice->of[i] = is_tag ? (uint8_t)gm_tag_sleep(i)
					       : GPUMEM_SLEEP_KEEP;
	}
}

static enum kind kind_of_tag(const struct gm_choice *choice, uint32_t tag)
{
	return choice->of[tag] > GPUMEM_SLEEP_STAY ? GOES : STAYS;
}

/* Work that was noted for the block, by events that stand for it already. */
static bool has_work(struct gm_heap *heap, uintptr_t address)
{
	const struct gm_use *use = gm_uses_find(&heap->order->uses, address);

	for (size_t i = 0; use && i < use->count; i++)
		if (use->wait[i].event &&
		    gm_events_ask(heap, use->wait[i].event) != GPUMEM_OK)
			return true;
	return false;
}

/* Of a stream that is gone: nobody else would wait for it. A graph's arena is
 * asked by its last event, since nothing of it ever counts as completed. */
static bool is_dropped_and_busy(struct gm_arena *arena)
{
	const struct gm_fence *last;

	if (!arena->dropped || arena->completed == arena->seqno ||
	    !arena->fence_count)
		return false;
	if (!arena->graph) {
		gm_arena_poll(arena, NULL, false);
		return arena->completed != arena->seqno;
	}
	last = gm_arena_fence(arena, arena->seqno);
	return last && gm_events_ask(arena->heap, last->event) != GPUMEM_OK;
}

static enum kind kind_of_slab(struct gm_heap *heap, const struct gm_slab *slab,
			      const struct gm_choice *choice)
{
	bool goes = slab->arena->graph && choice->all, busy = false;

	for (uint32_t i = 0; i < slab->class.slots; i++) {
		uint32_t mark = atomic_load(gm_slab_mark(slab, i));
		uint16_t more = gm_slab_more(slab, i);

		if (mark == GM_MARK_PENDING)
			busy = true;
		if (!gm_mark_live(mark))
			continue;
		if (kind_of_tag(choice, more & GM_MORE_TAG) == STAYS)
			return STAYS;
		busy |= more & GM_MORE_SHARED &&
			has_work(heap,
				 slab->address +
					 (uintptr_t)i * slab->class.bytes);
		goes = true;
	}
	if (!goes && !(busy && choice->all))
		return STAYS;
	return busy || is_dropped_and_busy(slab->arena) ? BUSY : GOES;
}

static enum kind kind_of_large(struct gm_heap *heap,
			       const struct gm_extent *extent,
			       const struct gm_choice *choice)
{
	uint16_t more = gm_extent_more(extent);
	enum kind kind = kind_of_tag(choice, more & GM_MORE_TAG);

	if (kind == GOES &&
	    (is_dropped_and_busy(extent->arena) ||
	     (more & GM_MORE_SHARED && has_work(heap, extent->address))))
		return BUSY;
	return kind;
}

/* That of a graph is never completed, but its streams were waited for. */
static enum kind kind_of_free(const struct gm_extent *extent,
			      const struct gm_choice *choice)
{
	if (extent->arena->graph && choice->all)
		return is_dropped_and_busy(extent->arena) ? BUSY : GOES;
	if (extent->arena->graph)
		return STAYS;
	return gm_arena_completed(extent->arena, extent->seqno) ? NEUTRAL
								: BUSY;
}

static enum kind kind_of(struct gm_heap *heap, const struct gm_extent *extent,
			 const struct gm_choice *choice)
{
	switch (gm_extent_state(extent)) {
	case GM_EXTENT_LARGE:
		return kind_of_large(heap, extent, choice);
	case GM_EXTENT_RUN:
		return kind_of_slab(
			heap, gm_slab_of_entry(gm_map_get(extent->address)),
			choice);
	case GM_EXTENT_FREE:
		return kind_of_free(extent, choice);
	case GM_EXTENT_HOLE:
		return NEUTRAL;
	case GM_EXTENT_ASLEEP:
		return STAYS;
	case GM_EXTENT_CACHED:
	case GM_EXTENT_PENDING:
	case GM_EXTENT_FILLING:
	case GM_EXTENT_RELEASING:
	case GM_EXTENT_STALE:
	case GM_EXTENT_RETIRING:
		break;
	}
	return BUSY;
}

/* A walk through the handles of a span, with the extents on them. */
struct walk {
	struct gm_heap *heap;
	struct gm_taking *taking;
	const struct gm_extent *extent; /* the first that ends behind `at` */
	const struct gm_extent *known;	/* its kind: */
	enum kind kind;
};

static enum kind kind_at(struct walk *walk, const struct gm_extent *extent)
{
	if (extent != walk->known) {
		walk->kind = kind_of(walk->heap, extent, walk->taking->choice);
		walk->known = extent;
	}
	return walk->kind;
}

/* GOES, or it is left. NOT_READY: something is in the way. */
static gpumem_status judge(struct walk *walk, uintptr_t at, uintptr_t end,
			   bool *goes_out)
{
	const struct gm_nodes *nodes = &walk->heap->nodes;
	const struct gm_extent *extent, *busy = NULL;
	bool goes = false, stays = false;

	while (gm_extent_end(walk->extent) <= at)
		walk->extent = gm_extent_next(nodes, walk->extent);
	for (extent = walk->extent; extent && extent->address < end && !stays;
	     extent = gm_extent_next(nodes, extent)) {
		enum kind kind = kind_at(walk, extent);

		goes |= kind == GOES;
		stays = kind == STAYS;
		if (kind == BUSY)
			busy = extent;
	}
	*goes_out = goes && !stays;
	/* What is in the way may be a block that is to go. */
	if (!busy || stays)
		return GPUMEM_OK;
	if (!goes && !gm_extent_is(busy, GM_EXTENT_LARGE) &&
	    !gm_extent_is(busy, GM_EXTENT_RUN))
		return GPUMEM_OK;
	walk->taking->busy = busy;
	return GPUMEM_NOT_READY;
}

static gpumem_status add_area(struct walk *walk, uintptr_t at, size_t bytes)
{
	const char *pinned = gm_ranges_pinned(walk->heap, at, bytes);

	if (pinned)
		return gm_fail(GPUMEM_BUSY,
			       "\"%s\" has pinned memory that is to sleep",
			       pinned);
	return gm_areas_add(&walk->taking->areas, at, bytes, 0);
}

static gpumem_status plan_span(struct walk *walk, const struct gm_span *span)
{
	const struct gm_heap *heap = walk->heap;
	const struct gm_page *page = heap->spans.page + span->first_page;
	const struct gm_page *last = heap->spans.page + heap->spans.high_page;
	uintptr_t at = span->address, end = at + span->bytes;
	gpumem_status status = GPUMEM_OK;
	size_t pages, bytes;

	walk->extent = span->first;
	for (; status == GPUMEM_OK && at < end && page < last;
	     page += pages, at += bytes) {
		bool goes = false;

		pages = page->handle ? gm_page_handle_pages(&heap->spans, page)
				     : 1;
		bytes = pages * heap->page_bytes;
		if (!page->handle || gm_page_is_away(page))
			continue;
		status = judge(walk, at, at + bytes, &goes);
		if (status == GPUMEM_OK && goes)
			status = add_area(walk, at, bytes);
	}
	return status;
}

gpumem_status gm_plan_areas(struct gm_heap *heap, struct gm_taking *taking)
{
	struct walk walk = {.heap = heap, .taking = taking};
	const struct gm_span *span = heap->spans.first;
	gpumem_status status = GPUMEM_OK;

	taking->areas.count = 0;
	taking->busy = NULL;
	for (; span && status == GPUMEM_OK; span = span->next)
		status = plan_span(&walk, span);
	return status;
}

/* ---- a wake ---- */

static bool slab_is_chosen(const struct gm_extent *extent,
			   const struct gm_choice *choice)
{
	const struct gm_slab *slab =
		gm_slab_of_entry(gm_map_get(extent->address));

	if (!slab->asleep)
		return false;
	for (uint32_t i = 0; i < slab->class.slots; i++)
		if (atomic_load(gm_slab_mark(slab, i)) &&
		    choice->of[gm_slab_more(slab, i) & GM_MORE_TAG])
			return true;
	return slab->arena->graph && choice->all;
}

static bool is_chosen(const struct gm_extent *extent,
		      const struct gm_choice *choice)
{
	switch ((int)gm_extent_state(extent)) {
	case GM_EXTENT_LARGE:
		return choice->of[gm_extent_more(extent) & GM_MORE_TAG];
	case GM_EXTENT_RUN:
		return slab_is_chosen(extent, choice);
	case GM_EXTENT_ASLEEP:
		return extent->arena && choice->all;
	default:
		return false;
	}
}

/* With the handle that a wake before left there, which failed. */
static gpumem_status add_page(const struct gm_heap *heap,
			      const struct gm_page *page, uintptr_t at,
			      uint32_t fate, struct gm_areas *areas)
{
	size_t bytes = heap->page_bytes, pages = 1;

	if (page->handle) {
		for (; !page->first; page--)
			at -= bytes;
		pages = gm_page_handle_pages(&heap->spans, page);
	}
	return gm_areas_add(areas, at, pages * bytes, fate);
}

static gpumem_status add_pages(const struct gm_heap *heap,
			       const struct gm_extent *extent,
			       struct gm_areas *areas)
{
	size_t bytes = heap->page_bytes;
	uintptr_t at = extent->address & ~(uintptr_t)(bytes - 1);
	const struct gm_page *page = gm_page_at(&heap->spans, at);
	uint32_t fate = extent->arena->fate;
	gpumem_status status = GPUMEM_OK;

	for (; at < gm_extent_end(extent) && status == GPUMEM_OK;
	     at += bytes, page++)
		if (gm_page_is_away(page))
			status = add_page(heap, page, at, fate, areas);
	return status;
}

gpumem_status gm_plan_wake(struct gm_heap *heap, const struct gm_choice *choice,
			   struct gm_areas *areas)
{
	const struct gm_extent *extent = gm_heap_first(heap);
	gpumem_status status = GPUMEM_OK;

	for (; extent && status == GPUMEM_OK;
	     extent = gm_heap_next(heap, extent))
		if (is_chosen(extent, choice))
			status = add_pages(heap, extent, areas);
	return status;
}
