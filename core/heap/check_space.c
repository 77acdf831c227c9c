/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The check of pages, holes and segments; see space.h. */
#include "check.h"
#include "heap.h"
#include "ring.h"

typedef unsigned long long ull;

/* All holes are listed, and no page is mapped in one. */
static gpumem_status check_holes(const struct gm_heap *heap,
				 const struct gm_tally *tally)
{
	const struct gm_space *space = &heap->space;
	const struct gm_extent *hole = gm_node(&heap->nodes, space->holes);
	size_t count;
	gpumem_status status = gm_check_ring(&heap->nodes, space->holes,
					     GM_EXTENT_HOLE, &count);

	if (status)
		return status;
	EXPECT(count == tally->hole_count, "%zu of %llu holes are listed",
	       count, (ull)tally->hole_count);
	for (; hole; hole = gm_ring_next(&heap->nodes, space->holes, hole)) {
		size_t first = (hole->address - space->spans->address) /
			       heap->page_bytes;
		size_t end = first + hole->bytes / heap->page_bytes;

		for (size_t i = first; i < end && i < space->high_page; i++)
			EXPECT(!space->page[i].handle, "page %zu is in a hole",
			       i);
	}
	return GPUMEM_OK;
}

static gpumem_status check_pages(const struct gm_heap *heap,
				 const struct gm_tally *tally,
				 uint64_t span_bytes)
{
	const struct gm_space *space = &heap->space;
	uint64_t mapped = 0;
	gpumem_status status = check_holes(heap, tally);

	if (status)
		return status;
	for (size_t i = 0; i < space->high_page; i++)
		mapped += space->page[i].handle != 0;
	mapped *= heap->page_bytes;
	EXPECT(mapped + tally->hole_bytes == span_bytes,
	       "%llu bytes are mapped and %llu are holes, of %llu", (ull)mapped,
	       (ull)tally->hole_bytes, (ull)span_bytes);
	EXPECT(tally->leaving_bytes <= space->leaving_bytes &&
		       space->leaving_bytes <=
			       (space->spare_room - space->spare_count) *
				       heap->page_bytes,
	       "%llu bytes are leaving, the books say %llu",
	       (ull)tally->leaving_bytes, (ull)space->leaving_bytes);
	mapped += space->leaving_bytes - tally->leaving_bytes;
	EXPECT(mapped + space->spare_count * heap->page_bytes ==
		       heap->books.reserved.current,
	       "%llu bytes are mapped and %zu pages spare, but %llu reserved",
	       (ull)mapped, space->spare_count,
	       (ull)heap->books.reserved.current);
	return GPUMEM_OK;
}

gpumem_status gm_check_space(const struct gm_heap *heap,
			     const struct gm_tally *tally)
{
	const struct gm_span *span = heap->space.spans;
	uint64_t bytes = 0;

	for (; span; span = span->next)
		bytes += span->bytes;
	if (heap->vm)
		return check_pages(heap, tally, bytes);
	bytes += heap->space.leaving_bytes;
	EXPECT(bytes == heap->books.reserved.current,
	       "segments of %llu bytes, but %llu reserved", (ull)bytes,
	       (ull)heap->books.reserved.current);
	return GPUMEM_OK;
}
