/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Counting what calls of the driver did. All between preload_enter() and
 * preload_leave(), none with the mutex held.
 */
#ifndef GPUMEM_PRELOAD_COUNT_H
#define GPUMEM_PRELOAD_COUNT_H

#include "cuda_hooks.h"
#include "preload.h"

/* Allocated in the current context, or failed. `stream`: of the call, NULL for
 * the legacy one and for calls that have none. */
void count_alloc(CUresult result, enum block_space space, enum ledger_kind kind,
		 uint64_t key, uint64_t bytes, const void *stream);
/* The same on that device, in no context. */
void count_alloc_on(CUresult result, enum ledger_kind kind, int device,
		    enum block_space space, uint64_t key, uint64_t bytes);

/* Before a free: the address can be somebody else's when the driver has
 * returned. False: it is not known, and `block` is empty. */
bool count_take(enum block_space space, uint64_t key, struct block *block);
/* After it: not free any more, or counted again. */
void count_free(CUresult result, const struct block *block);

/* A handle is mapped; one mapping or several end. */
void count_map(uint64_t address, uint64_t bytes, uint64_t handle);
void count_unmap(uint64_t address, uint64_t bytes);
/* Before a handle is released: it can be another's when the driver has
 * returned. limit_leave() behind it. */
void count_release(uint64_t handle);

/* With the mutex: a block is the program's now; is so no more. False: it could
 * not be followed. */
bool count_insert(struct preload_state *state, const struct block *block);
void count_remove(struct preload_state *state, const struct block *block);
/* With the mutex: the limit has refused a call. */
void count_refused(struct preload_state *state, struct ledger *ledger,
		   const struct block *block);
/* With the mutex: what is kept of the device changes. */
void count_cached(struct ledger_device *device, uint64_t bytes);
void count_uncached(struct ledger_device *device, uint64_t bytes);
void count_one(_Atomic uint64_t *value);
/* Whether a kind is in the figures of the device. */
bool count_is_on_device(unsigned kind);

/* The current context and its device. False: there is none. */
bool count_where(const void **context_out, int *device_out);

/* With the mutex: all that the program had of a context is gone. */
void count_context_gone(struct preload_state *state, const void *context);

#endif
