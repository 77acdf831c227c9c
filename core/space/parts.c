/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What free memory is made of: see struct gm_parts. By the sums of the arenas,
 * and a walk over the free extents that hold a page. */
#include "space.h"
#include "order/order.h"

static void add_arena(struct gm_parts *parts, const struct gm_arena *arena,
		      size_t page_bytes)
{
	uint64_t pages = (uint64_t)arena->index.whole_pages * page_bytes;

	if (arena->graph) {
		parts->graph_bytes += arena->index.bytes;
		return;
	}
	if (page_bytes)
		parts->page_part_bytes += arena->index.bytes - pages;
	parts->handle_part_bytes += page_bytes ? pages : arena->index.bytes;
}

struct gm_parts gm_space_parts(const struct gm_heap *heap)
{
	const struct gm_space *space = heap->space;
	const struct gm_arena *arena = gm_arena_first(heap);
	size_t page_bytes = heap->spans.page_bytes;
	struct gm_parts parts = {.whole_bytes = gm_space_whole_bytes(heap),
				 .handle_part_bytes =
					 heap->space->model->rest_bytes(heap)};
	uint64_t unmapped = space->releasing_bytes + space->away.taken_bytes +
			    space->spare_pages * page_bytes +
			    gm_growth_bytes(heap);

	for (; arena; arena = gm_arena_after(heap, arena))
		add_arena(&parts, arena, page_bytes);
	parts.handle_part_bytes -= parts.whole_bytes - unmapped;
	parts.handle_part_bytes += space->away.parked_bytes;
	return parts;
}
