/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Nodes, and the two verbs that change the list of extents. */
#include "extent.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_NODES = 512 };

struct gm_node_chunk {
	struct gm_node_chunk *next;
	struct gm_extent node[CHUNK_NODES];
};

static gpumem_status grow(struct gm_nodes *nodes)
{
	struct gm_node_chunk *chunk = malloc(sizeof(*chunk));

	if (!chunk)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for bookkeeping");
	chunk->next = nodes->chunks;
	nodes->chunks = chunk;
	nodes->bytes += sizeof(*chunk);
	for (size_t i = 0; i < CHUNK_NODES; i++)
		gm_nodes_give(nodes, &chunk->node[i]);
	return GPUMEM_OK;
}

gpumem_status gm_nodes_reserve(struct gm_nodes *nodes, size_t count)
{
	while (nodes->free_count < count) {
		gpumem_status status = grow(nodes);

		if (status)
			return status;
	}
	return GPUMEM_OK;
}

struct gm_extent *gm_nodes_take(struct gm_nodes *nodes)
{
	struct gm_extent *extent = nodes->free;

	nodes->free = extent->next;
	nodes->free_count--;
	memset(extent, 0, sizeof(*extent));
	return extent;
}

void gm_nodes_give(struct gm_nodes *nodes, struct gm_extent *extent)
{
	extent->next = nodes->free;
	nodes->free = extent;
	nodes->free_count++;
}

void gm_nodes_fini(struct gm_nodes *nodes)
{
	while (nodes->chunks) {
		struct gm_node_chunk *next = nodes->chunks->next;

		free(nodes->chunks);
		nodes->chunks = next;
	}
	*nodes = (struct gm_nodes){0};
}

struct gm_extent *gm_extent_split(struct gm_nodes *nodes,
				  struct gm_extent *extent, size_t bytes)
{
	struct gm_extent *rest = gm_nodes_take(nodes);

	*rest = *extent;
	rest->address += bytes;
	rest->bytes -= bytes;
	rest->prev = extent;
	if (rest->next)
		rest->next->prev = rest;
	extent->next = rest;
	extent->bytes = bytes;
	return rest;
}

void gm_extent_join(struct gm_nodes *nodes, struct gm_extent *extent)
{
	struct gm_extent *gone = extent->next;

	extent->bytes += gone->bytes;
	extent->next = gone->next;
	if (extent->next)
		extent->next->prev = extent;
	gm_nodes_give(nodes, gone);
}
