/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The end of a block, the slow path, also after an event; and uses on other
 * streams. */
#include "block.h"
#include "heap.h"
#include "base/error.h"
#include "cache/hot.h"
#include "device/event.h"
#include "extent/map.h"

#include <stdlib.h>

static bool has_streams(const struct gm_heap *heap)
{
	return gm_device_has(heap->driver.device, GPUMEM_CAP_STREAMS);
}

static bool is_lost(const struct gm_heap *heap)
{
	return atomic_load(&heap->driver.device->lost);
}

gpumem_status gm_block_add_use(struct gm_block *block, gpumem_stream stream)
{
	struct gm_arena *arena;
	gpumem_status status;

	/* A stream that is known is looked at for capture. */
	status = gm_arena_of(block->heap, stream, &arena);
	if (status == GPUMEM_OK)
		status = gm_uses_add(&block->heap->order->uses,
				     gm_block_address(block), stream);
	if (status == GPUMEM_OK)
		gm_block_share(block);
	return status;
}

/* Puts the uses on `kept`, whose order is kept anyway, last. Returns how many
 * others there are. */
static size_t sort_uses(struct gm_use *use, gpumem_stream kept)
{
	size_t count = 0;

	for (size_t i = 0; i < use->count; i++) {
		struct gm_wait wait = use->wait[i];

		if (wait.stream == kept && !wait.dropped)
			continue;
		use->wait[i] = use->wait[count];
		use->wait[count++] = wait;
	}
	return count;
}

/* The vendor may hold the view for work that is queued on the block's own
 * stream: if it turns out to be held, that is waited for too. */
static gpumem_status prepare_view(const struct gm_block *block,
				  gpumem_stream own)
{
	struct gm_uses *uses = &block->heap->order->uses;
	uintptr_t address = gm_block_address(block);
	const struct gm_use *use = gm_uses_find(uses, address);

	if (!use->view || own == &gm_stream_gone || !has_streams(block->heap))
		return GPUMEM_OK;
	return gm_uses_add(uses, address, own);
}

/* Makes a freed block pending if another stream than `kept` uses it, or the
 * program holds its view. On failure its uses are as they were. */
static gpumem_status wait_for_uses(struct gm_block *block, gpumem_stream kept,
				   uint64_t bytes, bool *pending_out)
{
	struct gm_freed freed = {.extent = block->extent,
				 .slab = block->slab,
				 .slot = block->slot};
	struct gm_uses *uses = &block->heap->order->uses;
	gpumem_status status = prepare_view(block, kept);
	struct gm_use *use;
	size_t count;

	if (status != GPUMEM_OK)
		return status;
	use = gm_uses_take(uses, gm_block_address(block));
	count = sort_uses(use, kept);
	/* Nothing can fail any more, or else the view is needed. */
	if (use->view && !count && gm_view_end(block->heap, use->view))
		use->view = NULL;
	freed.view = use->view;
	if (freed.view)
		count = use->count;
	*pending_out = freed.view || count;
	block->held = freed.view != NULL;
	if (*pending_out)
		status = gm_pending_add(block->heap, &freed, bytes, use->wait,
					count);
	if (status != GPUMEM_OK)
		gm_uses_put(uses, use);
	else
		free(use);
	return status;
}

/* A large block that nothing else uses: into the thread's cache, where it can
 * have one. */
static bool cache_large(struct gm_block *block)
{
	struct gm_extent *extent = block->extent;
	struct gm_local *local;

	if (is_lost(block->heap) ||
	    !gm_arena_serves(extent->arena, extent->arena->stream) ||
	    gm_local_of(block->heap, extent->arena, &local) != GPUMEM_OK)
		return false;
	if (!gm_cached_has_room(&local->cached, extent->bytes))
		gm_local_make_room(local, extent->bytes);
	gm_extent_clear_more(extent);
	gm_local_push_large(local, extent);
	return true;
}

/* The block goes back to its own stream: being freed on another one is a use
 * there. The memory may be in use on its own from before it was this block. */
