/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where pages are stolen: handles of free extents are unmapped, to be mapped
 * elsewhere. Only completed ones, so that unmapping waits for nothing, and only
 * whole ones. What has not completed may be lent instead (stale.h). Large
 * handles come first, since each costs the same. Then small extents: a large
 * one was made for a request that will come again. But one that has all that is
 * needed saves many calls. See space.h.
 */
#include "handle.h"
#include "base/error.h"

/* What is stolen, and for what. */
struct steal_request {
	const struct gm_need *need;
	struct gm_handle_query query; /* what may still be taken */
	size_t want;		      /* pages of it that are needed now */
	struct gm_handle *handles;
	size_t have;
	bool lends;	/* they stay mapped where they are, too */
	bool forbidden; /* by a capture: nothing is taken */
};

/* What is not needed now is spare. */
static void share_out(struct gm_heap *heap, const struct gm_handle *handle,
		      struct steal_request *request)
{
	if (handle->pages > request->want) {
		gm_spare_give(heap, handle, 1);
		return;
	}
	request->handles[request->have++] = *handle;
	request->want -= handle->pages;
}

/* Takes a run out of a free extent; its place is stale then, or unmapped, a
 * hole. */
static gpumem_status take_run(struct gm_heap *heap, struct gm_extent *extent,
			      const struct gm_run *run,
			      struct steal_request *request)
{
	const struct gm_page *page = gm_page_at(&heap->spans, run->start);
	uint64_t seqno = gm_pages_seqno(page, run->count * run->pages);
	uint64_t there = 0;
	gpumem_status status = gm_nodes_reserve(&heap->nodes, 2);

	if (status == GPUMEM_OK &&
	    gm_capture_forbids(heap, request->need->attempt)) {
		request->forbidden = true;
		return GPUMEM_CAPTURING;
	}
	if (status == GPUMEM_OK && request->lends &&
	    !gm_follow_number(request->need->lender, extent->arena, seqno,
			      &there))
		return GPUMEM_NO_HOST_MEMORY;
	if (status == GPUMEM_OK && !request->lends) {
		gm_run_leaves(heap, run);
		status = gm_driver_unmap(&heap->driver, run->start, run->count,
					 run->pages * heap->page_bytes);
		if (status != GPUMEM_OK)
			gm_run_stays(heap, run);
	}
	if (status != GPUMEM_OK)
		return status;
	for (size_t i = 0; i < run->count; i++) {
		const struct gm_handle handle = {
			.page = page[i * run->pages].handle,
			.pages = run->pages,
			.seqno = there,
			.lent = request->lends,
			.from = run->start + i * run->pages * heap->page_bytes};

		share_out(heap, &handle, request);
	}
	extent = gm_run_cut(heap, extent, run);
	if (request->lends) {
		gm_extent_set_seqno(extent, seqno);
		gm_stale_begin(heap, extent);
	} else {
		gm_handles_clear(heap, run);
		gm_hole_insert(heap, extent);
	}
	heap->space->budget.migrated_handles += run->count;
	return GPUMEM_OK;
}

/* One run of an extent, if it has any. False: the driver refuses. */
static bool take(struct gm_heap *heap, struct gm_extent *extent,
		 struct steal_request *request)
{
	struct gm_handle_query *query = &request->query;
	struct gm_run run;
	size_t pages;

	if (extent == request->need->a || extent == request->need->b)
		return true;
	run = gm_handles_find(heap, extent, query);
	if (!run.count)
		return true;
	if (take_run(heap, extent, &run, request) != GPUMEM_OK)
		return false;
	pages = run.count * run.pages;
	query->pages -= pages < query->pages ? pages : query->pages;
	if (query->most > query->pages)
		query->most = query->pages;
	return true;
}

/* From extents of at least so many pages on, upwards, until so many had some.
 */
static bool take_from(struct gm_heap *heap, const struct gm_index *index,
		      size_t pages, size_t extents,
		      struct steal_request *request)
{
	struct gm_extent *extent = gm_index_least_pages(index, pages), *next;
	size_t before;

	if (request->forbidden)
		return false;
	for (; extent && request->query.pages && extents; extent = next) {
		next = gm_index_more_pages(index, extent);
		before = request->query.pages;
		if (!take(heap, extent, request))
			return false;
		extents -= request->query.pages < before;
	}
	return true;
}

static void take_from_arena(struct gm_heap *heap, const struct gm_arena *arena,
			    struct steal_request *request)
{
	if (take_from(heap, &arena->index, request->query.pages, 1, request))
		(void)take_from(heap, &arena->index, 1, SIZE_MAX, request);
}

