/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What is pending, for a stream that waits for the work that uses it: the
 * choice of what and how much. The waits are order/pending_behind.c's. Under
 * the mutex. See lookup.h.
 */
#include "lookup.h"
#include "cache/slab.h"

/* For less nearly each block would move pages. */
enum { PENDING_TIMES = 4 };

/* Where the stream can lend pages to itself a growth puts them together, so
 * that no single block has to be large enough. */
static uint64_t most_pending(struct gm_arena *arena, const struct gm_want *want)
{
	if (want->flags & NO_GROW || !gm_stale_lender(arena->heap, arena))
		return UINT64_MAX;
	return PENDING_TIMES * (uint64_t)want->bytes;
}

bool gm_get_pending(struct gm_arena *arena, const struct gm_attempt *attempt,
		    const struct gm_want *want, size_t looks)
{
	uint64_t most = most_pending(arena, want);

	return gm_pending_behind(arena, attempt, true, want->bytes,
				 want->alignment, most, looks) ||
	       gm_pending_behind(arena, attempt, false, want->bytes,
				 want->alignment, most, looks);
}

struct of_class {
	const struct gm_arena *arena;
	const struct gm_class *class;
};

static bool is_of_class(const struct gm_slab *slab, const void *user)
{
	const struct of_class *of = user;

	return slab->arena == of->arena &&
	       &slab->arena->heap->classes.of[slab->class_index] == of->class;
}

/* Each takes a wait, and what is too much stays in the slab. */
enum { SLOTS = 16 };

bool gm_get_slots(struct gm_arena *arena, const struct gm_attempt *attempt,
		  const struct gm_want *want, size_t looks)
{
	const struct of_class of = {.arena = arena, .class = want->class};

	return want->class &&
	       gm_pending_slots_behind(arena, attempt, is_of_class, &of, SLOTS,
				       looks);
}

bool gm_get_slots_early(struct gm_arena *arena,
			const struct gm_attempt *attempt,
			const struct gm_want *want)
{
	const struct gm_heap *heap = arena->heap;

	return !(want->flags & NO_GROW) && gm_may_follow(heap, want->flags) &&
	       gm_price_new(heap, attempt, want->bytes) > GM_PRICE_WAITS &&
	       gm_get_slots(arena, attempt, want, GM_PENDING_LOOKS);
}
