/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Graphs and captured streams of the runtime hip_below, for its other files.
 */
#ifndef GPUMEM_TESTS_RUN_HIP_BELOW_GRAPH_H
#define GPUMEM_TESTS_RUN_HIP_BELOW_GRAPH_H

#include "hip_below.h"
#include "hip_nodes.h"

struct graph {
	int device;
};

struct graph *new_graph(int device);
int add_node(struct graph *graph, size_t bytes, void **out);
int add_free(struct graph *graph, void *address);
/* INVALID: it is no node's, or has no memory. */
int free_node(void *address);
/* What graphs have of a device. */
size_t reserved(int device);
/* All that graphs have of a device is gone. */
void end_graphs(int device);

/* The graph that a stream is captured into; NULL: none. */
struct graph *capture_of(void *stream);

#endif
