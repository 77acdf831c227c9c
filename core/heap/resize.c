/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A block that gets larger or smaller where it lies, when the thread's cache
 * could not do it (cache/resize_local.c). A small one stays in its slot. A
 * large one gives its end back, or takes what lies behind it: free memory, and
 * with virtual memory a hole, in which pages are mapped (pages/extend.c).
 * Nothing else is tried, and nothing waits: whoever gets a no can allocate
 * elsewhere, where the whole ladder is tried.
 */
#include "block.h"
#include "heap.h"
#include "base/error.h"
#include "device/loss.h"

/* What was asked for. foreign: `stream` is not the block's own, so that what it
 * uses from now on must be over on the block's own, too. */
struct resize {
	struct gm_block block;
	size_t bytes;
	gpumem_stream stream;
	bool foreign;
};

/* What lies behind a block. */
struct behind {
	size_t free_bytes; /* that it can have, up to the hole if there is one
			    */
	struct gm_extent *hole; /* NULL: none is needed */
};

static gpumem_status refuse_view(void)
{
	return gm_refuse(GPUMEM_BUSY, "the block has a gpumem_view(), which "
				      "has the size that was requested");
}

static bool has_view(const struct resize *resize)
{
	const struct gm_use *use =
		gm_uses_find(&resize->block.heap->order->uses,
			     gm_block_address(&resize->block));

	return use && use->view;
}

static gpumem_status note_stream(struct resize *resize)
{
	return resize->foreign
		       ? gm_block_add_use(&resize->block, resize->stream)
		       : GPUMEM_OK;
}

static gpumem_status resize_small(struct resize *resize, uint64_t *holds_out)
{
	const struct gm_slab *slab = resize->block.slab;
	gm_mark *mark = gm_slab_mark(slab, resize->block.slot);
	uint32_t before = atomic_load(mark);
	gpumem_status status;

	if (resize->bytes > slab->class.bytes)
		return gm_slot_too_small();
	if (before & GM_MARK_MORE && has_view(resize))
		return refuse_view();
	status = note_stream(resize);
	if (status != GPUMEM_OK)
		return status;
	before = atomic_load(mark);
	atomic_store(mark, (uint16_t)(resize->bytes | (before & GM_MARK_MORE)));
	gm_counters_resize(&resize->block.heap->counters, gm_mark_bytes(before),
			   resize->bytes, slab->class.bytes, slab->class.bytes);
	*holds_out = slab->class.bytes;
	return GPUMEM_OK;
}

/* ---- large blocks: what lies behind ---------------------------------------
 */

static bool is_completed(struct gm_extent *extent)
{
	struct gm_arena *arena = extent->arena;

	if (!gm_arena_completed(arena, extent->seqno))
		gm_arena_poll(arena, NULL, true);
	return gm_arena_completed(arena, extent->seqno);
}

/* Free memory of the block's own stream, in its order; else what the device has
 * finished with. That of a graph stays in it, and it takes none of others'. */
static bool is_usable(const struct resize *resize, struct gm_extent *extent)
{
	const struct gm_arena *own = resize->block.extent->arena;

	if (!extent || !gm_extent_is(extent, GM_EXTENT_FREE))
		return false;
	if (extent->arena == own && !resize->foreign)
		return true;
	return !extent->arena->graph && !own->graph &&
	       gm_arenas_mix(extent->arena, own) && is_completed(extent);
}

/* What the thread's own cache has of the next `more` bytes is free memory then,
 * as far as all before it is. */
static void flush_behind(const struct resize *resize, size_t more)
{
	struct gm_heap *heap = resize->block.heap;
	struct gm_extent *block = resize->block.extent, *at = block;
	size_t seen = 0;

	while (seen < more && (at = gm_extent_next(&heap->nodes, at))) {
		if (gm_extent_is(at, GM_EXTENT_CACHED)) {
			if (!gm_locals_give_back(heap, at))
				return;
			/* It may have become part of the one before. */
			at = block;
			seen = 0;
		} else if (gm_extent_is(at, GM_EXTENT_FREE) ||
			   gm_extent_is(at, GM_EXTENT_HOLE)) {
			seen += at->bytes;
		} else {
			return;
		}
	}
}

/* A free extent, or a hole, with a free extent on each side of it or none.
 * False: so there are no `more` bytes. */
static bool look_behind(const struct resize *resize, size_t more,
			struct behind *behind)
{
	const struct gm_nodes *nodes = &resize->block.heap->nodes;
	struct gm_extent *at = gm_extent_next(nodes, resize->block.extent);
	size_t bytes = 0;

	*behind = (struct behind){0};
	if (is_usable(resize, at)) {
		bytes = behind->free_bytes = at->bytes;
		at = gm_extent_next(nodes, at);
	}
	if (bytes >= more)
		return true;
	if (!at || !gm_extent_is(at, GM_EXTENT_HOLE))
		return false;
	behind->hole = at;
	bytes += at->bytes;
	if (bytes >= more)
		return true;
	at = gm_extent_next(nodes, at);
	return is_usable(resize, at) && bytes + at->bytes >= more;
}

static gpumem_status fill_hole(const struct resize *resize, size_t more,
			       const struct behind *behind)
{
	size_t bytes = more - behind->free_bytes;
	gpumem_status status;
	struct gm_attempt attempt = {0};

	if (bytes > behind->hole->bytes)
		bytes = behind->hole->bytes;
	gm_search_begin(resize->block.heap, &attempt);
	status = gm_pages_extend(resize->block.heap, &attempt,
				 resize->block.extent->arena, behind->hole,
				 bytes, more, !resize->foreign);
	if (status != GPUMEM_LIMIT && status != GPUMEM_NO_MEMORY)
		return status;
	return gm_refuse(GPUMEM_BUSY,
			 "the pool gets no memory for the addresses behind the "
			 "block, within its limits");
}

