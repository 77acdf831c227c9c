/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the pool keeps: in the cache, in the table of blocks by address, and in
 * the ledger, always in all three. All with the mutex.
 */
#ifndef GPUMEM_PRELOAD_STORE_H
#define GPUMEM_PRELOAD_STORE_H

#include "pool.h"

/* False: no memory. A block that was just taken can be added. */
bool store_add(struct preload_state *state, const struct cached *block);
/* As those of cache.h. Nothing is given back while a context ends. */
bool store_take(struct preload_state *state, const void *context, int device,
		uint64_t bytes, uint64_t most, uint64_t done,
		struct cached *block_out);
bool store_take_oldest(struct preload_state *state, int device,
		       struct cached *block_out);
/* All that is kept of a context. */
void store_drop(struct preload_state *state, const void *context);
/* When the oldest was freed. False: there is none. */
bool store_oldest(const struct preload_state *state, int device,
		  uint64_t *stamp_out);

/* In pool.c. Gives the block back that was freed first: so many bytes, 0 if
 * there is none. Releases the mutex while the driver frees. */
uint64_t pool_return_oldest(struct preload_state *state, int device);

#endif
