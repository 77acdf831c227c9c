/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The check of what free memory is made of; see space.h. */
#include "space.h"
#include "extent/check.h"

typedef unsigned long long ull;

gpumem_status gm_check_parts(const struct gm_heap *heap,
			     const struct gm_tally *tally,
			     uint64_t cached_bytes)
{
	const struct gm_space *space = heap->space;
	const struct gm_parts parts = gm_space_parts(heap);
	uint64_t whole = tally->whole_bytes + space->releasing_bytes +
			 space->away.taken_bytes +
			 space->spare_pages * heap->page_bytes +
			 gm_growth_bytes(heap);
	uint64_t handles = tally->handle_part_bytes + tally->parked_bytes +
			   space->model->rest_bytes(heap);
	uint64_t sum = tally->allocated - tally->sleeping + tally->pending +
		       cached_bytes + tally->slab_part_bytes + whole +
		       tally->page_part_bytes + handles + tally->graph_bytes;

	EXPECT(parts.whole_bytes == whole &&
		       parts.page_part_bytes == tally->page_part_bytes &&
		       parts.handle_part_bytes == handles &&
		       parts.graph_bytes == tally->graph_bytes,
	       "%llu free bytes are whole, %llu parts of pages, %llu of "
	       "handles and %llu of graphs, not %llu, %llu, %llu and %llu",
	       (ull)whole, (ull)tally->page_part_bytes, (ull)handles,
	       (ull)tally->graph_bytes, (ull)parts.whole_bytes,
	       (ull)parts.page_part_bytes, (ull)parts.handle_part_bytes,
	       (ull)parts.graph_bytes);
	EXPECT(sum == heap->counters.reserved.current,
	       "all that is live, pending, cached and free comes to %llu, but "
	       "%llu are reserved",
	       (ull)sum, (ull)heap->counters.reserved.current);
	return GPUMEM_OK;
}
