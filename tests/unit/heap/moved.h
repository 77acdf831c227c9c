/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What the tests of moved pages share: a stream and another one, and a page
 * that moves away. Beside fixture.h. */
#ifndef HEAP_MOVED_H
#define HEAP_MOVED_H

#include "fixture.h"

#define PAGE (2 * MIB)
#define FAR (128 * MIB)

static gpumem_stream stream, other;
static struct gm_arena *own, *beside;

HEAP_USE void begin(void)
{
	heap_start();
	stream = stream_new();
	other = stream_new();
	own = arena_of(stream);
	beside = arena_of(other);
}

HEAP_USE void end(void)
{
	sound("in the end");
	must(gm_stream_destroy(device, stream));
	must(gm_stream_destroy(device, other));
	heap_end();
}

HEAP_USE void may_waste(double part)
{
	heap.space->budget.waste = heap.space->budget.waste_max = part;
	heap.counters.highest_allocated = heap.counters.allocated.current;
}

/* A free page moves far away, and leaves a stale place. */
HEAP_USE struct gm_extent *move_away(struct gm_extent *extent)
{
	block_give(own, extent);
	may_waste(0);
	return block_take_aligned(own, PAGE, FAR);
}

HEAP_USE void unmap_stale(void)
{
	(void)gm_stale_retire(&heap, NULL, SIZE_MAX);
}

/* Free are one and a half pages that begin within a page, with a hole behind
 * them; a page; and three pages. */
struct shape {
	uintptr_t within, page, three;
};

HEAP_USE struct shape make_shape(void)
{
	struct gm_extent *within, *page, *three, *hole;

	begin();
	block(own, PAGE / 2);
	within = block(own, PAGE + PAGE / 2);
	hole = block(own, PAGE);
	block(own, PAGE);
	page = block(own, PAGE);
	block(own, PAGE);
	three = block(own, 3 * PAGE);
	block(own, PAGE);
	move_away(hole);
	unmap_stale();
	block_give(own, within);
	block_give(own, page);
	block_give(own, three);
	return (struct shape){within->address, page->address, three->address};
}

#endif
