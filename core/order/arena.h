/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * An arena: the free memory whose last use was on one stream. That stream may
 * reuse it at once. Everything else (another stream, unmapping) needs the work
 * before the free to be *completed*: each free gets a sequence number (seqno),
 * an event (a fence) recorded on the stream covers all numbers so far, and when
 * the event completes, so have these numbers. Nothing here waits but
 * gm_arena_wait(), gm_arenas_wait() and gm_arena_drain(). The numbers are of
 * the whole heap, so that one number per page is enough to know when it may be
 * unmapped.
 *
 *     completed <= seqno <= heap->seqno; extent->seqno <= seqno
 *     seqno of fence i < seqno of fence i + 1
 *     memory fresh from the driver has seqno 0, what was freed one that is
 *     larger than GM_SEQNO_BASE
 *     public and with a free extent  =>  stocked
 *     public  =>  either dropped, or found by its stream
 *     where there are pages, a large block is of the arena of its stream and of
 *         the fate that its tag had by then (base/tag.h), unless a graph has
 *         the stream; all else is of fate 0
 *     !order->mixed  =>  no handle has anything of two fates
 *     of a live block: arena->stream is the stream that it was allocated on, or
 *         that one was dropped, and its work until then is covered by a fence
 *
 * So whatever ends, a graph or a stream, the numbers that protect a block stay
 * with the block: what its own stream does with it, before or after, comes
 * before it is anybody else's.
 *
 * The heap's mutex guards it.
 */
#ifndef GM_ORDER_ARENA_H
#define GM_ORDER_ARENA_H

#include "attempt.h"
#include "extent/heap_core.h"
#include "extent/index.h"

#include <gpumem/backend.h>

struct gm_order;
struct gm_slabs;
struct gpumem_graph;

enum {
	GM_FENCES = 8,
	GM_FIRST_BUCKETS = 16,
	GM_FOLLOWS = 32, /* streams that one comes after */
	/* So many other arenas are looked at for one allocation, in turn. */
	GM_ARENA_LOOKS = 64,
	/* Frees between two fences: so many after a poll, then more and more
	 * until the next one. */
	GM_FENCE_FREES = 1024,
	GM_FENCE_FREES_MAX = 8192
};

struct gm_fence {
	void *event;
	uint64_t seqno;
};

/* Those whose work an arena comes after, and up to which of their numbers: what
 * its stream waited for, or had of a sibling, and what these had waited for by
 * then: a vector clock (Fidge, Timestamps in Message-Passing Systems, 1988;
 * Mattern, Virtual Time and Global States of Distributed Systems, 1989) with
 * the numbers of frees as time. */
struct gm_clock {
	struct gm_follow {
		struct gm_arena *of;
		uint64_t seqno;
	} follow[GM_FOLLOWS];
	unsigned count;
};

/*
 * Of an arena that waited for others. When its work of a fence is over, so is
 * all that this came after, and is completed then: or a page that came from
 * there would be completed here, and not yet where it is stale (pages/stale.h).
 * So nothing is forgotten before it is completed; a stream that would come
 * after more others does not wait.
 */
struct gm_follows {
	struct gm_clock now;
	struct gm_clock of_fence[GM_FENCES]; /* when it was recorded */
};

struct gm_arena {
	struct gm_heap *heap;
	gpumem_stream stream;
	struct gm_arena *next, *prev; /* of the heap */
	struct gm_arena *next_stocked, *prev_stocked;
	struct gm_arena *next_of_bucket, *next_dropped;
	bool stocked; /* it is in the list of those */
	bool idle;    /* when last asked, the stream had no work */
	bool dropped; /* the stream is gone: record nothing on it */
	/* Of a graph: then it is private, none of its memory is transferred,
	 * and it serves its stream only while it is routed. */
	struct gpumem_graph *graph;
	bool routed;
	uint32_t fate; /* of its blocks in a sleep: a tag; 0: of all others */
	uint64_t grown_bytes; /* that growths have mapped for it */
	struct gm_index index;
	uint64_t seqno, completed; /* newest free; newest known to be over */
	unsigned unfenced;	   /* frees since it was last polled */
	unsigned fence_frees;	   /* it is polled after so many */
	uint64_t asked; /* in that search it was seen not to be captured */
	uint64_t busy;	/* in that one its newest work was not over */
	struct gm_fence fence[GM_FENCES]; /* ring, oldest first */
	unsigned fence_first, fence_count;
	struct gm_follows *follows; /* NULL: it never waited for others */
	bool followed;		    /* others may have waited for it */
	struct gm_slabs *slabs;	    /* of the module above; NULL: none yet */
};

/* The arena that serves a stream, or NULL. */
struct gm_arena *gm_arena_find(struct gm_heap *heap, gpumem_stream stream);
/* A new one, private if graph is not NULL. OK or NO_HOST_MEMORY. */
gpumem_status gm_arena_create(struct gm_heap *heap, gpumem_stream stream,
			      struct gpumem_graph *graph,
			      struct gm_arena **arena_out);
