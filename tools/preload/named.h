/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The driver's stream-ordered pools that the program names: what each has of
 * the blocks that are served, so that the driver's answers about a pool include
 * them. The driver keeps all else that is set there. A pool of another kind of
 * memory than a device's, or for other processes, is one that is passed on.
 *
 * All between preload_enter() and preload_leave().
 */
#ifndef GPUMEM_PRELOAD_NAMED_H
#define GPUMEM_PRELOAD_NAMED_H

#include "cuda_hooks.h"

/* The program has made it. */
void named_add(CUmemoryPool pool, const CUmemPoolProps *props);
/* With the mutex; a device's default one is always known. NULL: it is not. */
struct named_pool *named_find(struct preload_state *state, CUmemoryPool pool);
/* Its device; -1: it is not known, or passed on. */
int named_device(CUmemoryPool pool);
/* With the mutex. NULL also: it is not of that device, or the driver is to
 * serve it. */
struct named_pool *named_on(struct preload_state *state, CUmemoryPool pool,
			    int device);
/* With the mutex: of a block's link, and the reverse. */
struct named_pool *named_by(struct preload_state *state, uint64_t link);
uint64_t named_link(const struct preload_state *state,
		    const struct named_pool *name);
/* With the mutex: so many bytes are about to be the program's. False: the pool
 * may not have so much. Once they are, or will not be, that is settled. */
bool named_promise(struct named_pool *name, uint64_t bytes);
void named_settle(struct named_pool *name, uint64_t bytes);
/* With the mutex: the program has some of it, or is about to. */
bool named_in_use(const struct named_pool *name);
/* With the mutex: so many bytes more, or fewer, are the program's. */
void named_take(struct preload_state *state, struct named_pool *name,
		uint64_t bytes);
void named_give(struct named_pool *name, uint64_t bytes);
/* With the mutex: what the driver has reserved for it here, at most. */
uint64_t named_reserved(const struct preload_state *state,
			const struct named_pool *name);
/* With the mutex: the highest begin anew; it is destroyed, and what lives of it
 * goes on. */
void named_reset(struct preload_state *state, struct named_pool *name,
		 bool reserved);
void named_end(struct named_pool *name);

#endif
