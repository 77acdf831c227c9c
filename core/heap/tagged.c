/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Tags of blocks on the slow path, where a block becomes live without one and
 * then gets it, and loses it before it ends. Everything here is called with the
 * mutex held and what the calling thread did folded in.
 */
#include "block.h"
#include "heap.h"
#include "extent/map.h"

/* Of a block that was allocated a moment ago and has nothing more. */
static void set(uintptr_t address, uint32_t tag)
{
	uintptr_t entry = gm_map_get(address);
	const struct gm_slab *slab = gm_slab_of_entry(entry);
	uint32_t slot;

	if (!slab) {
		((struct gm_extent *)entry)->more = (uint16_t)tag;
		return;
	}
	slot = gm_class_slot(&slab->class, gm_entry_offset(entry, address));
	gm_slab_set_more(slab, slot, (uint16_t)tag);
}

void gm_heap_tag_alloc(struct gm_heap *heap, const void *ptr, uint32_t tag,
		       uint64_t bytes)
{
	/* A small one has been counted in the thread's cache meanwhile. */
	set((uintptr_t)ptr, tag);
	gm_tag_alloc(&heap->tags->of[tag], bytes);
}

void gm_heap_tag_free(struct gm_heap *heap, uint32_t tag, uint64_t bytes)
{
	gm_tag_free(&heap->tags->of[tag], bytes);
	/* Its next free of one need not come here. */
	(void)gm_local_make_tags(heap);
}
