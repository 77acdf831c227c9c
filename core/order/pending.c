/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Freed blocks that streams may still use; see pending.h. */
#include "order.h"
#include "base/error.h"
#include "base/log.h"
#include "device/event.h"
#include "device/object.h"

#include <stdlib.h>

void gm_pending_init(struct gm_pending *pending)
{
	*pending = (struct gm_pending){0};
	pending->last = &pending->first;
}

gpumem_status gm_pending_record(struct gm_heap *heap,
				struct gm_pending_wait *wait)
{
	gpumem_status status;

	if (gm_heap_capturing(heap, wait->use.stream))
		return GPUMEM_CAPTURING;
	status = gm_events_record(heap, wait->use.stream, &wait->use.event);
	wait->over = status == GPUMEM_INVALID;
	return wait->over ? GPUMEM_OK : status;
}

void gm_pending_forget_view(struct gm_heap *heap,
			    struct gm_pending_block *block)
{
	block->freed.view = NULL;
	heap->order->pending.held_bytes -= block->bytes;
}

bool gm_view_end(struct gm_heap *heap, void *view)
{
	gpumem_status status = gm_view_destroy(heap->driver.device, view);

	return status == GPUMEM_OK || status == GPUMEM_LOST;
}

/* It may still be in use on the stream that it goes back to, as any free block
 * of that stream. */
void gm_pending_end(struct gm_heap *heap, struct gm_pending_block **link,
		    struct gm_arena *arena)
{
	struct gm_pending_block *block = *link;
	struct gm_freed *freed = &block->freed;

	*link = block->next;
	if (!*link)
		heap->order->pending.last = link;
	if (heap->order->pending.further == &block->next)
		heap->order->pending.further = link;
	if (heap->order->pending.behind == &block->next)
		heap->order->pending.behind = link;
	heap->order->pending.bytes -= block->bytes;
	heap->order->pending.count--;
	gm_counters_complete(&heap->counters, block->bytes);
	if (freed->extent) {
		(void)gm_arena_release(arena, freed->extent);
	} else {
		heap->order->free_slot(freed->slab, freed->slot);
	}
	free(block);
}

/* What its stream did before has the number of a free of its own. */
static uint64_t number(struct gm_heap *heap, const struct gm_freed *freed)
{
	struct gm_arena *arena = gm_freed_arena(freed);

	if (!arena)
		return 0;
	if (!arena->dropped)
		arena->seqno = ++heap->seqno;
	return arena->seqno;
}

gpumem_status gm_pending_add(struct gm_heap *heap, const struct gm_freed *freed,
			     uint64_t bytes, const struct gm_wait *waits,
			     size_t count)
{
	struct gm_pending_block *block =
		malloc(sizeof(*block) + count * sizeof(block->wait[0]));

	if (!block)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory to remember a freed block");
	*block = (struct gm_pending_block){
		.freed = *freed, .bytes = bytes, .count = count};
	for (size_t i = 0; i < count; i++) {
		block->wait[i] = (struct gm_pending_wait){.use = waits[i]};
		/* A failure is no loss: the next poll asks again. */
		if (!waits[i].event)
			(void)gm_pending_record(heap, &block->wait[i]);
	}
	block->seqno = number(heap, freed);
	*heap->order->pending.last = block;
	heap->order->pending.last = &block->next;
	heap->order->pending.count++;
	heap->order->pending.bytes += bytes;
	if (!freed->view)
		return GPUMEM_OK;
	heap->order->pending.held_bytes += bytes;
	if (gm_view_end(heap, freed->view))
		gm_pending_forget_view(heap, block);
	return GPUMEM_OK;
}

void gm_pending_renumber(const struct gm_arena *arena, uint64_t seqno)
{
	struct gm_pending_block *block = arena->heap->order->pending.first;

	for (; block; block = block->next)
		if (gm_freed_arena(&block->freed) == arena)
			block->seqno = seqno;
}

/* The first whose event is recorded and not known to be over. False: none. */
static bool oldest(const struct gm_pending *pending, struct gm_wait *wait_out)
{
	const struct gm_pending_block *block = pending->first;

	for (; block; block = block->next)
		for (size_t i = 0; i < block->count; i++)
			if (block->wait[i].use.event) {
				*wait_out = block->wait[i].use;
				return true;
			}
	return false;
}

/* Without the mutex meanwhile. The store's events live as long as the heap:
 * should another thread find this one over and record it again, waiting longer
 * is the only harm. A recording is kept. */
static gpumem_status await(struct gm_heap *heap, const struct gm_wait *wait)
{
	gpumem_status status;

	if (wait->recording)
		gm_recording_keep(wait->recording);
	pthread_mutex_unlock(&heap->mutex);
	status = gm_driver_event_sync(&heap->driver, wait->event);
	pthread_mutex_lock(&heap->mutex);
	if (wait->recording)
		(void)gm_recording_drop(wait->recording);
	return status;
}

bool gm_pending_wait(struct gm_heap *heap)
{
	struct gm_wait wait;

	if (gm_capture_forbids(heap, NULL))
		return false;
	/* What could not be recorded before is now. */
	if (gm_pending_poll(heap))
		return true;
	if (!oldest(&heap->order->pending, &wait))
		return false;
	return await(heap, &wait) == GPUMEM_OK && gm_pending_poll(heap);
}

static const struct gm_wait *first_use(const struct gm_pending_block *block)
{
	for (size_t i = 0; i < block->count; i++)
		if (!block->wait[i].over)
			return &block->wait[i].use;
	return NULL;
}

void gm_pending_visit(const struct gm_heap *heap,
		      void (*fn)(const struct gm_wait *use, bool held,
				 uint64_t bytes, void *user),
		      void *user)
{
	const struct gm_pending_block *block = heap->order->pending.first;

	for (; block; block = block->next)
		fn(first_use(block), block->freed.view != NULL, block->bytes,
		   user);
}

gpumem_status gm_pending_drop(struct gm_heap *heap, gpumem_stream stream)
{
	struct gm_pending_block *block = heap->order->pending.first;

	for (; block; block = block->next) {
		for (size_t i = 0; i < block->count; i++) {
			struct gm_pending_wait *wait = &block->wait[i];
			gpumem_status status;

			if (wait->use.stream != stream || wait->over ||
			    wait->use.event)
				continue;
			status = gm_pending_record(heap, wait);
			if (status != GPUMEM_OK)
				return status;
			wait->use.dropped = true;
		}
	}
	return GPUMEM_OK;
}

gpumem_status gm_pending_end_views(struct gm_heap *heap, struct gm_first *first)
{
	struct gm_pending_block *block = heap->order->pending.first;

	for (; block; block = block->next) {
		gpumem_status status;

		if (!block->freed.view)
			continue;
		status =
			gm_view_destroy(heap->driver.device, block->freed.view);
		if (status == GPUMEM_BUSY)
			return status;
		gm_first_keep(first, status);
		gm_pending_forget_view(heap, block);
	}
	return GPUMEM_OK;
}

void gm_pending_fini(struct gm_heap *heap)
{
	struct gm_pending_block *block;

	while ((block = heap->order->pending.first)) {
		heap->order->pending.first = block->next;
		for (size_t i = 0; i < block->count; i++)
			gm_wait_end(heap, &block->wait[i].use);
		free(block);
	}
	gm_pending_init(&heap->order->pending);
}
