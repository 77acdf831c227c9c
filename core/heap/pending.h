/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Freed blocks that other streams may still use, oldest first, each with an
 * event per stream; and the store of events. Finished ones go back to their
 * arena or slab. Nothing here waits, but gm_pending_wait().
 *
 *     pending.bytes == sum over the list == active - allocated
 *
 * The heap's mutex guards it.
 */
#ifndef GM_HEAP_PENDING_H
#define GM_HEAP_PENDING_H

#include "uses.h"

struct gm_heap;
struct gm_extent;
struct gm_slab;

struct gm_pending {
	struct gm_pending_block *first, **last;
	size_t count;
	uint64_t bytes;
};

/* Events that are not in use: count <= made <= room. */
struct gm_events {
	gpumem_event *event;
	size_t count, made, room;
};

void gm_pending_init(struct gm_pending *pending);

/* What a freed block is: a large one (extent), or a slot of a slab. */
struct gm_freed {
	struct gm_extent *extent;
	struct gm_slab *slab;
	uint32_t slot;
};

/* Takes a freed block that `count` streams may still use. NO_HOST_MEMORY:
 * nothing has happened. A stream that cannot be asked now (capture, an error of
 * the driver) is asked again later. */
gpumem_status gm_pending_add(struct gm_heap *heap, const struct gm_freed *freed,
			     uint64_t bytes, const struct gm_wait *waits,
			     size_t count);

/* Returns finished blocks to where they belong. True if any stream had finished
 * with any. */
bool gm_pending_poll(struct gm_heap *heap);

/* Waits for the oldest use, with the mutex given up meanwhile, then polls; true
 * if that got further. */
bool gm_pending_wait(struct gm_heap *heap);

/* The stream is to be dropped: every pending block that still has to be asked
 * of it is asked now. OK, or why the driver did not record. */
gpumem_status gm_pending_drop(struct gm_heap *heap, gpumem_stream stream);

/* Forgets all blocks; their events go to the store. */
void gm_pending_fini(struct gm_heap *heap);

/* An event recorded on `stream` now. OK, CAPTURING or another word of the
 * driver. */
gpumem_status gm_events_record(struct gm_heap *heap, gpumem_stream stream,
			       gpumem_event *event_out);
/* Waits for the event, by asking again and again where the driver does not wait
 * itself. OK, or why the driver does not say. Without the mutex. */
gpumem_status gm_events_wait(struct gm_heap *heap, gpumem_event event);
void gm_events_give(struct gm_heap *heap, gpumem_event event);
void gm_events_fini(struct gm_heap *heap);

#endif