static void take_all(struct gm_heap *heap, struct steal_request *request)
{
	size_t before;

	do {
		struct gm_arena *arena = gm_arena_stocked(heap);

		before = request->query.pages;
		for (; arena && request->query.pages;
		     arena = gm_arena_stocked_after(arena))
			take_from_arena(heap, arena, request);
	} while (request->query.pages && request->query.pages < before);
}

/* From handles of `pages` on, downwards. */
static void take_by_size(struct gm_heap *heap, size_t pages,
			 struct steal_request *request)
{
	for (; pages && request->query.pages; pages /= 2) {
		request->query.least = pages;
		take_all(heap, request);
	}
}

/* What is known to be completed comes first: it takes no query of a stream.
 * Then no more streams are asked than it takes. */
static void steal(struct gm_heap *heap, size_t pages,
		  struct steal_request *request)
{
	size_t looks = gm_arenas_looks(heap, SIZE_MAX);

	take_by_size(heap, pages, request);
	while (looks-- && request->query.pages && !request->forbidden) {
		struct gm_arena *arena = gm_arenas_turn(heap);
		uint64_t completed = arena ? arena->completed : 0;

		if (!arena || !arena->index.whole_pages)
			continue;
		gm_arena_poll(arena, request->need->attempt, true);
		if (arena->completed != completed)
			take_by_size(heap, pages, request);
	}
}

static void count_moved(struct gm_heap *heap, size_t pages,
			enum gpumem_record_kind kind)
{
	heap->counters.moved_bytes += pages * heap->page_bytes;
	if (pages)
		GM_RECORD(heap->record, kind, pages * heap->page_bytes);
}

size_t gm_handles_steal(struct gm_heap *heap, const struct gm_need *need,
			size_t want, size_t more, struct gm_handle *handles)
{
	struct steal_request request = {
		.need = need,
		.query = {.pages = want + more,
			  .most = want,
			  .newest = UINT64_MAX},
		.want = want,
		.handles = handles,
	};

	steal(heap, heap->space->handle_pages, &request);
	count_moved(heap, want + more - request.query.pages,
		    GPUMEM_RECORD_MOVE);
	return request.have;
}

/* In handles of so many pages or more, of which each takes one place. */
static void lend_from(struct gm_heap *heap, const struct gm_arena *arena,
		      size_t pages, struct steal_request *request)
{
	size_t want = request->want, before, room;

	if (!arena->index.whole_pages)
		return;
	room = pages * gm_stale_room(heap, request->need->attempt,
				     (want + pages - 1) / pages);
	if (room > want)
		room = want;
	request->query =
		(struct gm_handle_query){.pages = room,
					 .least = pages,
					 .most = room,
					 .newest = UINT64_MAX,
					 .busy = request->need->lender};
	do {
		before = request->query.pages;
		take_from_arena(heap, arena, request);
	} while (request->query.pages && request->query.pages < before);
}

/* The lender's own first, then those of its stream's other fates. */
static void lend(struct gm_heap *heap, size_t pages,
		 struct steal_request *request)
{
	const struct gm_arena *arena = request->need->lender;

	do {
		lend_from(heap, arena, pages, request);
		arena = gm_arena_sibling(arena);
	} while (arena != request->need->lender);
}

/* Has the stream whole pages, of any fate? */
static bool has_pages(const struct gm_arena *lender)
{
	const struct gm_arena *arena = lender;

	do {
		if (arena->index.whole_pages)
			return true;
		arena = gm_arena_sibling(arena);
	} while (arena != lender);
	return false;
}

size_t gm_handles_lend(struct gm_heap *heap, const struct gm_need *need,
		       size_t want, struct gm_handle *handles)
{
	struct steal_request request = {
		.need = need, .want = want, .handles = handles, .lends = true};
	size_t pages = heap->space->handle_pages;

	if (!need->lender || !has_pages(need->lender) ||
	    gm_capture_forbids(heap, need->attempt) ||
	    gm_arena_capturing(need->lender, need->attempt))
		return 0;
	for (; pages && request.want; pages /= 2)
		lend(heap, pages, &request);
	count_moved(heap, want - request.want, GPUMEM_RECORD_LEND);
	return request.have;
}

size_t gm_handles_break(struct gm_heap *heap, const struct gm_need *need)
{
	struct gm_space *space = heap->space;
	struct gm_handle handle;
	struct steal_request request = {
		.need = need,
		.query = {.pages = 1, .most = SIZE_MAX, .newest = UINT64_MAX},
	};

	if (!space->spare_count)
		steal(heap, 1, &request);
	else if (gm_capture_forbids(heap, need->attempt))
		return 0;
	if (!space->spare_count)
		return 0;
	handle = gm_spare_take(space, space->spare_count - 1);
	return gm_handles_destroy(heap, need->attempt, &handle, 1)
		       ? handle.pages
		       : 0;
}