/* Of a stream that the program names, made when there is none: its public one,
 * or the graph's; or the one that serves it. OK; NO_HOST_MEMORY; INVALID: the
 * heap has not met it, and the driver knows of no such stream. */
gpumem_status gm_arena_named(struct gm_heap *heap, gpumem_stream stream,
			     struct gpumem_graph *graph,
			     struct gm_arena **arena_out);
gpumem_status gm_arena_of(struct gm_heap *heap, gpumem_stream stream,
			  struct gm_arena **arena_out);
/* The one that serves a stream's blocks of a fate, or NULL. */
struct gm_arena *gm_arena_find_fate(struct gm_heap *heap, gpumem_stream stream,
				    uint32_t fate);
/* A public one's sibling for blocks of a fate, made when there is none. OK or
 * NO_HOST_MEMORY. */
gpumem_status gm_arena_of_fate(struct gm_arena *arena, uint32_t fate,
			       struct gm_arena **arena_out);
/* The next one of its stream, in a ring of all fates; of a public one whose
 * stream is there. */
struct gm_arena *gm_arena_sibling(const struct gm_arena *arena);
/* Does what one stream does, whatever the fate, decide both? */
static inline bool gm_arenas_in_order(const struct gm_arena *a,
				      const struct gm_arena *b)
{
	return a == b || (a->stream == b->stream && !a->graph && !b->graph &&
			  !a->dropped && !b->dropped);
}
/* May what is free of one become the other's, as far as fates go? */
bool gm_arenas_mix(const struct gm_arena *a, const struct gm_arena *b);
/* Whose what is free of the other becomes on the receiver's stream: its own, or
 * its sibling's of that fate. NULL: no host memory. */
struct gm_arena *gm_arena_receiver(struct gm_arena *receiver,
				   const struct gm_arena *of);
/* check_fates.c, as extent/check.h has it: no handle is of two fates, unless
 * they mix. */
gpumem_status gm_check_fates(const struct gm_heap *heap);
/* Those with free memory, but for private ones. */
struct gm_arena *gm_arena_stocked(const struct gm_heap *heap);
struct gm_arena *gm_arena_stocked_after(const struct gm_arena *arena);
/* All of a heap, the private ones last: the first is gm_arena_first(). */
struct gm_arena *gm_arena_first(const struct gm_heap *heap);
struct gm_arena *gm_arena_after(const struct gm_heap *heap,
				const struct gm_arena *arena);
/* May threads cache blocks of it? Only of the one that serves a stream. */
bool gm_arena_serves(const struct gm_arena *arena, gpumem_stream stream);

/* Queries which fences have completed, and with fence = true first records one
 * for what was freed since the last; but none while the stream is being
 * captured. */
void gm_arena_poll(struct gm_arena *arena, const struct gm_attempt *attempt,
		   bool fence);
/* The same for all arenas with free memory, with fences; but false, and nothing
 * is done, where a capture forbids it. */
bool gm_arenas_poll(struct gm_heap *heap);
/* Counts a free, and occasionally records a fence, so that something has
 * completed by the time that it is needed. */
void gm_arena_count_free(struct gm_arena *arena);

static inline bool gm_arena_completed(const struct gm_arena *arena,
				      uint64_t seqno)
{
	return seqno <= arena->completed;
}

/* A free extent where `bytes` bytes fit at `alignment`, or NULL. Without
 * virtual memory a search may be sparing (attempt.h): then large segments of
 * which nothing is used, and which could go back to the driver, are passed over
 * for requests that would fill less than three quarters of one. So is what a
 * block or two leave of one, if that is at most half, for requests that would
 * fill less than a 16th: they would keep it after these are gone. Of the other
 * extents a small block gets one in a small segment. */
struct gm_extent *gm_arena_fit(struct gm_arena *arena,
			       const struct gm_attempt *attempt, size_t bytes,
			       size_t alignment);

/* Is it part of such a segment? And would an unused one of so many bytes be
 * one? */
bool gm_arena_spares(const struct gm_extent *extent,
		     const struct gm_attempt *attempt, size_t bytes,
		     size_t alignment);
bool gm_attempt_spares(const struct gm_attempt *attempt, size_t segment,
		       size_t bytes);

/* Cuts [aligned start, + bytes) out of a free extent that was found so; what is
 * left stays free. Two nodes have been reserved. The result is in no index. */
struct gm_extent *gm_arena_carve(struct gm_extent *extent, size_t bytes,
				 size_t alignment);

/* Puts an extent that is in no index back, merged with its free neighbours of
 * the same arena, and returns what it is part of then. The first is a free by
 * the user, whose work may still run; the second keeps the seqno that the
 * extent has. */