static gpumem_status free_large(struct gm_block *block, gpumem_stream stream)
{
	struct gm_extent *extent = block->extent;
	struct gm_heap *heap = block->heap;
	struct gm_arena *arena = extent->arena;
	gpumem_stream own = gm_block_own_stream(block);
	size_t requested = extent->requested;
	gpumem_status status = GPUMEM_OK;
	bool pending = false;

	if (stream != own && has_streams(heap))
		status = gm_block_add_use(block, stream);
	if (status == GPUMEM_OK && gm_extent_more(extent) & GM_MORE_SHARED)
		status = wait_for_uses(block, own, extent->bytes, &pending);
	if (status != GPUMEM_OK)
		return status;
	if (!pending && stream == own && cache_large(block))
		return GPUMEM_OK;
	gm_map_set(extent->address, 0);
	gm_counters_free(&heap->counters, requested, extent->bytes, pending);
	if (pending)
		gm_extent_set(extent, GM_EXTENT_PENDING);
	else
		(void)gm_arena_release(arena, extent);
	return GPUMEM_OK;
}

/* A slot that nothing else uses: into the thread's cache, or where it can have
 * none straight into the slab. */
static void cache_slot(struct gm_block *block, gpumem_stream stream)
{
	struct gm_slab *slab = block->slab;
	gm_mark *mark = gm_slab_mark(slab, block->slot);
	const struct gm_slot slot = {.address = gm_block_address(block),
				     .mark = mark};
	struct gm_local *local;

	if (!gm_arena_serves(slab->arena, stream) || is_lost(block->heap) ||
	    gm_local_of(block->heap, slab->arena, &local) != GPUMEM_OK) {
		gm_counters_free(&block->heap->counters, atomic_load(mark),
				 slab->class.bytes, false);
		atomic_store(mark, 0);
		gm_slab_put(slab, block->slot);
		return;
	}
	if (local->bin[slab->class_index].count == slab->class.keep)
		gm_local_spill(local, slab->class_index);
	gm_local_push(local, slab->class_index, slab->class.bytes, &slot,
		      atomic_load(mark));
}

/* The slot goes back to its slab, and so to the slab's stream: being freed on
 * another one is a use there. */
static gpumem_status free_small(struct gm_block *block, gpumem_stream stream)
{
	struct gm_slab *slab = block->slab;
	gpumem_stream own = gm_block_own_stream(block);
	gm_mark *mark = gm_slab_mark(slab, block->slot);
	gpumem_status status = GPUMEM_OK;
	uint32_t requested;
	bool pending = false;

	if (stream != own && has_streams(block->heap))
		status = gm_block_add_use(block, stream);
	requested = gm_mark_bytes(atomic_load(mark));
	if (status == GPUMEM_OK && gm_block_more(block) & GM_MORE_SHARED)
		status = wait_for_uses(block, own, slab->class.bytes, &pending);
	if (status != GPUMEM_OK)
		return status;
	gm_mark_clear_more(&slab->class, mark);
	if (pending) {
		atomic_store(mark, GM_MARK_PENDING);
		gm_counters_free(&block->heap->counters, requested,
				 slab->class.bytes, true);
	} else {
		atomic_store(mark, (uint16_t)requested);
		cache_slot(block, stream);
	}
	return GPUMEM_OK;
}

static gpumem_status free_either(struct gm_block *block, gpumem_stream stream)
{
	if (gm_block_is_away(block))
		return gm_block_free_away(block);
	return block->slab ? free_small(block, stream)
			   : free_large(block, stream);
}

/* Afterwards nothing is known of the block any more. */
static gpumem_status free_hooked(struct gm_block *block, gpumem_stream stream)
{
	struct gpumem_hook_event event = gm_hook_event(
		gm_block_address(block), GPUMEM_HOOK_FREE, stream);
	gpumem_status status = free_either(block, stream);

	if (status == GPUMEM_OK)
		gm_hook_call(block->heap, &event);
	return status;
}

