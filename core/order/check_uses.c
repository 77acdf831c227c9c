/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The invariants of uses.h as a walk; see extent/check.h. */
#include "order.h"
#include "device/event.h"
#include "extent/check.h"
#include "extent/map.h"

typedef unsigned long long ull;

static gpumem_status check_waits(const struct gm_use *use)
{
	for (size_t i = 0; i < use->count; i++) {
		const struct gm_wait *wait = &use->wait[i];

		EXPECT(!wait->dropped || wait->event,
		       "%#zx waits for a stream that was dropped without an "
		       "event",
		       use->address);
		EXPECT(!wait->recording ||
			       (wait->dropped &&
				wait->recording->native == wait->event),
		       "%#zx waits for another event than that it was freed "
		       "after",
		       use->address);
	}
	return GPUMEM_OK;
}

/* Each entry that has a view is found by it, and no other. */
static gpumem_status check_views(const struct gm_uses *uses)
{
	uint64_t views = 0, found = 0;

	for (size_t i = 0; i < 2 * uses->bucket_count; i++) {
		const struct gm_use *use = uses->bucket[i];

		for (; use && i < uses->bucket_count; use = use->next)
			views += use->view != NULL;
		for (; use; use = use->next_by_view) {
			EXPECT(gm_uses_find(uses, use->address) == use &&
				       gm_uses_find_view(uses, use->view) ==
					       use,
			       "the view of the block at %#zx does not lead to "
			       "it",
			       use->address);
			found++;
		}
	}
	EXPECT(views == uses->view_count && views == found,
	       "%llu blocks have views, %llu are counted, %llu are found",
	       (ull)views, (ull)uses->view_count, (ull)found);
	return GPUMEM_OK;
}

/* Each block that is marked so has an entry, and there are no others. */
gpumem_status gm_check_uses(const struct gm_heap *heap,
			    const struct gm_tally *tally)
{
	const struct gm_uses *uses = &heap->order->uses;
	uint64_t count = 0;

	for (size_t i = 0; i < uses->bucket_count; i++)
		for (const struct gm_use *use = uses->bucket[i]; use;
		     use = use->next) {
			gpumem_status status = check_waits(use);

			if (status != GPUMEM_OK)
				return status;
			EXPECT(gm_map_get(use->address),
			       "%#zx is known as used, and is no block",
			       use->address);
			count++;
		}
	EXPECT(count == uses->count && count == tally->shared,
	       "%llu blocks are marked as used elsewhere, %llu are known so",
	       (ull)tally->shared, (ull)count);
	EXPECT(heap->order->pending.held_bytes <= heap->order->pending.bytes,
	       "%llu bytes are held by views, of %llu pending",
	       (ull)heap->order->pending.held_bytes,
	       (ull)heap->order->pending.bytes);
	return check_views(uses);
}
