/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Spans, beginning and end; see space.h. */
#include "handle.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* After so many a trim gives up. */
enum { TRIM_FAILURES = 8 };

static void release_handle(struct gm_heap *heap, gpumem_page page, size_t pages,
			   struct gm_first *first)
{
	size_t done;

	gm_first_keep(first, gm_driver_page_destroy(&heap->driver,
						    pages * heap->page_bytes,
						    &page, 1, &done));
}

/* Unmaps and destroys `count` handles. What does not unmap is left as it is: a
 * handle may only be destroyed, and addresses released, when it is mapped
 * nowhere. */
static bool release_run(struct gm_heap *heap, const struct gm_run *run,
			struct gm_first *first)
{
	const struct gm_page *page = gm_page_at(&heap->spans, run->start);
	gpumem_status status =
		gm_driver_unmap(&heap->driver, run->start, run->count,
				run->pages * heap->page_bytes);

	gm_first_keep(first, status);
	if (status != GPUMEM_OK)
		return false;
	gm_gate_give_way(heap->driver.device->gate);
	for (size_t i = 0; i < run->count; i++)
		release_handle(heap, page[i * run->pages].handle, run->pages,
			       first);
	gm_gate_give_way(heap->driver.device->gate);
	return true;
}

/* Handles of one size side by side, from the first page of the first on, as
 * many as one step may have. */
static struct gm_run run_at(const struct gm_heap *heap,
			    const struct gm_page *page, uintptr_t start)
{
	struct gm_run run = {.start = start,
			     .pages = gm_page_handle_pages(&heap->spans, page)};

	/* What is behind the pages of a span is 0. */
	do
		run.count++;
	while (run.count < GM_STEP_HANDLES &&
	       page[run.count * run.pages].handle &&
	       gm_page_handle_pages(&heap->spans,
				    page + run.count * run.pages) == run.pages);
	return run;
}

/* In few calls: one for each run. False: something is still mapped. */
static bool release_pages(struct gm_heap *heap, const struct gm_span *span,
			  struct gm_first *first)
{
	const struct gm_spans *spans = &heap->spans;
	size_t end = span->first_page + span->bytes / heap->page_bytes, i;
	uintptr_t at = span->address;
	bool all = true;

	if (end > spans->high_page)
		end = spans->high_page;
	for (i = span->first_page; i < end;) {
		struct gm_run run = {.pages = 1, .count = 1};

		if (spans->page[i].handle) {
			run = run_at(heap, &spans->page[i], at);
			all &= release_run(heap, &run, first);
		}
		i += run.count * run.pages;
		at += gm_run_bytes(heap, &run);
	}
	return all;
}

static void release_spare(struct gm_heap *heap, struct gm_first *first)
{
	const struct gm_space *space = heap->space;

	for (size_t i = 0; i < space->spare_count; i++)
		release_handle(heap, space->spare[i].page,
			       space->spare[i].pages, first);
}

static gpumem_status release_span(struct gm_heap *heap,
				  const struct gm_span *span)
{
	if (heap->vm)
		return gm_range_release(heap, span);
	return gm_driver_free(&heap->driver, span->address, span->bytes);
}

gpumem_status gm_space_init(struct gm_heap *heap)
{
	heap->space = calloc(1, sizeof(*heap->space));
	if (!heap->space)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for the pages of a pool");
	gm_growth_init(heap);
	gm_stale_init(heap);
	return GPUMEM_OK;
}

uint64_t gm_space_host_bytes(const struct gm_heap *heap)
{
	const struct gm_space *space = heap->space;

	return sizeof(*space) + heap->spans.high_page * sizeof(struct gm_page) +
	       space->spare_room * sizeof(*space->spare);
}

gpumem_status gm_space_fini(struct gm_heap *heap)
{
	struct gm_spans *spans = &heap->spans;
	struct gm_first first = {0};

	if (!heap->space)
		return GPUMEM_OK;
	gm_stale_unmap_all(heap, &first);
	release_spare(heap, &first);
	while (spans->first) {
		struct gm_span *span = spans->first;

		if (!heap->vm ||
		    (release_pages(heap, span, &first) && !span->stuck))
			gm_first_keep(&first, release_span(heap, span));
		gm_span_unlink(spans, span);
		free(span);
	}
	gm_spans_free_table(spans);
	gm_budget_unreserve(heap, heap->counters.reserved.current,
			    heap->counters.segments.current);
	gm_growth_fini(heap);
	gm_stale_fini(heap);
	free(heap->space->spare);
	free(heap->space);
	heap->space = NULL;
	return gm_first_end(&first);
}

