/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A block on pages that a sleep took, or is about to take (pages/away.h): that
 * it is one, and its free. No work can be using it: the sleep has waited for
 * what was, and the program begins none before it has woken the pool. So its
 * uses are forgotten, and no event is waited for. The heap's mutex is held.
 */
#include "block.h"
#include "heap.h"
#include "base/error.h"
#include "pages/away.h"

#include <stdlib.h>

bool gm_block_is_away(const struct gm_block *block)
{
	const struct gm_heap *heap = block->heap;
	const struct gm_extent *extent =
		block->slab ? block->slab->extent : block->extent;

	if (!heap->space->away.pages)
		return false;
	return block->slab ? block->slab->asleep
			   : gm_pages_touch_away(&heap->spans, extent->address,
						 extent->bytes);
}

gpumem_status gm_block_refuse_away(const struct gm_block *block,
				   const char *what)
{
	if (!gm_block_is_away(block))
		return GPUMEM_OK;
	return gm_fail(GPUMEM_BUSY,
		       "the block at %#zx is asleep and cannot be %s: "
		       "gpumem_pool_wake() it first",
		       gm_block_address(block), what);
}

static void forget_uses(const struct gm_block *block)
{
	struct gm_heap *heap = block->heap;
	struct gm_use *use;

	if (!(gm_block_more(block) & GM_MORE_SHARED))
		return;
	use = gm_uses_take(&heap->order->uses, gm_block_address(block));
	for (size_t i = 0; i < use->count; i++)
		gm_wait_end(heap, &use->wait[i]);
	free(use);
}

static void free_large(struct gm_block *block)
{
	struct gm_heap *heap = block->heap;
	struct gm_extent *extent = block->extent;

	gm_gauge_sub(&heap->counters.sleeping,
		     gm_pages_gone_bytes(&heap->spans, extent->address,
					 extent->bytes));
	gm_counters_free(&heap->counters, extent->requested, extent->bytes,
			 false);
	gm_map_set(extent->address, 0);
	gm_away_end(heap, extent);
}

static void free_small(struct gm_block *block)
{
	struct gm_heap *heap = block->heap;
	struct gm_slab *slab = block->slab;
	struct gm_extent *extent = slab->extent;
	gm_mark *mark = gm_slab_mark(slab, block->slot);

	gm_gauge_sub(&heap->counters.sleeping,
		     gm_slot_gone_bytes(heap, slab, block->slot));
	gm_mark_clear_more(&slab->class, mark);
	gm_counters_free(&heap->counters, gm_mark_bytes(atomic_load(mark)),
			 slab->class.bytes, false);
	atomic_store(mark, 0);
	if (gm_slab_put_asleep(slab, block->slot))
		gm_away_end(heap, extent);
}

gpumem_status gm_block_free_away(struct gm_block *block)
{
	forget_uses(block);
	if (block->slab)
		free_small(block);
	else
		free_large(block);
	return GPUMEM_OK;
}
