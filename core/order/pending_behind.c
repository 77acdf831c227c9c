/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Freed blocks that other streams may still use, for a stream that is made to
 * wait for that use. What it queues from then on comes behind, and so does
 * every event recorded there, so that the block is like any other that is freed
 * on it now. See pending.h.
 */
#include "order.h"

/* What a stream has done itself it comes after. */
static bool is_of(const struct gm_arena *arena, const struct gm_wait *use)
{
	return !use->dropped && use->stream == arena->stream;
}

/* The event may be recorded anew as soon as the wait is queued. */
static bool wait_for_use(struct gm_arena *receiver,
			 const struct gm_pending_wait *wait)
{
	return wait->over || is_of(receiver, &wait->use) ||
	       gm_stream_wait(receiver->heap->driver.device, receiver->stream,
			      wait->use.event) == GPUMEM_OK;
}

/* If one wait fails the block stays pending, with all of them. */
static bool wait_for_uses(struct gm_arena *receiver,
			  struct gm_pending_block *block)
{
	receiver->idle = false;
	for (size_t i = 0; i < block->count; i++)
		if (!wait_for_use(receiver, &block->wait[i]))
			return false;
	for (size_t i = 0; i < block->count; i++)
		gm_wait_end(receiver->heap, &block->wait[i].use);
	return true;
}

static bool wait_for(struct gm_arena *receiver, struct gm_pending_block *block)
{
	struct gm_arena *own = block->freed.extent->arena;

	return (own == receiver ||
		gm_arena_get_behind(receiver, own, block->seqno)) &&
	       wait_for_uses(receiver, block);
}

/* Of a graph's memory nothing is known to the stream that it serves, one that
 * is gone waits for nothing, and one that is being captured must not. */
static bool may_wait(struct gm_arena *receiver)
{
	return !receiver->graph && !receiver->dropped &&
	       !gm_capture_forbids(receiver->heap) &&
	       !gm_arena_capturing(receiver);
}

/* What has no event yet (capture) cannot be waited for. */
static bool has_events(const struct gm_pending_block *block)
{
	for (size_t i = 0; i < block->count; i++)
		if (!block->wait[i].over && !block->wait[i].use.event)
			return false;
	return true;
}

static bool is_wanted(const struct gm_arena *receiver, bool own,
		      const struct gm_pending_block *block)
{
	const struct gm_freed *freed = &block->freed;

	return freed->extent && !freed->view &&
	       (freed->extent->arena == receiver) == own &&
	       !freed->extent->arena->graph && has_events(block);
}

bool gm_pending_behind(struct gm_arena *receiver, bool own, size_t bytes,
		       size_t alignment, uint64_t most)
{
	struct gm_heap *heap = receiver->heap;
	struct gm_pending_block **link = &heap->order->pending.first, *block;
	uint64_t freed = 0;

	if (!*link || !may_wait(receiver))
		return false;
	while ((block = *link)) {
		if (!is_wanted(receiver, own, block)) {
			link = &block->next;
			continue;
		}
		if (!wait_for(receiver, block))
			break;
		freed += block->bytes;
		gm_pending_end(heap, link, receiver);
		if (freed >= most || gm_arena_fit(receiver, bytes, alignment))
			break;
	}
	return freed > 0;
}

bool gm_pending_slots_behind(struct gm_arena *receiver,
			     gm_slab_wanted_fn is_wanted_slab, const void *user,
			     size_t most)
{
	struct gm_heap *heap = receiver->heap;
	struct gm_pending_block **link = &heap->order->pending.first, *block;
	size_t freed = 0;

	if (!*link || !may_wait(receiver))
		return false;
	while (freed < most && (block = *link)) {
		if (!block->freed.slab || block->freed.view ||
		    !is_wanted_slab(block->freed.slab, user) ||
		    !has_events(block)) {
			link = &block->next;
			continue;
		}
		if (!wait_for_uses(receiver, block))
			break;
		gm_pending_end(heap, link, receiver);
		freed++;
	}
	return freed > 0;
}
