/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Which free memory of other streams a transfer gets. See transfer.h. */
#include "order.h"

/* So many extents of an arena are looked at. */
enum { LOOKS = 16 };

/* What is being looked for, and how an arena has it. */
struct search {
	const struct gm_transfer *transfer;
	struct gm_extent *(*pick)(const struct gm_transfer *transfer,
				  struct gm_arena *arena);
	bool (*is_better)(const struct gm_transfer *transfer,
			  const struct gm_extent *a, const struct gm_extent *b);
	/* If there is none: who has the most memory, and may have it once it
	 * was asked. */
	struct gm_arena *busy;
};

static bool is_ready(const struct gm_transfer *transfer,
		     const struct gm_extent *extent)
{
	return gm_transfer_terms(transfer->receiver, extent,
				 transfer->terms & GM_TERMS_NOW);
}

/* Another arena with free memory at each call, until so many have had their
 * turn; NULL then. */
static struct gm_arena *next_of(const struct gm_transfer *transfer,
				size_t *looks_inout)
{
	while (*looks_inout) {
		struct gm_arena *arena =
			gm_arenas_turn(transfer->receiver->heap);

		--*looks_inout;
		if (arena && arena != transfer->receiver &&
		    gm_transfer_serves(transfer, arena))
			return arena;
	}
	return NULL;
}

static size_t looks_of(const struct gm_transfer *transfer)
{
	return gm_arenas_looks(transfer->receiver->heap,
			       transfer->everywhere ? SIZE_MAX
						    : GM_ARENA_LOOKS);
}

static bool fits(const struct gm_transfer *transfer, struct gm_arena *arena)
{
	const struct gm_extent *extent = gm_arena_fit(
		arena, transfer->attempt, transfer->bytes, transfer->alignment);

	return extent && extent->bytes < transfer->below;
}

static bool is_worth_asking(const struct search *search, struct gm_arena *arena)
{
	return search->transfer->asks && arena->completed != arena->seqno &&
	       (!search->busy ||
		arena->index.bytes > search->busy->index.bytes) &&
	       fits(search->transfer, arena);
}

/* The best of all arenas. */
static struct gm_extent *find(struct search *search)
{
	const struct gm_transfer *transfer = search->transfer;
	size_t looks = looks_of(transfer);
	struct gm_extent *best = NULL, *extent;
	struct gm_arena *arena;

	while ((arena = next_of(transfer, &looks))) {
		extent = search->pick(transfer, arena);
		if (extent &&
		    (!best || search->is_better(transfer, extent, best)))
			best = extent;
		if (!extent && is_worth_asking(search, arena))
			search->busy = arena;
	}
	return best;
}

/* ---- a block ---- */

/* The smallest that needs no wait, or if a wait will do the smallest. */
static struct gm_extent *pick_block(const struct gm_transfer *transfer,
				    struct gm_arena *arena)
{
	struct gm_extent *first = gm_arena_fit(
		arena, transfer->attempt, transfer->bytes, transfer->alignment);
	struct gm_extent *extent = first;
	bool waits = transfer->terms & GM_TERMS_WAIT;

	for (unsigned i = 0; extent && i < LOOKS; i++) {
		if (extent->bytes >= transfer->below)
			break;
		if (is_ready(transfer, extent) &&
		    (waits ||
		     !gm_arena_spares(extent, transfer->attempt,
				      transfer->bytes, transfer->alignment)))
			return extent;
		if (transfer->alignment > arena->heap->unit)
			break;
		extent = gm_index_next(&arena->index, extent);
	}
	return waits ? first : NULL;
}

/* What needs no wait, then what is smaller. */
static bool is_better_block(const struct gm_transfer *transfer,
			    const struct gm_extent *a,
			    const struct gm_extent *b)
{
	bool ready = is_ready(transfer, a);

	if (ready != is_ready(transfer, b))
		return ready;
	return a->bytes < b->bytes;
}

static void get_whole(const struct gm_transfer *transfer,
		      struct gm_extent *extent)
{
	GM_RECORD(transfer->receiver->heap->record, GPUMEM_RECORD_TRANSFER,
		  extent->bytes, (uintptr_t)extent->arena->stream);
	(void)gm_transfer_extent(transfer->receiver, extent);
}

static bool get_part(const struct gm_transfer *transfer,
		     struct gm_extent *extent)
{
	struct gm_arena *receiver = transfer->receiver;

