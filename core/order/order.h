/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Stream order: which stream free memory belongs to, which other streams a
 * block is used on, and when the device is done with either. The contract of
 * the module, for those above it:
 *
 *     arena.h    free memory by stream; what of it is settled, by events; how
 * it passes from one stream to another uses.h     the streams, besides its own,
 * that a live block is used on pending.h  freed blocks that those streams may
 * still use, until an event says that they are done; the store of events
 *
 * It maps and unmaps nothing, and knows nothing of slabs and caches: who makes
 * a heap says where a small block goes that is no longer pending.
 *
 * The heap's mutex guards it.
 */
#ifndef GM_ORDER_ORDER_H
#define GM_ORDER_ORDER_H

#include "arena.h"
#include "pending.h"
#include "uses.h"

struct gm_order {
	struct gm_arena *arenas;
	struct gm_arena *private_arenas; /* of graphs: see arena.h */
	struct gm_pending pending;
	struct gm_uses uses;
	struct gm_events events;
	gm_slot_free_fn free_slot; /* constant */
};

/* Without the mutex. OK or NO_HOST_MEMORY. */
gpumem_status gm_order_init(struct gm_heap *heap, gm_slot_free_fn free_slot);
/* Nobody uses the heap any more: nothing is pending, and all arenas are gone.
 */
void gm_order_fini(struct gm_heap *heap);
/* Host memory that its bookkeeping takes. */
uint64_t gm_order_host_bytes(const struct gm_heap *heap);

/* True while `stream` is being captured: leave it alone. */
bool gm_heap_capturing(struct gm_heap *heap, gpumem_stream stream);
/* True while any stream that the heap knows is. */
bool gm_heap_any_capturing(struct gm_heap *heap);

#endif
