/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Rings of extents: what is in no order but that of its coming. A ring is the
 * number of the node that came first, 0 when it is empty; an extent is in one
 * at most. Everything is a few steps, however long the ring is.
 *
 *     ring_prev(ring_next(e)) == e; ring_prev(first) is the last
 *
 * The heap's mutex guards them.
 */
#ifndef GM_EXTENT_RING_H
#define GM_EXTENT_RING_H

#include "extent.h"

/* Puts it at the end. */
static inline void gm_ring_add(const struct gm_nodes *nodes, uint32_t *ring,
			       struct gm_extent *extent)
{
	uint32_t number = gm_node_number(nodes, extent);
	struct gm_extent *first = gm_node(nodes, *ring);

	if (!first) {
		extent->ring_prev = extent->ring_next = number;
		*ring = number;
		return;
	}
	extent->ring_next = *ring;
	extent->ring_prev = first->ring_prev;
	nodes->node[first->ring_prev].ring_next = number;
	first->ring_prev = number;
}

static inline void gm_ring_remove(const struct gm_nodes *nodes, uint32_t *ring,
				  struct gm_extent *extent)
{
	uint32_t number = gm_node_number(nodes, extent);

	if (extent->ring_next == number) {
		*ring = 0;
		return;
	}
	nodes->node[extent->ring_next].ring_prev = extent->ring_prev;
	nodes->node[extent->ring_prev].ring_next = extent->ring_next;
	if (*ring == number)
		*ring = extent->ring_next;
}

/* The one that came after, or NULL. */
static inline struct gm_extent *gm_ring_next(const struct gm_nodes *nodes,
					     uint32_t ring,
					     const struct gm_extent *extent)
{
	return extent->ring_next == ring ? NULL
					 : &nodes->node[extent->ring_next];
}

#endif
