/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Asks which pending blocks are over, without waiting: of all, or of some,
 * which takes no longer the more there are. See pending.h.
 */
#include "order.h"
#include "base/log.h"
#include "device/object.h"

enum { BUSY = 32 };

/* Streams whose events a poll has found not ready, whose later ones are not
 * asked for; and recordings, each of which many blocks may wait for. */
struct busy {
	struct {
		gpumem_stream stream;
		const struct gm_recording *recording; /* NULL: the stream */
	} of[BUSY];
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
	if (is_alone(wait) || busy->count == BUSY)
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
	if ((!wait->use.event && gm_pending_record(heap, wait) != GPUMEM_OK) ||
	    (!wait->over &&
	     gm_driver_event_query(&heap->driver, wait->use.event) !=
		     GPUMEM_OK)) {
		keep_busy(busy, &wait->use);
		return false;
	}
	gm_wait_end(heap, &wait->use);
	wait->over = true;
	busy->progress = true;
	return true;
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
		gm_pending_forget_view(heap, block);
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

/* From the link on, up to so many that are not over. The link behind them. */
static struct gm_pending_block **poll_from(struct gm_heap *heap,
					   struct gm_pending_block **link,
					   size_t left, struct busy *busy)
{
	struct gm_pending_block *block;

	while (left && (block = *link)) {
		if (poll_block(heap, block, busy)) {
			gm_pending_end(heap, link,
				       gm_freed_arena(&block->freed));
		} else {
			link = &block->next;
			left--;
		}
	}
	return link;
}

bool gm_pending_poll(struct gm_heap *heap)
{
	struct busy busy = {0};

	(void)poll_from(heap, &heap->order->pending.first, SIZE_MAX, &busy);
	heap->order->completions += busy.progress;
	return busy.progress;
}

/* The oldest are the first of their streams to be over; each of the others has
 * its turn. */
bool gm_pending_poll_some(struct gm_heap *heap)
{
	struct gm_pending *pending = &heap->order->pending;
	struct busy busy = {0};
	struct gm_pending_block **link =
		poll_from(heap, &pending->first, GM_PENDING_LOOKS, &busy);

	if (!pending->further || !*pending->further)
		pending->further = link;
	pending->further =
		poll_from(heap, pending->further, GM_PENDING_LOOKS, &busy);
	heap->order->completions += busy.progress;
	return busy.progress;
}