struct gm_extent *gm_arena_release(struct gm_arena *arena,
				   struct gm_extent *extent);
struct gm_extent *gm_arena_insert(struct gm_arena *arena,
				  struct gm_extent *extent);

/* Has the arena's stream waited for all work up to that number of the other? */
bool gm_arena_follows(const struct gm_arena *arena, const struct gm_arena *of,
		      uint64_t seqno);
/* The stream will not be used again: records a last fence; its memory can be
 * transferred once that has completed. OK, or the driver's error. */
gpumem_status gm_arena_drop(struct gm_arena *arena);

/*
 * private.c: the end of a private arena, which serves no stream. Its memory
 * goes to the public arena of its own stream, which has come after the graph's
 * work: free memory, as if freed there now, and the numbers of what is pending.
 * Blocks and slabs the caller moves: it stays, empty, as that of a dropped
 * stream.
 */
void gm_arena_return(struct gm_arena *receiver, struct gm_arena *from);
/* The arena's stream begins nothing more before what `stream` has to do by now
 * is over. OK; CAPTURING: it is being captured; or the driver's error. */
gpumem_status gm_arena_come_after(struct gm_arena *arena, gpumem_stream stream);
/* Where its own stream is gone: it becomes that of a dropped stream, whose last
 * use is the work queued on `stream` by now. OK, or the driver's error. */
gpumem_status gm_arena_publish(struct gm_arena *arena, gpumem_stream stream);

/* Waits, with the mutex released meanwhile, until another fence has completed;
 * false: there is none. */
bool gm_arenas_wait(struct gm_heap *heap);

/* The same, for so many nanoseconds at most, until all that was freed of the
 * arena so far is completed; its stream is not being captured. False: no more
 * of it is than before. */
bool gm_arena_drain(struct gm_arena *arena, uint64_t ns);

/* Waits until everything is completed. For the end of a heap only. */
void gm_arena_wait(struct gm_arena *arena);

/* ---- between the files of this module ---- */

/* A free extent that is in no index: as if the arena had freed it just now. */
void gm_arena_renumber(struct gm_arena *arena, struct gm_extent *extent);

/* The oldest fence that covers what was freed up to this number, recorded if
 * need be. NULL: the driver refuses. The stream is not being captured. */
struct gm_fence *gm_arena_fence(struct gm_arena *arena, uint64_t seqno);
/* What was freed up to this number is completed. */
void gm_arena_complete(struct gm_arena *arena, uint64_t seqno);

/* The arena's stream waits for that fence, and comes after what this does.
 * False: it would come after too many others, there is no host memory, or the
 * driver refuses. */
bool gm_follow_wait(struct gm_arena *arena, struct gm_arena *of,
		    const struct gm_fence *fence);
/* The number, among this arena's, of what a sibling freed with that number: the
 * stream does in order what it does for both. False: as above. */
bool gm_follow_number(struct gm_arena *arena, struct gm_arena *of,
		      uint64_t seqno, uint64_t *seqno_out);
/* A fence was recorded; it has completed; and all of the arena's work has. */
void gm_follow_record(struct gm_arena *arena, const struct gm_fence *fence);
void gm_follow_complete(struct gm_arena *arena, const struct gm_fence *fence);
void gm_follow_complete_all(struct gm_arena *arena);
/* The arena ends. */
void gm_follow_fini(struct gm_arena *arena);

/* The lists of arenas. */

void gm_arenas_add(struct gm_arena *arena);
void gm_arenas_remove(struct gm_arena *arena);
/* Its stream is gone. */
void gm_arenas_drop(struct gm_arena *arena);
/* A private one, whose stream is gone, becomes public. */
void gm_arenas_publish(struct gm_arena *arena);
/* It has free memory now; it has none. */
void gm_arenas_stock(struct gm_arena *arena);
void gm_arenas_unstock(struct gm_arena *arena);
/* Another stocked arena at each call until all have had their turn; NULL: there
 * is none. */
struct gm_arena *gm_arenas_turn(struct gm_heap *heap);
/* How many turns meet all of them, or at most so many. */
size_t gm_arenas_looks(const struct gm_heap *heap, size_t most);
/* The public one of a stream, and of a fate; any of a stream; that of a graph;
 * or NULL. */
struct gm_arena *gm_arenas_of_stream(const struct gm_order *order,
				     gpumem_stream stream);
struct gm_arena *gm_arenas_of_fate(const struct gm_order *order,
				   gpumem_stream stream, uint32_t fate);
struct gm_arena *gm_arenas_any(const struct gm_order *order,
			       gpumem_stream stream);
struct gm_arena *gm_arenas_of_graph(const struct gm_order *order,
				    const struct gpumem_graph *graph,
				    gpumem_stream stream);

/* Destroys an arena that is empty and has no slabs; its events are given back.
 */
void gm_arena_fini(struct gm_arena *arena);

#endif
