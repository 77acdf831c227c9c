/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Freed blocks that other streams may still use, oldest first, each with an
 * event per stream, or whose view the program holds; and the store of events.
 * Finished ones go back to their arena, or by the heap's free_slot to their
 * slab. Nothing here waits, but
 * gm_pending_wait().
 *
 *     pending.bytes == sum over the list == active - allocated
 *     pending.held_bytes == sum over those with a view <= pending.bytes
 *
 * The heap's mutex guards it.
 */
#ifndef GM_ORDER_PENDING_H
#define GM_ORDER_PENDING_H

#include "uses.h"

struct gm_heap;
struct gm_extent;
struct gm_first;
struct gm_slab;

/* A slot that was pending is free. */
typedef void (*gm_slot_free_fn)(struct gm_slab *slab, uint32_t slot);

struct gm_pending {
	struct gm_pending_block *first, **last;
	size_t count;
	uint64_t bytes, held_bytes;
};

/* Events that are not in use: count <= made <= room. */
struct gm_events {
	gpumem_event *event;
	size_t count, made, room;
};

void gm_pending_init(struct gm_pending *pending);

/* What a freed block is: a large one (extent), or a slot of a slab; and its
 * view, if it could not be given back. */
struct gm_freed {
	struct gm_extent *extent;
	struct gm_slab *slab;
	uint32_t slot;
	void *view;
};

/* Takes a freed block that `count` streams may still use, or that has a view.
 * NO_HOST_MEMORY: nothing has happened. A stream that cannot be asked now
 * (capture, an error of the driver) is asked again later. */
gpumem_status gm_pending_add(struct gm_heap *heap, const struct gm_freed *freed,
			     uint64_t bytes, const struct gm_wait *waits,
			     size_t count);

/* Gives a view back. True: it is no more, as nothing is of a device that is
 * lost. */
bool gm_view_end(struct gm_heap *heap, void *view);

/* Returns finished blocks to where they belong, and says once of each whose
 * view is all that keeps it. True if any stream, or view, had finished with
 * any. */
bool gm_pending_poll(struct gm_heap *heap);

/* Waits for the oldest use, with the mutex given up meanwhile, then polls; true
 * if that got further. */
bool gm_pending_wait(struct gm_heap *heap);

/* The stream is to be dropped: every pending block that still has to be asked
 * of it is asked now. OK, or why the driver did not record. */
gpumem_status gm_pending_drop(struct gm_heap *heap, gpumem_stream stream);

/* Gives back all views, for the end of a pool: BUSY if the program holds one,
 * else OK. What the driver has against one goes to *first, and the view is
 * forgotten; so are all once the device is lost. */
gpumem_status gm_pending_end_views(struct gm_heap *heap,
				   struct gm_first *first);

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
