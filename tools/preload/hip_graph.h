/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory of graphs of AMD's runtime, see hip_graph.c. What a captured stream
 * allocates is a node of a graph; the address of a node may be freed by the
 * functions that free other memory, once for each time that its graph runs.
 *
 * All between hip_enter() and preload_leave(), none with the mutex held.
 */
#ifndef GPUMEM_PRELOAD_HIP_GRAPH_H
#define GPUMEM_PRELOAD_HIP_GRAPH_H

#include "hip_current.h"

/* hipStreamLegacy of newer headers: what NULL means, too. */
#define HIP_LEGACY ((hipStream_t)1)

/* Before the program's call: what is allocated in that stream becomes a node.
 */
bool hip_graph_captures(hipStream_t stream);
/* It became one. */
void hip_graph_captured(hipError_t result, void *const *address);
/* The address is a node's, and its free is not counted. */
bool hip_graph_has(const void *address);

/* Before a call of the program's that allocates or asks what is free: the
 * runtime is asked, if graphs may have other than it said last. */
void hip_graph_refresh(void);
/* Behind one that may have changed it and, in a release before 7, has left
 * hipSuccess as the last error if it succeeded. */
void hip_graph_changed(hipError_t result);
/* Behind one that leaves the last error as it was: the runtime is asked later.
 */
void hip_graph_changed_quietly(void);

/* HIP_FREE() of an address that may be a node's; then `changed` is behind it.
 */
#define HIP_FREE_ANY(name, changed, address, free_stream, ...)                 \
	do {                                                                   \
		struct block block;                                            \
		hipError_t result;                                             \
                                                                               \
		if (!(address) || !hip_enter())                                \
			return REAL(name)(__VA_ARGS__);                        \
		if (hip_graph_has(address)) {                                  \
			result = REAL(name)(__VA_ARGS__);                      \
			changed;                                               \
		} else {                                                       \
			count_take(BLOCK_HIP_ADDRESS, (uintptr_t)(address),    \
				   &block);                                    \
			block.stream = free_stream;                            \
			result = REAL(name)(__VA_ARGS__);                      \
			count_free((int)result, &block);                       \
		}                                                              \
		preload_leave();                                               \
		return result;                                                 \
	} while (0)

#endif
