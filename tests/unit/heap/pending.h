/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of pending blocks share: an arena, streams that can be held,
 * and blocks that are freed while some of them use them. Beside fixture.h. One
 * thread, so no lock.
 */
#ifndef HEAP_PENDING_H
#define HEAP_PENDING_H

#include "fixture.h"

enum { STREAMS = 4 };

static struct gm_arena *arena;
static gpumem_stream stream[STREAMS];
static struct hold hold[STREAMS];

HEAP_USE void restart(void)
{
	if (arena)
		heap_end();
	heap_start();
	arena = arena_of(NULL);
}

/* Waits for the streams whose bits are set. */
HEAP_USE size_t waits_of(unsigned streams, struct gm_wait *waits)
{
	size_t count = 0;

	for (unsigned i = 0; i < STREAMS; i++)
		if (streams >> i & 1)
			waits[count++] = (struct gm_wait){.stream = stream[i]};
	return count;
}

/* A live block is freed while these use it. */
HEAP_USE void pend_waits(struct gm_extent *extent, const struct gm_wait *waits,
			 size_t count)
{
	const struct gm_freed freed = {.extent = extent};

	gm_counters_free(&heap.counters, extent->requested, extent->bytes,
			 true);
	gm_map_set(extent->address, 0);
	must(gm_pending_add(&heap, &freed, extent->bytes, waits, count));
	gm_extent_set(extent, GM_EXTENT_PENDING);
}

HEAP_USE void pend(struct gm_extent *extent, unsigned streams)
{
	struct gm_wait waits[STREAMS];

	pend_waits(extent, waits, waits_of(streams, waits));
}

HEAP_USE void pend_slot(const struct gm_slot *slot, unsigned streams)
{
	struct gm_slab *slab = slab_of(slot->address);
	const struct gm_freed freed = {.slab = slab,
				       .slot = gm_slab_slot(slab, slot->mark)};
	uint32_t bytes = class_of(slab)->bytes;
	struct gm_wait waits[STREAMS];
	size_t count = waits_of(streams, waits);

	gm_counters_free(&heap.counters, bytes, bytes, true);
	must(gm_pending_add(&heap, &freed, bytes, waits, count));
	atomic_store(slot->mark, GM_MARK_PENDING);
}

HEAP_USE bool is_pending(const struct gm_extent *extent)
{
	return gm_extent_is(extent, GM_EXTENT_PENDING);
}

#endif
