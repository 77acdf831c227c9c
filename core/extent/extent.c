/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Nodes, and the two operations that change the list of extents. */
#include "extent.h"
#include "addresses.h"
#include "base/error.h"

#include <string.h>
#include <sys/mman.h>

enum {
	/* One step is whole pages on every system: 64 KiB. */
	STEP_NODES = 1024,
	/* Steps grow with the store, so that the system is seldom asked. */
	STEP_PART = 32,
	/* Twice what half a terabyte in the smallest large blocks needs. */
	ROOM_NODES = 1 << 26,
	/* But half of what the pool may take at first, for 64 Ki blocks at
	 * least. */
	ROOM_LEAST = 1 << 16,
	/* Where addresses are limited, others want some too. */
	ROOM_CUT = 8
};

static uint32_t wanted_room(void)
{
	uint64_t room = gm_addresses_share() / 2 / sizeof(struct gm_extent);

	if (room > ROOM_NODES)
		return ROOM_NODES;
	return room < ROOM_LEAST ? ROOM_LEAST
				 : (uint32_t)room / STEP_NODES * STEP_NODES;
}

/* Addresses only: no memory is promised for them. */
static gpumem_status find_room(struct gm_nodes *nodes)
{
	uint32_t room = wanted_room();

	for (; room >= STEP_NODES;
	     room = room / ROOM_CUT / STEP_NODES * STEP_NODES) {
		void *store = mmap(NULL, room * sizeof(*nodes->node), PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				   -1, 0);

		if (store == MAP_FAILED)
			continue;
		*nodes = (struct gm_nodes){.node = store, .room = room};
		gm_addresses_add(room * sizeof(*nodes->node));
		return GPUMEM_OK;
	}
	return gm_fail(GPUMEM_NO_HOST_MEMORY,
		       "no host addresses for bookkeeping");
}

static uint32_t step_of(const struct gm_nodes *nodes)
{
	uint32_t step = nodes->ready / STEP_PART / STEP_NODES * STEP_NODES;

	if (step < STEP_NODES)
		step = STEP_NODES;
	return step < nodes->room - nodes->ready ? step
						 : nodes->room - nodes->ready;
}

static gpumem_status grow(struct gm_nodes *nodes)
{
	uint32_t step;
	gpumem_status status = nodes->room ? GPUMEM_OK : find_room(nodes);

	if (status != GPUMEM_OK)
		return status;
	step = step_of(nodes);
	if (!step)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "all %u nodes of a pool's bookkeeping are in "
			       "use; more blocks need another pool",
			       nodes->room);
	if (mprotect(&nodes->node[nodes->ready], step * sizeof(*nodes->node),
		     PROT_READ | PROT_WRITE))
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for bookkeeping");
	nodes->ready += step;
	nodes->free_count += step;
	if (!nodes->fresh) {
		nodes->fresh = 1;
		nodes->free_count--;
	}
	return GPUMEM_OK;
}

gpumem_status gm_nodes_reserve(struct gm_nodes *nodes, size_t count)
{
	while (nodes->free_count < nodes->promised + count) {
		gpumem_status status = grow(nodes);

		if (status != GPUMEM_OK)
			return status;
	}
	return GPUMEM_OK;
}

typedef uint64_t __attribute__((may_alias)) node_word;

/* A node that was given back may still be looked at, without a lock, by who has
 * an old entry of the map: it sees whole words. */
static void write_node(struct gm_extent *node, const struct gm_extent *value)
{
	for (size_t i = 0; i < sizeof(*node) / sizeof(node_word); i++)
		__atomic_store_n((node_word *)node + i,
				 ((const node_word *)value)[i],
				 __ATOMIC_RELAXED);
}

/* A reserved node with whatever it held. Those that were used before come
 * first: they are memory already. */
static struct gm_extent *take(struct gm_nodes *nodes)
{
	struct gm_extent *extent = gm_node(nodes, nodes->free);

	nodes->free_count--;
	if (!extent)
		return &nodes->node[nodes->fresh++];
	nodes->free = extent->next;
	return extent;
}

struct gm_extent *gm_nodes_take(struct gm_nodes *nodes)
{
	struct gm_extent *extent = take(nodes);

	write_node(extent, &(struct gm_extent){0});
	return extent;
}

void gm_nodes_give(struct gm_nodes *nodes, struct gm_extent *extent)
{
	extent->next = nodes->free;
	nodes->free = gm_node_number(nodes, extent);
	nodes->free_count++;
}

void gm_nodes_fini(struct gm_nodes *nodes)
{
	if (nodes->room) {
		munmap(nodes->node, nodes->room * sizeof(*nodes->node));
		gm_addresses_sub(nodes->room * sizeof(*nodes->node));
	}
	*nodes = (struct gm_nodes){0};
}

struct gm_extent *gm_extent_split(struct gm_nodes *nodes,
				  struct gm_extent *extent, size_t bytes)
{
	struct gm_extent *rest = take(nodes);
	struct gm_extent *next = gm_extent_next(nodes, extent);
	uint32_t number = gm_node_number(nodes, rest);

	write_node(rest, extent);
	rest->address += bytes;
	rest->bytes -= bytes;
	rest->prev = gm_node_number(nodes, extent);
	if (next)
		next->prev = number;
	extent->next = number;
	extent->bytes = bytes;
	return rest;
}

void gm_extent_join(struct gm_nodes *nodes, struct gm_extent *extent)
{
	struct gm_extent *gone = gm_extent_next(nodes, extent);
	struct gm_extent *next = gm_extent_next(nodes, gone);

	extent->bytes += gone->bytes;
	extent->next = gone->next;
	if (next)
		next->prev = gm_node_number(nodes, extent);
	gm_nodes_give(nodes, gone);
}
