/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Which free extent of a stream a block is cut from, and the cut. See arena.h.
 */
#include "order.h"

static uintptr_t align_up(uintptr_t address, size_t alignment)
{
	return (address + alignment - 1) & ~(uintptr_t)(alignment - 1);
}

static bool holds(const struct gm_extent *extent, size_t bytes,
		  size_t alignment)
{
	return align_up(extent->address, alignment) + bytes <=
	       gm_extent_end(extent);
}

bool gm_attempt_spares(const struct gm_attempt *attempt, size_t segment,
		       size_t bytes)
{
	return attempt && attempt->sparing && segment > attempt->spared_bytes &&
	       bytes < segment - segment / 4;
}

/* A segment cannot go back while a block lies in it, however small, so a small
 * block belongs in a small segment. A block is small below this part of the
 * segment where it fits best; so many free extents are looked at. A segment
 * with more pieces than this before or behind the extent is not likely to go
 * back soon, and costs nothing. */
enum { SEGMENT_LOOKS = 16, SMALL_PART = 16, PIECES = 8 };

/* The size of the segment that the extent is part of; 0: it is in many pieces.
 */
static size_t kept_by(const struct gm_extent *extent)
{
	const struct gm_nodes *nodes = &extent->arena->heap->nodes;
	const struct gm_extent *at;
	size_t bytes = extent->bytes;
	unsigned left = PIECES;

	for (at = gm_extent_prev(nodes, extent); at && left; left--) {
		bytes += at->bytes;
		at = gm_extent_prev(nodes, at);
	}
	if (at)
		return 0;
	left = PIECES;
	for (at = gm_extent_next(nodes, extent); at && left; left--) {
		bytes += at->bytes;
		at = gm_extent_next(nodes, at);
	}
	return at ? 0 : bytes;
}

/* The same, if the extent is all of it, or shares it with blocks of its stream
 * alone, one on either side at most; else 0: more than that has to be freed
 * before it can go back. */
static size_t shared_by_few(const struct gm_extent *extent)
{
	const struct gm_nodes *nodes = &extent->arena->heap->nodes;
	const struct gm_extent *beside[] = {gm_extent_prev(nodes, extent),
					    gm_extent_next(nodes, extent)};
	size_t bytes = extent->bytes;

	if ((beside[0] && beside[0]->prev) || (beside[1] && beside[1]->next))
		return 0;
	for (unsigned i = 0; i < 2; i++) {
		if (beside[i] && beside[i]->arena != extent->arena)
			return 0;
		bytes += beside[i] ? beside[i]->bytes : 0;
	}
	return bytes;
}

bool gm_arena_spares(const struct gm_extent *extent,
		     const struct gm_attempt *attempt, size_t bytes,
		     size_t alignment)
{
	const struct gm_arena *arena = extent->arena;
	const struct gm_heap *heap = arena->heap;
	size_t segment;

	if (!attempt || !attempt->sparing || arena->graph ||
	    !(arena->idle || attempt->spares_busy))
		return false;
	segment = shared_by_few(extent);
	/* As much as a segment of its own would have. */
	if (alignment > heap->unit)
		bytes += alignment - heap->unit;
	return gm_attempt_spares(attempt, segment, bytes) &&
	       (segment == extent->bytes ||
		(extent->bytes <= segment / 2 && bytes < segment / SMALL_PART));
}

/* Of those that fit, from the smallest on, that in the smallest segment. */
static struct gm_extent *fit_small(struct gm_arena *arena,
				   const struct gm_attempt *attempt,
				   struct gm_extent *fit, size_t bytes)
{
	struct gm_extent *next = fit;
	size_t kept = kept_by(fit);

	for (unsigned i = 1; i < SEGMENT_LOOKS && bytes < kept / SMALL_PART;
	     i++) {
		size_t other;

		next = gm_index_next(&arena->index, next);
		if (!next)
			break;
		other = kept_by(next);
		if (other >= kept ||
		    gm_arena_spares(next, attempt, bytes, arena->heap->unit))
			continue;
		kept = other;
		fit = next;
	}
	return fit;
}

struct gm_extent *gm_arena_fit(struct gm_arena *arena,
			       const struct gm_attempt *attempt, size_t bytes,
			       size_t alignment)
{
	struct gm_extent *fit = gm_index_fit(&arena->index, bytes), *longer;

	while (fit && gm_arena_spares(fit, attempt, bytes, alignment))
		fit = gm_index_next(&arena->index, fit);
	if (!fit)
		return NULL;
	if (alignment <= arena->heap->unit)
		return arena->index.page_bytes
			       ? fit
			       : fit_small(arena, attempt, fit, bytes);
	if (holds(fit, bytes, alignment))
		return fit;
	/* Long enough wherever it begins. */
	longer = gm_index_fit(&arena->index,
			      bytes + alignment - arena->heap->unit);
	if (longer && !gm_arena_spares(longer, attempt, bytes, alignment))
		return longer;
	/* Rare: one that is just long enough and begins well. */
	while (fit && (!holds(fit, bytes, alignment) ||
		       gm_arena_spares(fit, attempt, bytes, alignment)))
		fit = gm_index_next(&arena->index, fit);
	return fit;
}

struct gm_extent *gm_arena_carve(struct gm_extent *extent, size_t bytes,
				 size_t alignment)
{
	size_t front = align_up(extent->address, alignment) - extent->address;
	struct gm_arena *arena = extent->arena;
	struct gm_nodes *nodes = &arena->heap->nodes;

	gm_index_remove(&arena->index, extent);
	if (front) {
		struct gm_extent *rest = gm_extent_split(nodes, extent, front);

		gm_index_insert(&arena->index, extent);
		extent = rest;
	}
	if (extent->bytes > bytes)
		gm_index_insert(&arena->index,
				gm_extent_split(nodes, extent, bytes));
	return extent;
}