	if (gm_arena_capturing(receiver, transfer->attempt) ||
	    gm_nodes_reserve(&receiver->heap->nodes, 2) != GPUMEM_OK ||
	    !gm_transfer_wait(receiver, transfer->attempt, extent->arena,
			      extent->seqno))
		return false;
	(void)gm_transfer_put(receiver, gm_arena_carve(extent, transfer->bytes,
						       transfer->alignment));
	return true;
}

bool gm_transfer_block(const struct gm_transfer *transfer)
{
	struct search search = {.transfer = transfer,
				.pick = pick_block,
				.is_better = is_better_block};
	bool waits = transfer->terms & GM_TERMS_WAIT;
	struct gm_extent *extent;

	if (waits && !gm_transfer_may_wait(transfer->receiver))
		return false;
	extent = find(&search);
	if (!extent && search.busy) {
		gm_arena_poll(search.busy, transfer->attempt, true);
		extent = pick_block(transfer, search.busy);
	}
	if (extent && waits)
		return get_part(transfer, extent);
	if (extent)
		get_whole(transfer, extent);
	return extent;
}

/* ---- pages ---- */

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* What needs no wait, then what has more of those pages, then what was freed
 * earlier. */
static bool is_better_pages(const struct gm_transfer *transfer,
			    const struct gm_extent *a,
			    const struct gm_extent *b)
{
	size_t a_pages = gm_index_pages(&a->arena->index, a);
	size_t b_pages = gm_index_pages(&b->arena->index, b);
	bool ready = is_ready(transfer, a);

	if (ready != is_ready(transfer, b))
		return ready;
	if (least_of(a_pages, transfer->pages) !=
	    least_of(b_pages, transfer->pages))
		return a_pages > b_pages;
	return a->seqno < b->seqno;
}

/* The smallest with all of the pages, or the largest. What the receiver's own
 * stream has it can lend. */
static struct gm_extent *pick_pages(const struct gm_transfer *transfer,
				    struct gm_arena *arena)
{
	const struct gm_index *index = &arena->index;
	struct gm_extent *extent, *best;

	if (gm_arenas_in_order(arena, transfer->receiver))
		return NULL;
	extent = gm_index_least_pages(index, transfer->pages);
	if (!extent)
		return gm_index_most_pages(index);
	best = extent;
	for (unsigned i = 0; extent && i < LOOKS; i++) {
		if (is_better_pages(transfer, extent, best))
			best = extent;
		extent = gm_index_more_pages(index, extent);
	}
	return best;
}

/* Whose it becomes, which waits for it; NULL: none may. */
static struct gm_arena *wait_for(const struct gm_transfer *transfer,
				 const struct gm_extent *extent)
{
	struct gm_arena *receiver = transfer->receiver;

	if (gm_capture_forbids(receiver->heap, transfer->attempt) ||
	    gm_arena_capturing(receiver, transfer->attempt))
		return NULL;
	receiver = gm_arena_receiver(receiver, extent->arena);
	return receiver && gm_transfer_wait(receiver, transfer->attempt,
					    extent->arena, extent->seqno)
		       ? receiver
		       : NULL;
}

bool gm_transfer_pages(const struct gm_transfer *transfer)
{
	struct gm_transfer rest = *transfer;
	struct search search = {.transfer = &rest,
				.pick = pick_pages,
				.is_better = is_better_pages};
	struct gm_extent *extent;
	struct gm_arena *receiver;

	while (rest.pages && (extent = find(&search)) &&
	       (receiver = wait_for(&rest, extent))) {
		rest.pages -=
			least_of(gm_index_pages(&extent->arena->index, extent),
				 rest.pages);
		(void)gm_transfer_extent(receiver, extent);
	}
	return rest.pages < transfer->pages;
}

/* ---- all ---- */

void gm_transfer_all_of(struct gm_arena *receiver,
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
			(void)gm_transfer_put(receiver, extent);
		} else {
			gm_index_insert(&from->index, extent);
		}
	}
	if (bytes)
		GM_RECORD(receiver->heap->record, GPUMEM_RECORD_TRANSFER, bytes,
			  (uintptr_t)from->stream);
}

void gm_transfer_all(const struct gm_transfer *transfer)
{
	size_t looks = looks_of(transfer), asks = transfer->asks;
	struct gm_arena *arena;

	while ((arena = next_of(transfer, &looks))) {
		bool known = arena->completed == arena->seqno;

		if (!known && !asks)
			continue;
		asks -= !known;
		gm_transfer_all_of(transfer->receiver, transfer->attempt,
				   arena);
		if (transfer->idle && arena->completed != arena->seqno)
			return;
	}
}
