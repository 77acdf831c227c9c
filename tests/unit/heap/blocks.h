/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Blocks and slots of the fixture's heap, as the pool makes them; the end of
 * fixture.h. */
#ifndef HEAP_BLOCKS_H
#define HEAP_BLOCKS_H

/* ---- blocks, as the pool makes them ---- */

/* A free extent of exactly `bytes` as a live block; NULL: it does not fit and
 * the heap does not grow. */
HEAP_USE struct gm_extent *block_fit(struct gm_arena *arena, size_t bytes,
				     size_t alignment)
{
	struct gm_extent *extent = gm_arena_fit(arena, NULL, bytes, alignment);

	if (!extent)
		return NULL;
	must(gm_nodes_reserve(&heap.nodes, 2));
	extent = gm_arena_carve(extent, bytes, alignment);
	gm_extent_set(extent, GM_EXTENT_LARGE);
	extent->arena = arena;
	extent->requested = bytes;
	gm_extent_set_heap(extent, &heap);
	extent->more = 0;
	gm_map_set(extent->address, (uintptr_t)extent);
	gm_counters_alloc(&heap.counters, bytes, bytes);
	return extent;
}

HEAP_USE struct gm_extent *block_take_aligned(struct gm_arena *arena,
					      size_t bytes, size_t alignment)
{
	struct gm_extent *extent = block_fit(arena, bytes, alignment);

	if (!extent && !heap_grow(&heap, arena, bytes, alignment)) {
		extent = block_fit(arena, bytes, alignment);
		if (!extent)
			diag("the heap grew, but %zu bytes do not fit", bytes);
	}
	return extent;
}

HEAP_USE struct gm_extent *block_take(struct gm_arena *arena, size_t bytes)
{
	return block_take_aligned(arena, bytes, heap.unit);
}

/* A block that must be had. */
HEAP_USE struct gm_extent *block(struct gm_arena *arena, size_t bytes)
{
	struct gm_extent *extent = block_take(arena, bytes);

	if (!extent)
		bail("no block of %zu bytes: %s", bytes, last_text());
	return extent;
}

/* All of it can be written. */
HEAP_USE void touch(const struct gm_extent *extent)
{
	for (size_t at = 0; at < extent->bytes; at += 64 * KIB)
		*(volatile char *)(extent->address + at) = 1;
	*(volatile char *)(gm_extent_end(extent) - 1) = 1;
}

HEAP_USE void block_give(struct gm_arena *arena, struct gm_extent *extent)
{
	gm_map_set(extent->address, 0);
	gm_counters_free(&heap.counters, extent->requested, extent->bytes,
			 false);
	(void)gm_arena_release(arena, extent);
}

/* ---- slots, as the pool uses them ---- */

HEAP_USE struct gm_slab *slab_of(uintptr_t address)
{
	return gm_slab_of_entry(gm_map_get(address));
}

HEAP_USE const struct gm_class *class_of(const struct gm_slab *slab)
{
	return &heap.classes.of[slab->class_index];
}

/* A slot that was taken becomes a live block. */
HEAP_USE void slot_use(const struct gm_slot *slot)
{
	uint32_t bytes = class_of(slab_of(slot->address))->bytes;

	atomic_store(slot->mark, bytes);
	gm_counters_alloc(&heap.counters, bytes, bytes);
}

HEAP_USE void slot_give(const struct gm_slot *slot)
{
	struct gm_slab *slab = slab_of(slot->address);
	uint32_t bytes = class_of(slab)->bytes;

	gm_counters_free(&heap.counters, bytes, bytes, false);
	atomic_store(slot->mark, 0);
	gm_slab_put(slab, gm_slab_slot(slab, slot->mark));
}

/* A run of the class in the arena's slabs. */
HEAP_USE void slab_new(struct gm_arena *arena, unsigned index)
{
	size_t bytes = heap.classes.of[index].run_bytes;
	struct gm_extent *run = gm_arena_fit(arena, NULL, bytes, GM_RUN_UNIT);

	while (!run) {
		must(heap_grow(&heap, arena, bytes, GM_RUN_UNIT));
		run = gm_arena_fit(arena, NULL, bytes, GM_RUN_UNIT);
	}
	must(gm_nodes_reserve(&heap.nodes, 2));
	run = gm_arena_carve(run, bytes, GM_RUN_UNIT);
	must(gm_slab_create(arena, index, run));
}

#endif
