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

/* A slot's own stream is the receiver's. */
static bool wait_for(struct gm_arena *receiver,
		     const struct gm_attempt *attempt,
		     struct gm_pending_block *block)
{
	struct gm_arena *own = gm_freed_arena(&block->freed);

	return (!own || own == receiver ||
		gm_arena_get_behind(receiver, attempt, own, block->seqno)) &&
	       wait_for_uses(receiver, block);
}

/* Of a graph's memory nothing is known to the stream that it serves, one that
 * is gone waits for nothing, and one that is being captured must not. */
static bool may_wait(struct gm_arena *receiver,
		     const struct gm_attempt *attempt)
{
	return !receiver->graph && !receiver->dropped &&
	       !gm_capture_forbids(receiver->heap, attempt) &&
	       !gm_arena_capturing(receiver, attempt);
}

/* What has no event yet (capture) cannot be waited for. */
static bool has_events(const struct gm_pending_block *block)
{
	for (size_t i = 0; i < block->count; i++)
		if (!block->wait[i].over && !block->wait[i].use.event)
			return false;
	return true;
}

/* What is looked for, until it is over: there is enough, or the driver refused
 * a wait. */
struct search {
	struct gm_arena *receiver;
	const struct gm_attempt *attempt;
	bool (*is_wanted)(const struct search *search,
			  const struct gm_freed *freed);
	bool (*is_enough)(const struct search *search);
	uint64_t bytes; /* that were had */
	size_t count;	/* of blocks */
	bool over;
};

/* From the link on, past up to so many that are not wanted. The link behind
 * them. */
static struct gm_pending_block **
take_from(struct search *search, struct gm_pending_block **link, size_t left)
{
	struct gm_pending_block *block;

	while (!search->over && left && (block = *link)) {
		if (block->freed.view || !has_events(block) ||
		    !search->is_wanted(search, &block->freed)) {
			link = &block->next;
			left--;
		} else if (wait_for(search->receiver, search->attempt, block)) {
			search->bytes += block->bytes;
			search->count++;
			gm_pending_end(search->receiver->heap, link,
				       search->receiver);
			search->over = search->is_enough(search);
		} else {
			search->over = true;
		}
	}
	return link;
}

/* Where there are more than that, each has its turn. */
static bool take(struct search *search, size_t looks)
{
	struct gm_pending *pending = &search->receiver->heap->order->pending;
	struct gm_pending_block **link = &pending->first;

	if (!*link || !may_wait(search->receiver, search->attempt))
		return false;
	link = take_from(search, link, looks);
	if (*link && !search->over) {
		if (!pending->behind || !*pending->behind)
			pending->behind = link;
		pending->behind = take_from(search, pending->behind, looks);
	}
	return search->count;
}

struct large {
	struct search search;
	bool own;
	size_t bytes, alignment;
	uint64_t most;
};

static bool is_wanted_large(const struct search *search,
			    const struct gm_freed *freed)
{
	const struct large *large = (const struct large *)search;
	const struct gm_arena *arena = gm_freed_arena(freed);

	return arena && (arena == search->receiver) == large->own &&
	       !arena->graph;
}

static bool is_enough_large(const struct search *search)
{
	const struct large *large = (const struct large *)search;

	return search->bytes >= large->most ||
	       gm_arena_fit(search->receiver, search->attempt, large->bytes,
			    large->alignment);
}

bool gm_pending_behind(struct gm_arena *receiver,
		       const struct gm_attempt *attempt, bool own, size_t bytes,
		       size_t alignment, uint64_t most, size_t looks)
{
	struct large large = {.search = {.receiver = receiver,
					 .attempt = attempt,
					 .is_wanted = is_wanted_large,
					 .is_enough = is_enough_large},
			      .own = own,
			      .bytes = bytes,
			      .alignment = alignment,
			      .most = most};

	return take(&large.search, looks);
}

struct slots {
	struct search search;
	gm_slab_wanted_fn is_wanted;
	const void *user;
	size_t most;
};

static bool is_wanted_slot(const struct search *search,
			   const struct gm_freed *freed)
{
	const struct slots *slots = (const struct slots *)search;

	return freed->slab && slots->is_wanted(freed->slab, slots->user);
}

static bool is_enough_slots(const struct search *search)
{
	return search->count >= ((const struct slots *)search)->most;
}

bool gm_pending_slots_behind(struct gm_arena *receiver,
			     const struct gm_attempt *attempt,
			     gm_slab_wanted_fn is_wanted, const void *user,
			     size_t most, size_t looks)
{
	struct slots slots = {.search = {.receiver = receiver,
					 .attempt = attempt,
					 .is_wanted = is_wanted_slot,
					 .is_enough = is_enough_slots},
			      .is_wanted = is_wanted,
			      .user = user,
			      .most = most};

	return take(&slots.search, looks);
}
