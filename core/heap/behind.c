/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What the rungs of the ladder transfer of other streams' memory, and how much.
 * How it is had is order/transfer.h's. Under the mutex. See lookup.h. */
#include "lookup.h"
#include "cache/slab.h"

/* For less nearly each block would move pages. */
enum { PENDING_TIMES = 4 };

/* Where the stream can lend pages to itself a growth puts them together, so
 * that no single block has to be large enough. */
static uint64_t most_pending(const struct gm_transfer *transfer,
			     const struct gm_want *want)
{
	if (want->flags & NO_GROW ||
	    !gm_stale_lender(transfer->receiver->heap, transfer->receiver))
		return UINT64_MAX;
	return PENDING_TIMES * (uint64_t)want->bytes;
}

/* The stream's own, then those of others. */
static bool get_pending(struct gm_transfer transfer, const struct gm_want *want)
{
	transfer.most = most_pending(&transfer, want);
	return gm_transfer_pending(&transfer, true) ||
	       gm_transfer_pending(&transfer, false);
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

static bool get_slots(struct gm_transfer transfer, const struct gm_want *want)
{
	const struct of_class of = {.arena = transfer.receiver,
				    .class = want->class};

	transfer.most = SLOTS;
	transfer.is_wanted = is_of_class;
	transfer.user = &of;
	return want->class && gm_transfer_pending(&transfer, true);
}

bool gm_heap_get_behind(struct gm_arena *arena,
			const struct gm_attempt *attempt,
			const struct gm_want *want, unsigned what)
{
	struct gm_transfer transfer =
		gm_want_transfer(arena, attempt, want, GM_TERMS_ANY);

	transfer.everywhere = what & GM_BEHIND_EVERYWHERE;
	return (what & GM_BEHIND_SLOTS && get_slots(transfer, want)) ||
	       (what & GM_BEHIND_PENDING && get_pending(transfer, want)) ||
	       (what & GM_BEHIND_FREE && gm_transfer_block(&transfer)) ||
	       (what & GM_BEHIND_SEVERAL &&
		arena->heap->space->model->gather(&transfer,
						  !(want->flags & NO_GROW)));
}

bool gm_heap_get_behind_early(struct gm_arena *arena,
			      const struct gm_attempt *attempt,
			      const struct gm_want *want)
{
	const struct gm_heap *heap = arena->heap;

	return !(want->flags & NO_GROW) && gm_may_follow(heap, want->flags) &&
	       gm_price_new(heap, attempt, want->bytes) > GM_PRICE_WAITS &&
	       gm_heap_get_behind(arena, attempt, want, GM_BEHIND_SLOTS);
}
