/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Transfers free memory from one stream to another. See arena.h. */
#include "order.h"

/* It keeps its age, for decay, and is completed for the receiver as well; if
 * the receiver has work of its own, it and its pages count as older. */
void gm_arena_transfer_extent(struct gm_arena *receiver,
			      struct gm_extent *extent)
{
	if (receiver->completed == receiver->seqno &&
	    extent->seqno > receiver->seqno)
		receiver->completed = receiver->seqno = extent->seqno;
	if (extent->seqno > receiver->completed)
		gm_extent_set_seqno(extent, receiver->completed);
	gm_pages_settle(&receiver->heap->spans, extent, extent->address,
			extent->bytes);
}

void gm_arena_transfer(struct gm_arena *receiver,
		       const struct gm_attempt *attempt, struct gm_arena *from)
{
	const struct gm_nodes *nodes = &from->heap->nodes;
	struct gm_extent *extent;
	uint64_t bytes = 0;
	uint32_t list;

	gm_arena_poll(from, attempt, true);
	list = gm_index_take_all(&from->index);
	while ((extent = gm_node(nodes, list))) {
		list = extent->left;
		if (gm_arena_completed(from, extent->seqno)) {
			bytes += extent->bytes;
			gm_arena_transfer_extent(receiver, extent);
			(void)gm_arena_insert(receiver, extent);
		} else {
			gm_index_insert(&from->index, extent);
		}
	}
	if (bytes)
		GM_RECORD(receiver->heap->record, GPUMEM_RECORD_TRANSFER, bytes,
			  (uintptr_t)from->stream);
}

/* So many extents that fit are looked at for a completed one. */
enum { FIT_LOOKS = 16 };

static struct gm_extent *fit_completed(struct gm_arena *arena,
				       const struct gm_attempt *attempt,
				       size_t bytes, size_t alignment,
				       size_t below)
{
	struct gm_extent *extent =
		gm_arena_fit(arena, attempt, bytes, alignment);

	for (unsigned i = 0; extent && i < FIT_LOOKS; i++) {
		if (extent->bytes >= below)
			return NULL;
		if (gm_arena_completed(arena, extent->seqno) &&
		    !gm_arena_spares(extent, attempt, bytes, alignment))
			return extent;
		if (alignment > arena->heap->unit)
			return NULL;
		extent = gm_index_next(&arena->index, extent);
	}
	return NULL;
}

static bool has_fit(struct gm_arena *arena, const struct gm_attempt *attempt,
		    size_t bytes, size_t alignment, size_t below)
{
	const struct gm_extent *extent =
		gm_arena_fit(arena, attempt, bytes, alignment);

	return extent && extent->bytes < below;
}

/* The smallest that fits of so many arenas. *busy_out: if there is none, the
 * arena with the most memory whose stream may still be using what fits. */
static struct gm_extent *fit_known(struct gm_arena *receiver,
				   const struct gm_attempt *attempt,
				   size_t bytes, size_t alignment, size_t below,
				   struct gm_arena **busy_out)
{
	size_t looks = gm_arenas_looks(receiver->heap, GM_ARENA_LOOKS);
	struct gm_extent *best = NULL;

	*busy_out = NULL;
	while (looks--) {
		struct gm_arena *arena = gm_arenas_turn(receiver->heap);
		struct gm_extent *extent = NULL;

		if (!arena || arena == receiver)
			continue;
		extent = fit_completed(arena, attempt, bytes, alignment, below);
		if (extent && (!best || extent->bytes < best->bytes))
			best = extent;
		if (!extent && arena->completed != arena->seqno &&
		    (!*busy_out ||
		     arena->index.bytes > (*busy_out)->index.bytes) &&
		    has_fit(arena, attempt, bytes, alignment, below))
			*busy_out = arena;
	}
	return best;
}

bool gm_arenas_transfer_one(struct gm_arena *receiver,
			    const struct gm_attempt *attempt, size_t bytes,
			    size_t alignment, size_t below)
{
	struct gm_arena *busy;
	struct gm_extent *extent =
		fit_known(receiver, attempt, bytes, alignment, below, &busy);

	if (!extent && busy) {
		gm_arena_poll(busy, attempt, true);
		extent = fit_completed(busy, attempt, bytes, alignment, below);
	}
	if (!extent)
		return false;
	GM_RECORD(receiver->heap->record, GPUMEM_RECORD_TRANSFER, extent->bytes,
		  (uintptr_t)extent->arena->stream);
	gm_index_remove(&extent->arena->index, extent);
	gm_arena_transfer_extent(receiver, extent);
	(void)gm_arena_insert(receiver, extent);
	return true;
}

void gm_arenas_transfer(struct gm_arena *receiver,
			const struct gm_attempt *attempt, size_t most)
{
	size_t looks = gm_arenas_looks(receiver->heap, most);

	while (looks--) {
		struct gm_arena *arena = gm_arenas_turn(receiver->heap);

		if (arena && arena != receiver)
			gm_arena_transfer(receiver, attempt, arena);
	}
}

void gm_arenas_transfer_idle(struct gm_arena *receiver,
			     const struct gm_attempt *attempt, size_t questions)
{
	size_t looks = gm_arenas_looks(receiver->heap, GM_ARENA_LOOKS);

	while (looks--) {
		struct gm_arena *arena = gm_arenas_turn(receiver->heap);
		bool known;

		if (!arena || arena == receiver)
			continue;
		known = arena->completed == arena->seqno;
		if (!known && !questions)
			continue;
		questions -= !known;
		gm_arena_transfer(receiver, attempt, arena);
		if (arena->completed != arena->seqno)
			return;
	}
}