static gpumem_status free_unrecorded(struct gm_block *block,
				     gpumem_stream stream)
{
	struct gm_policy *policy = block->heap->policy;
	uintptr_t address = gm_block_address(block);
	uint64_t requested = gm_block_requested(block);
	uint32_t tag = gm_block_tag(block);
	gpumem_status status = policy->hook.fn ? free_hooked(block, stream)
					       : free_either(block, stream);

	if (status == GPUMEM_OK && tag)
		gm_heap_tag_free(block->heap, tag, requested);
	if (status == GPUMEM_OK && policy->tracked)
		gm_track_remove(&policy->track, address);
	return status;
}

static gpumem_status free_recorded(struct gm_block *block, gpumem_stream stream)
{
	uintptr_t address = gm_block_address(block);
	uint64_t requested = gm_block_requested(block);
	uint32_t tag = gm_block_tag(block);
	uint64_t time = gm_record_now();
	gpumem_status status = free_unrecorded(block, stream);

	if (status == GPUMEM_OK)
		gm_heap_record(block->heap, GPUMEM_RECORD_FREE, time, address,
			       requested, tag, stream);
	return status;
}

/* Unlocks the heap. */
static gpumem_status free_block(struct gm_block *block, gpumem_stream stream)
{
	gpumem_status status = block->heap->record
				       ? free_recorded(block, stream)
				       : free_unrecorded(block, stream);
	bool due;

	/* Where no work is queued, whoever still holds a view is told of now.
	 */
	if (status == GPUMEM_OK && block->held)
		(void)gm_pending_poll(block->heap);
	due = gm_decay_visit(&block->heap->policy->decay);
	pthread_mutex_unlock(&block->heap->mutex);
	if (due)
		gm_heap_decay(block->heap);
	return status;
}

gpumem_status gm_heap_free(void *ptr, gpumem_stream stream)
{
	struct gm_block block;
	gpumem_status status = gm_block_lock(ptr, &block);

	return status != GPUMEM_OK ? status : free_block(&block, stream);
}

gpumem_status gm_heap_free_own(void *ptr)
{
	struct gm_block block;
	gpumem_status status = gm_block_lock(ptr, &block);

	return status != GPUMEM_OK
		       ? status
		       : free_block(&block, gm_block_own_stream(&block));
}

/* A heap without streams knows no order but that of its calls. */
static gpumem_status check_event(const struct gm_heap *heap,
				 const struct gm_recording *recording)
{
	const struct gpumem_device *device = heap->driver.device;

	if (!has_streams(heap))
		return gm_fail(GPUMEM_UNSUPPORTED, "%s has no events",
			       device->info.name);
	if (recording->device != device)
		return gm_fail(GPUMEM_INVALID,
			       "the event is of %s, the block of %s",
			       recording->device->info.name, device->info.name);
	return GPUMEM_OK;
}

/* Nothing on the block's own stream is waited for. */
gpumem_status gm_heap_free_after(void *ptr, struct gm_recording *recording)
{
	struct gm_block block;
	gpumem_status status = gm_block_lock(ptr, &block);
	bool waits = false;

	if (status != GPUMEM_OK)
		return status;
	status = check_event(block.heap, recording);
	if (status == GPUMEM_OK)
		status = gm_uses_until(block.heap, gm_block_address(&block),
				       recording, &waits);
	if (status != GPUMEM_OK) {
		pthread_mutex_unlock(&block.heap->mutex);
		return status;
	}
	if (waits)
		gm_block_share(&block);
	return free_block(&block, gm_block_own_stream(&block));
}

gpumem_status gm_heap_use_on(void *ptr, gpumem_stream stream)
{
	struct gm_block block;
	gpumem_status status = gm_block_lock(ptr, &block);

	if (status != GPUMEM_OK)
		return status;
	if (has_streams(block.heap))
		status = gm_block_add_use(&block, stream);
	if (status == GPUMEM_OK && block.heap->policy->hook.fn)
		gm_hook_tell(block.heap, (uintptr_t)ptr, GPUMEM_HOOK_USE_ON,
			     stream);
	if (status == GPUMEM_OK && block.heap->record)
		gm_heap_record(block.heap, GPUMEM_RECORD_USE,
			       gm_record_now_after(), (uintptr_t)ptr,
			       gm_block_requested(&block), gm_block_tag(&block),
			       stream);
	pthread_mutex_unlock(&block.heap->mutex);
	return status;
}
