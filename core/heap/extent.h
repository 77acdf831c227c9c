/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Extents: the pieces that a heap's addresses are cut into. All of one span
 * (the address range of the heap, or one segment) form a list in address order
 * without gaps:
 *
 *     e->address + e->bytes == e->next->address          within a span
 *     e free, e->next free   =>  different arenas         (else merged)
 *     e hole, e->next hole   =>  never
 *     a hole begins and ends at page borders
 *
 * Nodes come from a store of the heap's own that never gives memory back before
 * the heap ends. An operation reserves the nodes that it may need before it
 * changes anything, so that it cannot fail half way. The heap's mutex guards
 * all of it.
 */
#ifndef GM_HEAP_EXTENT_H
#define GM_HEAP_EXTENT_H

#include <gpumem/gpumem.h>
#include <stdatomic.h>

struct gm_arena;
struct gm_heap;

enum gm_extent_state {
	GM_EXTENT_HOLE,	   /* addresses without memory */
	GM_EXTENT_FREE,	   /* in the index of `arena` */
	GM_EXTENT_LARGE,   /* one live block */
	GM_EXTENT_READY,   /* none now, and in the cache of a thread */
	GM_EXTENT_RUN,	   /* cut into small blocks */
	GM_EXTENT_PENDING, /* a large block that streams may still use */
	GM_EXTENT_FILLING  /* a hole that is being mapped */
};

struct gm_extent {
	uintptr_t address;
	size_t bytes;
	struct gm_extent *prev, *next; /* by address; NULL at a span's edge */
	struct gm_arena *arena;	       /* whose it is; NULL for holes */
	union {
		struct {					  /* free */
			struct gm_extent *left, *right;		  /* by size */
			struct gm_extent *page_left, *page_right; /* by pages */
			uint64_t ticket; /* of the latest free in it */
		};
		struct { /* live, ready and pending */
			size_t requested;
			struct gm_heap *heap; /* read without the mutex */
			bool shared; /* other streams use it: see uses.h */
		};
		struct gm_extent *next_hole; /* hole: unordered ring */
	};
	/* Changed between LARGE and READY by a thread without a lock. */
	_Atomic uint8_t state;
};

static inline enum gm_extent_state
gm_extent_state(const struct gm_extent *extent)
{
	return (enum gm_extent_state)atomic_load_explicit(&extent->state,
							  memory_order_relaxed);
}

static inline bool gm_extent_is(const struct gm_extent *extent,
				enum gm_extent_state state)
{
	return gm_extent_state(extent) == state;
}

static inline void gm_extent_set(struct gm_extent *extent,
				 enum gm_extent_state state)
{
	atomic_store_explicit(&extent->state, (uint8_t)state,
			      memory_order_relaxed);
}

/* Whose a live block is changes when its stream goes; other threads look
 * without a lock. */
static inline struct gm_arena *gm_extent_arena(const struct gm_extent *extent)
{
	return __atomic_load_n(&extent->arena, __ATOMIC_RELAXED);
}

static inline void gm_extent_move(struct gm_extent *extent,
				  struct gm_arena *arena)
{
	__atomic_store_n(&extent->arena, arena, __ATOMIC_RELAXED);
}

static inline uintptr_t gm_extent_end(const struct gm_extent *extent)
{
	return extent->address + extent->bytes;
}

/* The store of nodes. */
struct gm_nodes {
	struct gm_extent *free; /* linked by next */
	size_t free_count;
	struct gm_node_chunk *chunks;
	size_t bytes;
};

/* Makes at least `count` nodes ready. OK or NO_HOST_MEMORY. */
gpumem_status gm_nodes_reserve(struct gm_nodes *nodes, size_t count);
/* A reserved node, zeroed. */
struct gm_extent *gm_nodes_take(struct gm_nodes *nodes);
void gm_nodes_give(struct gm_nodes *nodes, struct gm_extent *extent);
void gm_nodes_fini(struct gm_nodes *nodes);

/* Cuts `extent` after its first `bytes` bytes; the rest, returned, is a copy of
 * it in a reserved node. Neither is in any index. */
struct gm_extent *gm_extent_split(struct gm_nodes *nodes,
				  struct gm_extent *extent, size_t bytes);
/* Appends e->next to e and gives its node back. Neither is in any index. */
void gm_extent_join(struct gm_nodes *nodes, struct gm_extent *extent);

/* How many whole pages lie in it, and where the first begins. */
static inline uintptr_t gm_extent_first_page(const struct gm_extent *extent,
					     size_t page_bytes)
{
	return (extent->address + page_bytes - 1) &
	       ~(uintptr_t)(page_bytes - 1);
}

static inline size_t gm_extent_pages(const struct gm_extent *extent,
				     size_t page_bytes)
{
	uintptr_t first = gm_extent_first_page(extent, page_bytes);
	uintptr_t last = gm_extent_end(extent) & ~(uintptr_t)(page_bytes - 1);

	return last > first ? (last - first) / page_bytes : 0;
}

#endif