static gpumem_status grow(struct gm_heap *heap, struct gm_attempt *attempt,
			  struct gm_arena *arena, size_t bytes,
			  size_t alignment, struct gm_extent **extent_out)
{
	return heap->vm ? gm_pages_grow(heap, attempt, arena, bytes, alignment,
					extent_out)
			: gm_segment_grow(heap, attempt, arena, bytes,
					  alignment, extent_out);
}

/* The free memory beside which it grew may be gone when it has let go of the
 * mutex: then it grows once more, and keeps it. */
static gpumem_status grow_for_sure(struct gm_heap *heap,
				   struct gm_attempt *attempt,
				   struct gm_arena *arena, size_t bytes,
				   size_t alignment,
				   struct gm_extent **extent_out)
{
	gpumem_status status =
		grow(heap, attempt, arena, bytes, alignment, extent_out);

	if (status != GPUMEM_OK || !heap->space->growth.let_go)
		return status;
	*extent_out = NULL;
	if (arena->dropped)
		return GPUMEM_OK;
	*extent_out = gm_arena_fit(arena, attempt, bytes, alignment);
	return *extent_out ? GPUMEM_OK
			   : grow(heap, attempt, arena, bytes, alignment,
				  extent_out);
}

gpumem_status gm_space_grow(struct gm_heap *heap, struct gm_attempt *attempt,
			    struct gm_arena *arena, size_t bytes,
			    size_t alignment, struct gm_extent **extent_out)
{
	struct gm_gate *gate = heap->driver.device->gate;
	struct gm_extent *extent = NULL;
	gpumem_status status;

	*extent_out = NULL;
	if (!gm_growth_begin(heap))
		return GPUMEM_OK;
	gm_gate_enter(gate);
	status = grow_for_sure(heap, attempt, arena, bytes, alignment, &extent);
	gm_gate_leave(gate);
	gm_growth_end(heap);
	if (status == GPUMEM_OK)
		*extent_out = extent;
	return status;
}

gpumem_status gm_space_trim(struct gm_heap *heap, uint64_t keep_bytes)
{
	uint64_t start = heap->counters.reserved.current, gone = 0, bytes;
	struct gm_release leave = {.newest = UINT64_MAX};
	struct gm_first first = {0};

	if (!gm_arenas_poll(heap))
		return GPUMEM_OK;
	if (start > keep_bytes)
		gm_first_keep(&first, gm_stale_retire_all(heap));
	/* What fails is passed over, and not for ever. */
	while (heap->counters.reserved.current > keep_bytes &&
	       start - keep_bytes > gone && leave.skip < TRIM_FAILURES) {
		gpumem_status status;

		leave.bytes = heap->counters.reserved.current - keep_bytes;
		status = gm_space_release(heap, &leave, &bytes);
		gm_first_keep(&first, status);
		gone += bytes;
		leave.skip += status != GPUMEM_OK;
		if (status == GPUMEM_OK && !bytes)
			break;
	}
	return gm_first_end(&first);
}

gpumem_status gm_space_release(struct gm_heap *heap,
			       const struct gm_release *leave,
			       uint64_t *bytes_out)
{
	return heap->vm ? gm_pages_release(heap, leave, bytes_out)
			: gm_segment_release(heap, leave, bytes_out);
}

uint64_t gm_space_whole_bytes(const struct gm_heap *heap)
{
	uint64_t bytes = heap->space->releasing_bytes + gm_growth_bytes(heap);
	const struct gm_span *span = heap->spans.first;

	if (heap->vm)
		return bytes + gm_handles_whole_bytes(heap);
	for (; span; span = span->next)
		if (gm_segment_whole(span))
			bytes += span->bytes;
	return bytes;
}
