/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory of graphs, see cuda_graph.c. What a captured stream allocates is a
 * node of a graph and no memory yet; the address of a node may be freed by the
 * functions that free other memory, once for each time that its graph runs.
 *
 * All between preload_enter() and preload_leave(), none with the mutex held.
 */
#ifndef GPUMEM_PRELOAD_CUDA_GRAPH_H
#define GPUMEM_PRELOAD_CUDA_GRAPH_H

#include "pool.h"

/* What is allocated in that stream becomes a node. Any handle but NULL. */
bool graph_captures(CUstream stream);
/* It became one, of the current device. 0: nothing did. */
void graph_captured(CUresult result, CUdeviceptr address);
/* The address is a node's, and its free is not counted. */
bool graph_has(CUdeviceptr address);

#endif
