/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Freed blocks that other streams may still use, for a stream that is made to
 * wait for that use. See transfer.h and pending.h. */
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

/* Whose it becomes, which has waited for it; NULL: none may. A slot's own
 * stream is the receiver's. */
static struct gm_arena *wait_for(const struct gm_transfer *transfer,
				 struct gm_pending_block *block)
{
	struct gm_arena *own = gm_freed_arena(&block->freed);
	struct gm_arena *receiver =
		own ? gm_arena_receiver(transfer->receiver, own)
		    : transfer->receiver;

	return receiver &&
			       (!own || own == receiver ||
				gm_transfer_wait(receiver, transfer->attempt,
						 own, block->seqno)) &&
			       wait_for_uses(receiver, block)
		       ? receiver
		       : NULL;
}

/* One that is being captured must not. */
static bool may_wait(const struct gm_transfer *transfer)
{
	struct gm_arena *receiver = transfer->receiver;

	return gm_transfer_may_wait(receiver) &&
	       !gm_capture_forbids(receiver->heap, transfer->attempt) &&
	       !gm_arena_capturing(receiver, transfer->attempt);
}

/* What has no event yet (capture) cannot be waited for. */
static bool has_events(const struct gm_pending_block *block)
{
	for (size_t i = 0; i < block->count; i++)
		if (!block->wait[i].over && !block->wait[i].use.event)
			return false;
	return true;
}

static bool is_wanted(const struct gm_transfer *transfer, bool own,
		      const struct gm_pending_block *block)
{
	const struct gm_freed *freed = &block->freed;
	const struct gm_arena *arena = gm_freed_arena(freed);

	if (freed->view || !has_events(block))
		return false;
	if (transfer->is_wanted)
		return freed->slab &&
		       transfer->is_wanted(freed->slab, transfer->user);
	return arena && !arena->graph &&
	       gm_arenas_in_order(arena, transfer->receiver) == own &&
	       gm_transfer_serves(transfer, arena);
}

static bool is_enough(const struct gm_transfer *transfer, uint64_t had)
{
	return had >= transfer->most ||
	       (!transfer->is_wanted &&
		gm_arena_fit(transfer->receiver, transfer->attempt,
			     transfer->bytes, transfer->alignment));
}

/* What was had of what is wanted, until it is over: there is enough, or the
 * driver refused a wait. */
struct search {
	const struct gm_transfer *transfer;
	bool own;
	uint64_t had; /* bytes, or slots */
	bool over;
};

/* From the link on, past up to so many that are not wanted. The link behind
 * them. */
static struct gm_pending_block **take_from(struct search *search,
					   struct gm_pending_block **link)
{
	const struct gm_transfer *transfer = search->transfer;
	size_t left = transfer->everywhere ? SIZE_MAX : GM_PENDING_LOOKS;
	struct gm_pending_block *block;
	struct gm_arena *receiver;

	while (!search->over && left && (block = *link)) {
		if (!is_wanted(transfer, search->own, block)) {
			link = &block->next;
			left--;
		} else if ((receiver = wait_for(transfer, block))) {
			search->had += transfer->is_wanted ? 1 : block->bytes;
			gm_pending_end(receiver->heap, link, receiver);
			search->over = is_enough(transfer, search->had);
		} else {
			search->over = true;
		}
	}
	return link;
}

/* Where there are more than that, each has its turn. */
bool gm_transfer_pending(const struct gm_transfer *transfer, bool own)
{
	struct gm_pending *pending = &transfer->receiver->heap->order->pending;
	struct search search = {.transfer = transfer, .own = own};
	struct gm_pending_block **link = &pending->first;

	if (!*link || !may_wait(transfer))
		return false;
	link = take_from(&search, link);
	if (*link && !search.over) {
		if (!pending->behind || !*pending->behind)
			pending->behind = link;
		pending->behind = take_from(&search, pending->behind);
	}
	return search.had;
}
