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

static gpumem_status record(struct gm_heap *heap, struct gm_pending_wait *wait)
{
	if (gm_heap_capturing(heap, wait->use.stream))
		return GPUMEM_CAPTURING;
	return gm_events_record(heap, wait->use.stream, &wait->use.event);
}

/* Streams whose events a poll has found not ready, whose later ones are not
 * asked for; and recordings, each of which many blocks may wait for. */
struct busy {
	struct {
		gpumem_stream stream;
		const struct gm_recording *recording; /* NULL: the stream */
	} of[8];
	size_t count;
	bool progress; /* some event was over */
};

/* One that was dropped has an event of its own. */
static bool is_alone(const struct gm_wait *wait)
{
	return wait->dropped && !wait->recording;
}

static bool is_busy(const struct busy *busy, const struct gm_wait *wait)
{
	for (size_t i = 0; i < busy->count && !is_alone(wait); i++)
		if (busy->of[i].stream == wait->stream &&
		    busy->of[i].recording == wait->recording)
			return true;
	return false;
}

static void keep_busy(struct busy *busy, const struct gm_wait *wait)
{
	if (is_alone(wait) || busy->count == 8)
		return;
	busy->of[busy->count].stream = wait->stream;
	busy->of[busy->count++].recording = wait->recording;
}

/* Asks one stream; true when its use is over. */
static bool poll_wait(struct gm_heap *heap, struct gm_pending_wait *wait,
		      struct busy *busy)
{
	if (wait->over)
		return true;
	if (is_busy(busy, &wait->use))
		return false;
	if ((!wait->use.event && record(heap, wait) != GPUMEM_OK) ||
	    gm_driver_event_query(&heap->driver, wait->use.event) !=
		    GPUMEM_OK) {
		keep_busy(busy, &wait->use);
		return false;
	}
	gm_wait_end(heap, &wait->use);
	wait->over = true;
	busy->progress = true;
	return true;
}

static void forget_view(struct gm_heap *heap, struct gm_pending_block *block)
{
	block->freed.view = NULL;
	heap->order->pending.held_bytes -= block->bytes;
}

bool gm_view_end(struct gm_heap *heap, void *view)
{
	gpumem_status status = gm_view_destroy(heap->driver.device, view);

	return status == GPUMEM_OK || status == GPUMEM_LOST;
}

static void tell_of_view(const struct gm_heap *heap,
			 const struct gm_pending_block *block)
{
	gm_log(GPUMEM_LOG_WARN,
	       "%s: the program holds the view %p of a block of %llu bytes "
	       "that "
	       "it has freed; the block is not used again until it releases "
	       "the view",
	       heap->driver.device->info.name, block->freed.view,
	       (unsigned long long)block->bytes);
}

/* True when the view is gone. Asked when nothing else keeps the block: till
 * then the vendor may hold the object for work that is queued. */
static bool poll_view(struct gm_heap *heap, struct gm_pending_block *block,
		      struct busy *busy)
{
	if (!block->freed.view)
		return true;
	if (gm_view_end(heap, block->freed.view)) {
		forget_view(heap, block);
		busy->progress = true;
		return true;
	}
	if (!block->told)
		tell_of_view(heap, block);
	block->told = true;
	return false;
}

static bool poll_block(struct gm_heap *heap, struct gm_pending_block *block,
		       struct busy *busy)
{
	bool over = true;

	for (size_t i = 0; i < block->count; i++)
		over &= poll_wait(heap, &block->wait[i], busy);
	return over && poll_view(heap, block, busy);
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

/* NULL: it goes back to a slab. */
static struct gm_arena *arena_of(const struct gm_freed *freed)
{
	return freed->extent ? freed->extent->arena : NULL;
}

/* What its stream did before has the number of a free of its own. */
static uint64_t number(struct gm_heap *heap, const struct gm_freed *freed)
{
	struct gm_arena *arena = arena_of(freed);

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
			(void)record(heap, &block->wait[i]);
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
		forget_view(heap, block);
	return GPUMEM_OK;
}

bool gm_pending_poll(struct gm_heap *heap)
{
	struct gm_pending_block **link = &heap->order->pending.first, *block;
	struct busy busy = {0};

	while ((block = *link)) {
		if (poll_block(heap, block, &busy))
			gm_pending_end(heap, link, arena_of(&block->freed));
		else
			link = &block->next;
	}
	heap->order->completions += busy.progress;
	return busy.progress;
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

	if (gm_capture_forbids(heap))
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
			status = record(heap, wait);
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
		forget_view(heap, block);
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
