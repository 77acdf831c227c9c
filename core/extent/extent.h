/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Extents: the pieces that a heap's addresses are cut into. All of one span
 * (the address range of the heap, or one segment) form a list in address order
 * without gaps:
 *
 *     e.address + e.bytes == next(e).address             within a span
 *     prev(next(e)) == e
 *     e free, next(e) free   =>  different arenas         (else merged)
 *     e hole, next(e) hole   =>  never
 *     a hole begins and ends at page borders
 *
 * Nodes lie in one store of the heap's own, so that a link is a number of four
 * bytes and a node one line of the processor's cache. The store is a range of
 * addresses that becomes memory as it is needed, and stays memory until the
 * heap ends. An operation reserves the nodes that it may need before it changes
 * anything, so that it cannot fail half way. The heap's mutex guards all of it,
 * but what is said to be read without.
 */
#ifndef GM_EXTENT_EXTENT_H
#define GM_EXTENT_EXTENT_H

#include <gpumem/gpumem.h>
#include <stdatomic.h>

struct gm_arena;
struct gm_heap;

enum gm_extent_state {
	GM_EXTENT_HOLE,	     /* addresses without memory */
	GM_EXTENT_FREE,	     /* in the index of `arena` */
	GM_EXTENT_LARGE,     /* one live block */
	GM_EXTENT_CACHED,    /* free, cached by a thread */
	GM_EXTENT_RUN,	     /* cut into small blocks */
	GM_EXTENT_PENDING,   /* a large block that streams may still use */
	GM_EXTENT_FILLING,   /* a hole that is being mapped */
	GM_EXTENT_RELEASING, /* being given back to the driver: pages/release.c
			      */
	GM_EXTENT_STALE,     /* its memory serves elsewhere: pages/stale.h */
	GM_EXTENT_RETIRING,  /* the same, and is being unmapped */
	GM_EXTENT_ASLEEP     /* free, where a sleep took memory: pages/away.h */
};

enum { GM_EXTENT_BYTES = 64 };

/* Sequence numbers are above this, and addresses below. A live extent has its
 * heap where a free one has its number, so either can be told from the other
 * without the mutex. */
#define GM_SEQNO_BASE (UINT64_C(1) << 62)

/* Links are numbers of nodes; 0 is none. */
struct gm_extent {
	_Alignas(GM_EXTENT_BYTES) uintptr_t address;
	size_t bytes;
	struct gm_arena *arena; /* whose it is; NULL for holes */
	uint32_t prev, next;	/* by address; 0 at a span's edge */
	union {
		struct { /* ring.h: free by pages; holes; stale */
			uint32_t ring_prev, ring_next;
		};
		_Atomic(void *) user; /* live, where `more` says so */
	};
	union {
		struct {		      /* free and stale */
			uint32_t left, right; /* by size */
			uint64_t seqno;	      /* of the latest free in it;
					       gm_extent_set_seqno() sets it */
		};
		struct { /* live, ready and pending */
			size_t requested;
			struct gm_heap *heap; /* gm_extent_set_heap() sets it */
		};
	};
	/* Changed between LARGE and READY by a thread without a lock. */
	_Atomic uint8_t state;
	uint16_t more;	   /* live: see tags.h; cached: 0 */
	uint32_t priority; /* free: see tree.h */
};

_Static_assert(sizeof(struct gm_extent) == GM_EXTENT_BYTES,
	       "an extent is one line");

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

/* What a live block has more; 0 of one that is cached. Other threads may add
 * something meanwhile. */
static inline uint16_t gm_extent_more(const struct gm_extent *extent)
{
	return __atomic_load_n(&extent->more, __ATOMIC_RELAXED);
}

static inline void gm_extent_add_more(struct gm_extent *extent, uint16_t bits)
{
	(void)__atomic_fetch_or(&extent->more, bits, __ATOMIC_RELEASE);
}

static inline void gm_extent_clear_more(struct gm_extent *extent)
{
	__atomic_store_n(&extent->more, 0, __ATOMIC_RELAXED);
}

/* The heap that a live, cached or pending extent belongs to, also without the
 * mutex, where it may be anything else by now: then that heap, or NULL. */
static inline struct gm_heap *gm_extent_heap(const struct gm_extent *extent)
{
	uint64_t either = __atomic_load_n(&extent->seqno, __ATOMIC_RELAXED);

	return either < GM_SEQNO_BASE ? (struct gm_heap *)(uintptr_t)either
				      : NULL;
}

static inline void gm_extent_set_heap(struct gm_extent *extent,
				      struct gm_heap *heap)
{
	__atomic_store_n(&extent->heap, heap, __ATOMIC_RELAXED);
}

static inline void gm_extent_set_seqno(struct gm_extent *extent, uint64_t seqno)
{
	__atomic_store_n(&extent->seqno, seqno, __ATOMIC_RELAXED);
}

static inline uintptr_t gm_extent_end(const struct gm_extent *extent)
{
	return extent->address + extent->bytes;
}

/*
 * The store of nodes. Node 0 is never used.
 *
 *     0 < fresh <= ready <= room, once there is a store
 *     free_count == ready - fresh + length of the list `free`
 */
struct gm_nodes {
	struct gm_extent *node;
	uint32_t fresh; /* this one and those beyond were never taken */
	uint32_t ready; /* the first that is not memory yet */
	uint32_t room;	/* how many there are addresses for */
	uint32_t free;	/* given back, linked by next */
	size_t free_count;
	size_t promised; /* not to be reserved for anything else */
};

/* Makes at least `count` nodes ready, beside those that were promised. OK or
 * NO_HOST_MEMORY. */
gpumem_status gm_nodes_reserve(struct gm_nodes *nodes, size_t count);
/* A reserved node, zeroed. */
struct gm_extent *gm_nodes_take(struct gm_nodes *nodes);
void gm_nodes_give(struct gm_nodes *nodes, struct gm_extent *extent);
void gm_nodes_fini(struct gm_nodes *nodes);

static inline size_t gm_nodes_bytes(const struct gm_nodes *nodes)
{
	return (size_t)nodes->ready * sizeof(*nodes->node);
}

/* From a number to its node, NULL for 0; and back. */
static inline struct gm_extent *gm_node(const struct gm_nodes *nodes,
					uint32_t number)
{
	return number ? &nodes->node[number] : NULL;
}

static inline uint32_t gm_node_number(const struct gm_nodes *nodes,
				      const struct gm_extent *extent)
{
	return (uint32_t)(extent - nodes->node);
}

/* The neighbours by address; NULL at a span's edge. */
static inline struct gm_extent *gm_extent_next(const struct gm_nodes *nodes,
					       const struct gm_extent *extent)
{
	return gm_node(nodes, extent->next);
}

static inline struct gm_extent *gm_extent_prev(const struct gm_nodes *nodes,
					       const struct gm_extent *extent)
{
	return gm_node(nodes, extent->prev);
}

/* Cuts `extent` after its first `bytes` bytes; the rest, returned, is a copy of
 * it in a reserved node. Neither is in any index. */
struct gm_extent *gm_extent_split(struct gm_nodes *nodes,
				  struct gm_extent *extent, size_t bytes);
/* Appends the next extent to this one and gives its node back. Neither is in
 * any index. */
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
	uintptr_t end = gm_extent_end(extent);

	return end > first ? (end - first) >> __builtin_ctzll(page_bytes) : 0;
}

#endif
