/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Nodes of graphs that allocate, and what graphs have of a device, of NVIDIA's
 * driver and of AMD's runtime. Not when either is asked for it. What graphs
 * have is one block for each device, which is replaced when its size changes.
 *
 * All between preload_enter_api() and preload_leave().
 */
#ifndef GPUMEM_PRELOAD_NODES_H
#define GPUMEM_PRELOAD_NODES_H

#include "count.h"

/* A node has that address; without the mutex. */
void nodes_add(enum ledger_api api, uint64_t address);
/* The address is a node's, and its free is not counted; without the mutex. */
bool nodes_has(enum ledger_api api, uint64_t address);
/* With the mutex: so much the graphs have of a device. False: as before. */
bool nodes_reserved(struct preload_state *state, enum ledger_api api,
		    int device, uint64_t bytes);
/* A call found no memory for them; without the mutex. */
void nodes_failed(enum ledger_api api, int device);

#endif
