/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Tags of blocks on the slow path, where a block becomes live without one and
 * then gets it, and loses it before it ends; and their limits. What is not of
 * limits is called with what the calling thread did folded in.
 */
#include "block.h"
#include "heap.h"
#include "base/error.h"
#include "extent/map.h"

/* Of a block that was allocated a moment ago and has nothing more. */
static void set(uintptr_t address, uint32_t tag)
{
	uintptr_t entry = gm_map_get(address);
	const struct gm_slab *slab = gm_slab_of_entry(entry);
	uint32_t slot;

	if (!slab) {
		gm_extent_add_more((struct gm_extent *)entry, (uint16_t)tag);
		return;
	}
	slot = gm_class_slot(&slab->class, gm_entry_offset(entry, address));
	gm_slab_add_more(slab, slot, (uint16_t)tag);
}

void gm_heap_tag_alloc(struct gm_heap *heap, const void *ptr, uint32_t tag,
		       uint64_t bytes)
{
	/* A small one has been counted in the thread's cache meanwhile. */
	set((uintptr_t)ptr, tag);
	gm_tag_alloc(heap->tags, tag, bytes);
}

void gm_heap_tag_free(struct gm_heap *heap, uint32_t tag, uint64_t bytes)
{
	gm_tag_free(heap->tags, tag, bytes);
	/* Its next free of one need not come here. */
	(void)gm_local_make_tags(heap);
}

gpumem_status gm_heap_tag_promise(struct gm_heap *heap,
				  const struct gm_request *request,
				  bool *over_out)
{
	gpumem_status status = gm_local_make_tags(heap);
	struct gm_tag_over over;

	if (status != GPUMEM_OK)
		return status;
	if (gm_tag_promise(heap->tags, request->tag, request->bytes, &over))
		return GPUMEM_OK;
	*over_out = true;
	if (request->over)
		*request->over = over;
	return gm_fail(GPUMEM_LIMIT, "tag \"%s\" is at its limit",
		       gm_tag_path(over.tag));
}

gpumem_status gm_heap_tag_grow(struct gm_heap *heap, uint32_t tag,
			       uint64_t bytes)
{
	struct gm_tag_over over;

	if (gm_tag_promise(heap->tags, tag, bytes, &over))
		return GPUMEM_OK;
	return gm_refuse(GPUMEM_BUSY,
			 "the limit of the block's tag, or of one around it, "
			 "leaves no room to grow");
}

gpumem_status gm_heap_tag_limit(struct gm_heap *heap, uint32_t tag,
				uint64_t limit_bytes)
{
	gpumem_status status;

	gm_heap_stop(heap);
	status = gm_local_make_tags(heap);
	if (status == GPUMEM_OK) {
		gm_tag_set_limit(heap->tags, tag, limit_bytes);
		gm_locals_forget_tags(heap);
	}
	gm_heap_go(heap);
	return status;
}

uint64_t gm_heap_tag_room(struct gm_heap *heap, uint32_t tag)
{
	uint64_t room = UINT64_MAX;

	pthread_mutex_lock(&heap->mutex);
	if (heap->tags)
		room = gm_tag_room(heap->tags, tag);
	pthread_mutex_unlock(&heap->mutex);
	return room;
}
