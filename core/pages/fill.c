/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Growth with virtual memory: what is mapped where place.c says. See space.h.
 */
#include "handle.h"
#include "extent/ring.h"
#include "base/error.h"

#include <stdlib.h>

/* The handles that fill a plan, and room for a list of pages. */
struct filling {
	struct gm_handle *handle;
	gpumem_page *page;
	size_t count;
	bool lets_go; /* of the mutex */
	struct gm_attempt *attempt;
};

/* Cuts [start, + count pages) out of its hole. */
static struct gm_extent *isolate(struct gm_heap *heap,
				 const struct gm_plan *plan)
{
	struct gm_extent *middle = plan->hole;
	size_t bytes = plan->count * heap->page_bytes;

	gm_hole_remove(heap, middle);
	if (plan->start > middle->address) {
		struct gm_extent *front = middle;

		middle = gm_extent_split(&heap->nodes, front,
					 plan->start - front->address);
		gm_hole_add(heap, front);
	}
	if (middle->bytes > bytes)
		gm_hole_add(heap, gm_extent_split(&heap->nodes, middle, bytes));
	gm_extent_set(middle, GM_EXTENT_FILLING);
	return middle;
}

/* Handles of so many pages or fewer become spare, or go back to where they were
 * lent. */
static void return_up_to(struct gm_heap *heap, const struct filling *filling,
			 size_t pages)
{
	for (size_t i = 0; i < filling->count; i++)
		if (filling->handle[i].pages <= pages &&
		    !filling->handle[i].lent)
			gm_spare_give(heap, &filling->handle[i], 1);
	gm_stale_undo(heap, pages);
}

/* Into the table. On what was lent the stream may still be at work. */
static void set_handles(struct gm_heap *heap, const struct filling *filling,
			const struct gm_run *run)
{
	struct gm_page *page = gm_page_at(&heap->spans, run->start);
	uintptr_t at = run->start;

	gm_handles_set(heap, run, filling->page);
	for (size_t i = 0; i < filling->count; i++) {
		if (filling->handle[i].pages != run->pages)
			continue;
		gm_handle_record(heap, at, &filling->handle[i]);
		at += run->pages * heap->page_bytes;
		for (size_t end = run->pages; end; end--, page++)
			if (filling->handle[i].lent)
				page->seqno = filling->handle[i].seqno;
	}
}

/* What is not mapped yet, while the larger handles are. */
static struct gm_flight flight_of(const struct filling *filling, size_t pages)
{
	struct gm_flight flight = {0};

	for (size_t i = 0; i < filling->count; i++) {
		size_t of = filling->handle[i].pages;

		flight.handles += of <= pages;
		*(of <= pages ? &flight.pages : &flight.mapped_pages) += of;
	}
	return flight;
}

/* Maps those handles that cover so many pages each, side by side from `start`
 * on, and counts them in *run: without the mutex, if this is a growth that may
 * and has lent nothing. */
static gpumem_status map_size(struct gm_heap *heap,
			      const struct filling *filling, struct gm_run *run)
{
	const struct gm_flight flight = flight_of(filling, run->pages);
	bool lets_go = filling->lets_go && !heap->space->stale.lending;
	gpumem_status status;

	for (size_t i = 0; i < filling->count; i++)
		if (filling->handle[i].pages == run->pages)
			filling->page[run->count++] = filling->handle[i].page;
	if (!run->count)
		return GPUMEM_OK;
	if (lets_go)
		gm_growth_let_go(heap, &flight);
	status = gm_driver_map(&heap->driver, run->start, filling->page,
			       run->count, run->pages * heap->page_bytes);
	if (lets_go)
		gm_growth_take_up(heap, filling->attempt);
	if (status == GPUMEM_OK)
		set_handles(heap, filling, run);
	return status;
}

/* The largest handles first, one call for each size. *mapped_out: how many
 * bytes are mapped; on failure the other handles are spare, or as before. */
static gpumem_status map(struct gm_heap *heap, const struct filling *filling,
			 uintptr_t start, size_t *mapped_out)
{
	size_t pages = 1;
	uintptr_t at = start;
	gpumem_status status = GPUMEM_OK;

	for (size_t i = 0; i < filling->count; i++)
		if (filling->handle[i].pages > pages)
			pages = filling->handle[i].pages;
	for (; pages && status == GPUMEM_OK; pages /= 2) {
		struct gm_run run = {.start = at, .pages = pages};

		status = map_size(heap, filling, &run);
		if (status == GPUMEM_OK)
			at += gm_run_bytes(heap, &run);
		else
			return_up_to(heap, filling, pages);
	}
	*mapped_out = at - start;
	return status;
}

/* What could not be mapped stays a hole; what could is free memory. */
static void settle(struct gm_heap *heap, struct gm_arena *arena,
		   const struct filling *filling, struct gm_extent *extent,
		   size_t mapped, struct gm_extent **extent_out)
{
	const struct gm_page *page = gm_page_at(&heap->spans, extent->address);

	heap->nodes.promised--;
	if (mapped < extent->bytes)
		gm_hole_insert(heap, mapped ? gm_extent_split(&heap->nodes,
							      extent, mapped)
					    : extent);
	gm_stale_commit(heap, filling->attempt);
	if (!mapped)
		return;
	arena->grown_bytes += mapped;
	gm_extent_set_seqno(extent,
			    gm_pages_seqno(page, mapped / heap->page_bytes));
	*extent_out = gm_arena_insert(arena, extent);
}

static gpumem_status reserve(struct gm_heap *heap, const struct gm_plan *plan,
			     struct filling *filling)
{
	size_t handles = plan->count + 1;
	gpumem_status status = gm_nodes_reserve(&heap->nodes, 3);

	if (status == GPUMEM_OK)
		status = gm_map_ensure(plan->start,
				       plan->count * heap->page_bytes);
	if (status == GPUMEM_OK)
		status = gm_spare_room(heap, handles + gm_spare_stock(heap));
	if (status != GPUMEM_OK)
		return status;
	if (plan->lets_go)
		heap->space->growth.spare_count = handles;
	filling->handle = malloc(plan->count * (sizeof(*filling->handle) +
						sizeof(*filling->page)));
	if (!filling->handle)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a list of %zu pages",
			       plan->count);
	filling->page = (gpumem_page *)(filling->handle + plan->count);
	return GPUMEM_OK;
}

gpumem_status gm_plan_map(struct gm_heap *heap, struct gm_attempt *attempt,
			  struct gm_arena *arena, const struct gm_plan *plan,
			  size_t bytes, struct gm_extent **extent_out)
{
	struct filling filling = {.lets_go = plan->lets_go, .attempt = attempt};
	const struct gm_need need = {
		.attempt = attempt,
		.pages = plan->count,
		.bytes = bytes,
		.a = plan->left,
		.b = plan->right,
		.lender = plan->in_order ? gm_stale_lender(heap, arena) : NULL,
		.lets_go = plan->lets_go,
		.handle_pages = plan->handle_pages};
	gpumem_status status = reserve(heap, plan, &filling);
	struct gm_extent *extent;
	size_t mapped = 0;

	if (status != GPUMEM_OK)
		return status;
	heap->nodes.promised++; /* should part of it stay a hole */
	extent = isolate(heap, plan);
	status = gm_handles_supply(heap, &need, filling.handle, &filling.count);
	if (status == GPUMEM_OK)
		status = map(heap, &filling, extent->address, &mapped);
	settle(heap, arena, &filling, extent, mapped, extent_out);
	free(filling.handle);
	return status;
}
