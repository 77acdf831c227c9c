/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Stream order: which stream free memory belongs to, which other streams a
 * block is used on, and when the device has completed that use. The contract of
 * the module:
 *
 *     attempt.h  what an attempt at an allocation has heard of the streams
 *     arena.h    free memory by stream. Reused on its own stream at once; on
 *                another, or unmapped, only once an event recorded after the
 *                free has completed
 *     uses.h     the streams, besides its own, that a live block is used on
 *     pending.h  where a freed block waits for an event, one for each of those
 *                streams, or for that of the program which it was freed after;
 *                gm_pending_poll() looks, no thread waits
 *     transfer.h free and pending memory of one stream becomes another's: once
 *                it has completed; or behind that event, if the other stream
 *                waits for it
 *
 * Nothing here waits for the device but gm_pending_wait(), gm_arenas_wait(),
 * gm_arena_drain(), gm_events_wait(), and gm_arena_wait() at the end of a heap.
 * It calls the driver for events and queries only: it neither takes nor gives
 * back memory, and enforces no limit. It does not know slabs and caches: the
 * module above passes in where a small block goes that is no longer pending
 * (free_slot).
 *
 * The heap's mutex guards it.
 */
#ifndef GM_ORDER_ORDER_H
#define GM_ORDER_ORDER_H

#include "arena.h"
#include "transfer.h"
#include "pending.h"
#include "uses.h"

struct gm_order {
	struct gm_arena *arenas;
	struct gm_arena *stocked; /* with free memory: see arena.h */
	struct gm_arena *turn;	  /* NULL: the first of these */
	size_t stocked_count;
	struct gm_arena *dropped; /* whose streams are gone */
	/* By stream, the other public ones. */
	struct gm_arena **bucket;
	size_t bucket_count, stream_count; /* the first is a power of two */
	struct gm_arena *first_bucket[GM_FIRST_BUCKETS];
	struct gm_arena *private_arenas; /* of graphs: see arena.h */
	struct gm_pending pending;
	struct gm_uses uses;
	struct gm_events events;
	bool apart; /* some arena has a fate */
	bool mixed; /* memory was so short that free memory serves any fate; not
		       before a trim leaves nothing are they apart again */
	uint64_t completions; /* how often a poll found that work was over */
	uint64_t idle_in_row; /* idle streams asked since a busy one */
	uint64_t searches;    /* how many there were: see attempt.h */
	gm_slot_free_fn free_slot; /* constant */
};

/* Without the mutex. OK or NO_HOST_MEMORY. */
gpumem_status gm_order_init(struct gm_heap *heap, gm_slot_free_fn free_slot);
/* Nobody uses the heap any more: nothing is pending, and all arenas are gone.
 */
void gm_order_fini(struct gm_heap *heap);
/* Host memory that its bookkeeping takes. */
uint64_t gm_order_host_bytes(const struct gm_heap *heap);

/* True while `stream` is being captured: no event, no query. */
bool gm_heap_capturing(struct gm_heap *heap, gpumem_stream stream);
/* The same of an arena's. */
bool gm_arena_capturing(struct gm_arena *arena,
			const struct gm_attempt *attempt);
/* True while any stream that the heap knows is being captured, on a device
 * where that forbids to unmap, to free and to wait for other streams: without
 * CAP_FREES_IN_CAPTURE. */
bool gm_capture_forbids(struct gm_heap *heap, const struct gm_attempt *attempt);
/* The same for an allocation on the stream, which makes it known. */
bool gm_capture_would_forbid(struct gm_heap *heap,
			     const struct gm_attempt *attempt,
			     gpumem_stream stream);

/* Do streams have no work, as a rule? */
bool gm_order_is_idle(const struct gm_heap *heap);

/* A wait of the host for the device, as a recording has it. */
static inline uint64_t gm_waiting_begin(const struct gm_heap *heap)
{
	return heap->record ? gm_record_clock_ns() : 0;
}

static inline void gm_waiting_end(const struct gm_heap *heap, uint64_t begin_ns)
{
	if (begin_ns)
		GM_RECORD(heap->record, GPUMEM_RECORD_WAIT,
			  gm_record_clock_ns() - begin_ns);
}

#endif
