/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * An arena: the free memory whose last use was on one stream. What was freed is
 * at once good for that stream. For everything else (another stream, unmapping)
 * it must have *settled*: each free gets a ticket, an event recorded on the
 * stream stands for all tickets so far, and when it is over these tickets are
 * settled. Nothing here waits but gm_arena_wait() and gm_arenas_wait(). Tickets
 * are numbers of the whole heap, so that one number per page is enough to know
 * when it may be unmapped.
 *
 *     settled <= ticket <= heap->ticket; extent->ticket <= ticket
 *     ticket of fence i < ticket of fence i + 1
 *     memory fresh from the driver has ticket 0
 *
 * The heap's mutex guards it.
 */
#ifndef GM_ORDER_ARENA_H
#define GM_ORDER_ARENA_H

#include "extent/heap_core.h"
#include "extent/index.h"

#include <gpumem/backend.h>

struct gm_slabs;
struct gpumem_graph;

enum {
	GM_FENCES = 8,
	/* Frees between two fences: so many after somebody asked what is
	 * settled, and more and more while nobody does. */
	GM_FENCE_FREES = 1024,
	GM_FENCE_FREES_MAX = 8192
};

struct gm_fence {
	gpumem_event event;
	uint64_t ticket;
};

struct gm_arena {
	struct gm_heap *heap;
	gpumem_stream stream;
	struct gm_arena *next; /* of the heap */
	bool dropped;	       /* the stream is gone: record nothing on it */
	/* Of a graph: then it is private, nothing leaves it, and it serves its
	 * stream only while it is routed. */
	struct gpumem_graph *graph;
	bool routed;
	struct gm_index index;
	uint64_t ticket, settled; /* newest free; newest known to be over */
	unsigned unfenced;	  /* frees since settling was last tried */
	unsigned fence_frees;	  /* it is tried after so many */
	struct gm_fence fence[GM_FENCES]; /* ring, oldest first */
	unsigned fence_first, fence_count;
	struct gm_slabs *slabs; /* of the module above; NULL: none yet */
};

/* The arena of a stream, made when there is none. OK or NO_HOST_MEMORY. */
gpumem_status gm_arena_of(struct gm_heap *heap, gpumem_stream stream,
			  struct gm_arena **arena_out);
/* The same, or NULL when there is none. */
struct gm_arena *gm_arena_find(struct gm_heap *heap, gpumem_stream stream);
/* A new one, private if graph is not NULL. */
gpumem_status gm_arena_create(struct gm_heap *heap, gpumem_stream stream,
			      struct gpumem_graph *graph,
			      struct gm_arena **arena_out);
/* All of a heap, the private ones last: the first is gm_arena_first(). */
struct gm_arena *gm_arena_first(const struct gm_heap *heap);
struct gm_arena *gm_arena_after(const struct gm_heap *heap,
				const struct gm_arena *arena);
/* May threads keep blocks of it ready? Only of the one that serves a stream. */
bool gm_arena_serves(const struct gm_arena *arena, gpumem_stream stream);

/* Learns what the device has finished, and with fence = true first records an
 * event for what was freed since the last one. Records and queries nothing
 * while the stream is being captured. */
void gm_arena_settle(struct gm_arena *arena, bool fence);
/* The same for all arenas, with fences; no stream is being captured. */
void gm_arenas_ask(struct gm_heap *heap);
/* The same; but false, and nothing is done, while any stream is being captured.
 */
bool gm_arenas_settle(struct gm_heap *heap);
/* A free was counted: a fence now and then, so that there is something settled
 * by the time that it is asked for. */
void gm_arena_count_free(struct gm_arena *arena);

static inline bool gm_arena_settled(const struct gm_arena *arena,
				    uint64_t ticket)
{
	return ticket <= arena->settled;
}

/* A free extent where `bytes` bytes fit at `alignment`, or NULL. */
struct gm_extent *gm_arena_fit(struct gm_arena *arena, size_t bytes,
			       size_t alignment);

/* Cuts [aligned start, + bytes) out of a free extent that was found so; what is
 * left stays free. Two nodes have been reserved. The result is in no index. */
struct gm_extent *gm_arena_carve(struct gm_extent *extent, size_t bytes,
				 size_t alignment);

/* Puts an extent that is in no index back, merged with its free neighbours of
 * the same arena. The first is a free by the user, whose work may still run;
 * the second keeps the ticket that the extent has, and returns what it is part
 * of then. */
void gm_arena_release(struct gm_arena *arena, struct gm_extent *extent);
struct gm_extent *gm_arena_insert(struct gm_arena *arena,
				  struct gm_extent *extent);

/* `heir` takes over one free extent of another arena that is settled and fits.
 * False: there is none. */
bool gm_arenas_borrow(struct gm_heap *heap, struct gm_arena *heir, size_t bytes,
		      size_t alignment);

/* `heir` takes over what is settled of all other arenas' free extents. */
void gm_arenas_adopt(struct gm_heap *heap, struct gm_arena *heir);
/* Of one arena. */
void gm_arena_adopt(struct gm_arena *heir, struct gm_arena *from);
/* An extent that is not free now becomes `heir`'s, when all that `from` ever
 * did with it is over. */
void gm_arena_pass_on(struct gm_arena *heir, struct gm_extent *extent);

/* The stream will not be used again: a last fence, then its memory waits to be
 * adopted. OK, or what the driver said. */
gpumem_status gm_arena_drop(struct gm_arena *arena);
/* A private arena that serves no stream becomes that of a dropped stream, whose
 * last use is what `stream` has to do by now. OK, or what the driver said. */
gpumem_status gm_arena_publish(struct gm_arena *arena, gpumem_stream stream);

/* Waits, with the mutex given up meanwhile, until something more is settled;
 * false: there is nothing to wait for. */
bool gm_arenas_wait(struct gm_heap *heap);

/* Waits until everything is settled. For the end of a heap only. */
void gm_arena_wait(struct gm_arena *arena);

/* Destroys an arena that holds nothing, and has no slabs any more; its events
 * go back. */
void gm_arena_fini(struct gm_arena *arena);

#endif
