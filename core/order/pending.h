/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where a freed block waits for an event: a list, oldest first, of freed blocks
 * that other streams may still use, each with an event per stream, that were
 * freed after an event of the program, or whose view the program holds; and the
 * store of unused events. Completed ones go
 * back to their arena, or by the heap's free_slot to their slab. No call here
 * waits for the device but gm_pending_wait() and gm_events_wait().
 *
 *     pending.bytes == sum over the list == active - allocated
 *     pending.held_bytes == sum over those with a view <= pending.bytes
 *
 * The heap's mutex guards it.
 */
#ifndef GM_ORDER_PENDING_H
#define GM_ORDER_PENDING_H

#include "uses.h"

struct gm_arena;
struct gm_attempt;
struct gm_heap;
struct gm_extent;
struct gm_first;
struct gm_slab;

/* A slot that was pending is free. */
typedef void (*gm_slot_free_fn)(struct gm_slab *slab, uint32_t slot);

struct gm_pending_block;

struct gm_pending {
	struct gm_pending_block *first, **last;
	struct gm_pending_block **further,
		**behind; /* where the next turn of
			     gm_pending_poll_some(), and
			     of gm_transfer_pending() begins;
			     NULL: none yet */
	size_t count;
	uint64_t bytes, held_bytes;
};

/* Events that are not in use: count <= made <= room. */
struct gm_events {
	void **event;
	size_t count, made, room;
};

void gm_pending_init(struct gm_pending *pending);

/* A freed block: a large one (extent), or a slot of a slab; and its view, if
 * that could not be released. */
struct gm_freed {
	struct gm_extent *extent;
	struct gm_slab *slab;
	uint32_t slot;
	void *view;
};

/* Takes a freed block that `count` streams may still use, or that has a view.
 * NO_HOST_MEMORY: nothing has happened. If no event can be recorded now
 * (capture, an error of the driver) it is recorded at a later poll. */
gpumem_status gm_pending_add(struct gm_heap *heap, const struct gm_freed *freed,
			     uint64_t bytes, const struct gm_wait *waits,
			     size_t count);

/* Releases a view. True: it no longer exists, or the device is lost. */
bool gm_view_end(struct gm_heap *heap, void *view);

/* Frees completed blocks, and logs once each block that only its view keeps.
 * True if any event had completed or view was released. */
bool gm_pending_poll(struct gm_heap *heap);

/* The same for the oldest GM_PENDING_LOOKS, and for as many others, from where
 * the last call ended. */
bool gm_pending_poll_some(struct gm_heap *heap);

/* Waits for the oldest event, with the mutex released meanwhile, then polls;
 * true if any block made progress. */
bool gm_pending_wait(struct gm_heap *heap);

/* Calls fn for each block, with its first use that is not known to be over
 * (NULL: there is none), whether its view is held, and its size. Asks the
 * driver nothing. */
void gm_pending_visit(const struct gm_heap *heap,
		      void (*fn)(const struct gm_wait *use, bool held,
				 uint64_t bytes, void *user),
		      void *user);

/* The stream is to be dropped: records the events that are still missing on it.
 * OK, or why the driver did not record. */
gpumem_status gm_pending_drop(struct gm_heap *heap, gpumem_stream stream);

/* Releases all views, for the end of a pool: BUSY if the program holds one,
 * else OK. The driver's first error goes to *first, and that view is dropped;
 * so are all once the device is lost. */
gpumem_status gm_pending_end_views(struct gm_heap *heap,
				   struct gm_first *first);

/* So many pending blocks are looked at where there is another way. */
enum { GM_PENDING_LOOKS = 256 };

/* Drops all blocks; their events go to the store. */
void gm_pending_fini(struct gm_heap *heap);

/* An event recorded on `stream` now. OK, CAPTURING or another error of the
 * driver. */
gpumem_status gm_events_record(struct gm_heap *heap, gpumem_stream stream,
			       void **event_out);
/* Waits for the event, by polling where the driver cannot wait. OK, or the
 * driver's error. Without the mutex. */
gpumem_status gm_events_wait(struct gm_heap *heap, void *event);
/* The same until deadline_ns (base/clock.h) at most: NOT_READY then. */
gpumem_status gm_events_wait_until(struct gm_heap *heap, void *event,
				   uint64_t deadline_ns);
/* OK, NOT_READY, or the driver's error. No wait. */
gpumem_status gm_events_ask(struct gm_heap *heap, void *event);
void gm_events_give(struct gm_heap *heap, void *event);
void gm_events_fini(struct gm_heap *heap);

/* ---- between the files of this module ---- */

struct gm_pending_wait {
	struct gm_wait use;
	bool over;
};

struct gm_pending_block {
	struct gm_pending_block *next;
	struct gm_freed freed;
	uint64_t bytes;
	uint64_t seqno; /* of its arena, when it was freed */
	bool told;	/* in the log: the program holds its view */
	size_t count;
	struct gm_pending_wait wait[];
};

/* NULL: it goes back to a slab. */
static inline struct gm_arena *gm_freed_arena(const struct gm_freed *freed)
{
	return freed->extent ? freed->extent->arena : NULL;
}

/* Its event, now; where the stream is none any more, nothing of its is waited
 * for, and the wait is over. OK, CAPTURING or another error of the driver. */
gpumem_status gm_pending_record(struct gm_heap *heap,
				struct gm_pending_wait *wait);
void gm_pending_forget_view(struct gm_heap *heap,
			    struct gm_pending_block *block);
/* What goes back to the arena was freed with that number. */
void gm_pending_renumber(const struct gm_arena *arena, uint64_t seqno);

/* A block whose uses are over, or come before whatever the arena's stream does
 * next, leaves the list, at the link that leads to it, and is free memory of
 * that arena; a small one, of its slab. */
void gm_pending_end(struct gm_heap *heap, struct gm_pending_block **link,
		    struct gm_arena *arena);

#endif
