/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Graphs of the double of NVIDIA's driver, and what allocates in them.
 */
#ifndef GPUMEM_TESTS_CUDA_GRAPH_H
#define GPUMEM_TESTS_CUDA_GRAPH_H

#include "cuda_fake.h"

/* One that allocates. */
struct fake_node {
	struct fake_node *next;
	const void *owner; /* its graph or capture; NULL: it is gone */
	uint64_t address, bytes;
	void *map; /* of a granule more than that */
	int device;
	bool freed; /* by its graph */
	bool live;  /* it ran, and nobody has freed that yet */
};

struct fake_graph {
	struct fake_object object;
	unsigned refs; /* its handle, and what can be launched of it */
};

/* NULL: no memory. */
struct fake_node *fake_node_new(int device, uint64_t bytes);
/* The next of an owner; NULL: the first, and there are no more. */
struct fake_node *fake_node_next(const struct fake_node *node,
				 const void *owner);
struct fake_node *fake_node_at(uint64_t address, const void *owner);
/* They go with their owner, or when they are freed. */
void fake_nodes_disown(const void *owner);
/* Frees one that ran. False: there is none. */
bool fake_node_free(uint64_t address);
uint64_t fake_nodes_live(int device);
/* With the nodes of a capture. NULL: no memory. */
struct fake_graph *fake_graph_new(const void *owner);
void fake_graph_put(struct fake_graph *graph);

#endif
