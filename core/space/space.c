/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What a heap has of either model: the beginning and end, a growth, a trim. See
 * space.h. */
#include "space.h"
#include "base/error.h"

#include <stdlib.h>

/* After so many a trim gives up. */
enum { TRIM_FAILURES = 8 };

gpumem_status gm_space_init(struct gm_heap *heap, const struct gm_model *model)
{
	heap->space = calloc(1, sizeof(*heap->space));
	if (!heap->space)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for the pages of a pool");
	heap->space->model = model;
	gm_growth_init(heap);
	model->init(heap);
	return GPUMEM_OK;
}

gpumem_status gm_space_start(struct gm_heap *heap)
{
	return heap->space->model->start(heap);
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
	gm_ranges_end(heap);
	heap->space->model->end(heap, &first);
	while (spans->first) {
		struct gm_span *span = spans->first;

		gm_span_unlink(spans, span);
		free(span);
	}
	gm_budget_unreserve(heap, heap->counters.reserved.current,
			    heap->counters.segments.current);
	gm_growth_fini(heap);
	free(heap->space);
	heap->space = NULL;
	return gm_first_end(&first);
}

/* The free memory beside which it grew may be gone when it has let go of the
 * mutex: then it grows once more, and keeps it. */
static bool is_gone(const struct gm_heap *heap, struct gm_attempt *attempt,
		    struct gm_arena *arena, size_t bytes, size_t alignment,
		    struct gm_extent **extent)
{
	if (!heap->space->growth.let_go)
		return false;
	*extent = arena->dropped
			  ? NULL
			  : gm_arena_fit(arena, attempt, bytes, alignment);
	return !*extent && !arena->dropped;
}

gpumem_status gm_space_grow(struct gm_heap *heap, struct gm_attempt *attempt,
			    struct gm_arena *arena, size_t bytes,
			    size_t alignment, struct gm_extent **extent_out)
{
	const struct gm_model *model = heap->space->model;
	struct gm_gate *gate = heap->driver.device->gate;
	struct gm_extent *extent = NULL;
	gpumem_status status;

	*extent_out = NULL;
	if (!gm_growth_begin(heap))
		return GPUMEM_OK;
	gm_gate_enter(gate);
	status = model->grow(heap, attempt, arena, bytes, alignment, &extent);
	if (status == GPUMEM_OK &&
	    is_gone(heap, attempt, arena, bytes, alignment, &extent))
		status = model->grow(heap, attempt, arena, bytes, alignment,
				     &extent);
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
		gm_first_keep(&first, heap->space->model->settle(heap));
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
	return heap->space->model->release(heap, leave, bytes_out);
}

uint64_t gm_space_whole_bytes(const struct gm_heap *heap)
{
	return heap->space->releasing_bytes + gm_growth_bytes(heap) +
	       heap->space->away.taken_bytes +
	       heap->space->model->whole_bytes(heap);
}

uint64_t gm_space_busy_bytes(const struct gm_heap *heap)
{
	return heap->space->model->busy_bytes(heap);
}

uint64_t gm_space_most_bytes(const struct gm_heap *heap)
{
	return heap->space->model->most_bytes(heap);
}

uint64_t gm_space_now_bytes(struct gm_heap *heap,
			    const struct gm_attempt *attempt,
			    gpumem_stream stream, uint64_t driver_bytes)
{
	return heap->space->model->now_bytes(heap, attempt, stream,
					     driver_bytes);
}

struct gm_unit gm_space_unit(const struct gm_heap *heap,
			     const struct gm_span *span, uintptr_t address)
{
	return heap->space->model->unit(heap, span, address);
}

void gm_space_record(const struct gm_heap *heap)
{
	heap->space->model->record(heap);
}

gpumem_status gm_space_open(struct gm_heap *heap, struct gpumem_device *peer)
{
	return heap->space->model->open(heap, peer);
}