/* The extent behind is free, and large enough or to be taken whole. */
static void absorb(struct gm_nodes *nodes, struct gm_extent *extent,
		   size_t more)
{
	struct gm_extent *next = gm_extent_next(nodes, extent);
	struct gm_index *index = &next->arena->index;

	gm_index_remove(index, next);
	if (next->bytes > more)
		gm_index_insert(index, gm_extent_split(nodes, next, more));
	gm_extent_join(nodes, extent);
}

static gpumem_status grow(struct resize *resize, size_t bytes)
{
	struct gm_heap *heap = resize->block.heap;
	struct gm_extent *extent = resize->block.extent;
	size_t more = bytes - extent->bytes;
	gpumem_status status = GPUMEM_OK;
	struct behind behind;

	if (atomic_load(&heap->driver.device->lost))
		return gm_fail_lost(heap->driver.device,
				    "the device is lost, and what it held");
	flush_behind(resize, more);
	if (!look_behind(resize, more, &behind))
		return gm_refuse(GPUMEM_BUSY,
				 "what lies behind the block is in use");
	if (behind.hole)
		status = fill_hole(resize, more, &behind);
	/* One is cut, at most. */
	if (status == GPUMEM_OK)
		status = gm_nodes_reserve(&heap->nodes, 1);
	if (status == GPUMEM_OK)
		status = note_stream(resize);
	while (status == GPUMEM_OK && extent->bytes < bytes)
		absorb(&heap->nodes, extent, bytes - extent->bytes);
	return status;
}

/* ---- large blocks: the end ------------------------------------------------
 */

/* It goes back to the block's own stream at once, or else stays with the block:
 * while others may use it, or there is no host memory to know it by. */
static void give_end(const struct resize *resize, size_t bytes)
{
	struct gm_nodes *nodes = &resize->block.heap->nodes;
	struct gm_extent *extent = resize->block.extent;

	if (gm_extent_more(extent) & GM_MORE_SHARED ||
	    gm_nodes_reserve(nodes, 1) != GPUMEM_OK)
		return;
	(void)gm_arena_release(extent->arena,
			       gm_extent_split(nodes, extent, bytes));
}

static gpumem_status resize_large(struct resize *resize, uint64_t *holds_out)
{
	struct gm_heap *heap = resize->block.heap;
	struct gm_extent *extent = resize->block.extent;
	size_t requested = extent->requested, before = extent->bytes, bytes;
	gpumem_status status;

	if (gm_extent_more(extent) & GM_MORE_SHARED && has_view(resize))
		return refuse_view();
	if (resize->bytes > heap->capacity_bytes)
		return gm_refuse(GPUMEM_BUSY,
				 "the request exceeds the total memory");
	bytes = gm_heap_large_bytes(heap, resize->bytes);
	status = bytes > before ? grow(resize, bytes) : note_stream(resize);
	if (status != GPUMEM_OK)
		return status;
	if (bytes < before)
		give_end(resize, bytes);
	extent->requested = resize->bytes;
	gm_counters_resize(&heap->counters, requested, resize->bytes, before,
			   extent->bytes);
	*holds_out = extent->bytes;
	return GPUMEM_OK;
}

static gpumem_status resize_either(struct resize *resize, uint64_t *holds_out)
{
	return resize->block.slab ? resize_small(resize, holds_out)
				  : resize_large(resize, holds_out);
}

/* What is added is promised to the tag meanwhile. */
static gpumem_status resize_tagged(struct resize *resize, uint32_t tag,
				   uint64_t *holds_out)
{
	struct gm_heap *heap = resize->block.heap;
	uint64_t before = gm_block_requested(&resize->block);
	uint64_t more = resize->bytes > before ? resize->bytes - before : 0;
	gpumem_status status = gm_heap_tag_grow(heap, tag, more);

	if (status != GPUMEM_OK)
		return status;
	status = resize_either(resize, holds_out);
	if (status == GPUMEM_OK)
		gm_tag_resize(heap->tags, tag, before, resize->bytes);
	else
		gm_tag_withdraw(heap->tags, tag, more);
	return status;
}

gpumem_status gm_heap_resize(void *ptr, size_t bytes, gpumem_stream stream,
			     uint64_t *holds_out)
{
	struct resize resize = {.bytes = bytes, .stream = stream};
	gpumem_status status = gm_block_lock(ptr, &resize.block);
	struct gm_heap *heap = resize.block.heap;
	uint32_t tag;
	bool due;

	if (status != GPUMEM_OK)
		return status;
	resize.foreign = stream != gm_block_own_stream(&resize.block) &&
			 gm_device_has(heap->driver.device, GPUMEM_CAP_STREAMS);
	tag = gm_block_tag(&resize.block);
	status = gm_block_refuse_away(&resize.block, "resized");
	if (status == GPUMEM_OK)
		status = tag ? resize_tagged(&resize, tag, holds_out)
			     : resize_either(&resize, holds_out);
	if (status == GPUMEM_OK && heap->policy->hook.fn)
		gm_hook_tell(heap, (uintptr_t)ptr, GPUMEM_HOOK_RESIZE, stream);
	if (status == GPUMEM_OK && heap->record)
		gm_heap_record(heap, GPUMEM_RECORD_RESIZE,
			       gm_record_now_after(), (uintptr_t)ptr, bytes,
			       tag, stream);
	due = gm_decay_visit(&heap->policy->decay);
	pthread_mutex_unlock(&heap->mutex);
	if (due)
		gm_heap_decay(heap);
	return status;
}
