/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Counting what calls of the driver did. All between preload_enter() and
 * preload_leave(), none with the mutex held.
 */
#ifndef GPUMEM_PRELOAD_COUNT_H
#define GPUMEM_PRELOAD_COUNT_H

#include "preload.h"

/* Of NVIDIA's driver and of AMD's runtime; all others are other failures. */
enum { COUNT_SUCCESS = 0, COUNT_NO_MEMORY = 2 };

/* Whose block that is, as its space says. */
enum ledger_api count_api(const struct block *block);

/* Allocated, or failed with that number. A key of 0: nothing was asked for. */
void count_made(int result, const struct block *block);
/* The same of what belongs to a device and no context. */
void count_alloc_on(int result, enum ledger_kind kind, int device,
		    enum block_space space, uint64_t key, uint64_t bytes);

/* Allocated, but nobody knows how much. It is told also of a program that has
 * nothing else. */
void count_untracked(enum ledger_api api);

/* Before a free: the address can be somebody else's when the driver has
 * returned. False: it is not known, and the key of `block` is 0. */
bool count_take(enum block_space space, uint64_t key, struct block *block);
/* After it: not free any more, or counted again. */
void count_free(int result, const struct block *block);

/* A handle is mapped; one mapping or several end. */
void count_map(enum ledger_api api, uint64_t address, uint64_t bytes,
	       uint64_t handle);
void count_unmap(enum ledger_api api, uint64_t address, uint64_t bytes);
/* A handle was asked for again: it has to be released once more. */
void count_retain(enum ledger_api api, uint64_t handle);
/* Before a handle is released: it can be another's when the driver has
 * returned. limit_leave() behind it. */
void count_release(enum ledger_api api, uint64_t handle);

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
/* The same of the pool that serves; `more` may be a negative number. */
void count_unused(struct ledger_device *device, uint64_t more);
/* Behind one that was no more than an allocation's way to the program. */
void count_kept(struct ledger_device *device);
void count_one(_Atomic uint64_t *value);
/* Whether a kind is in the figures of the device. */
bool count_is_on_device(unsigned kind);
/* Whether the ledgers have a row for it. */
bool count_is_device(int device);

/* With the mutex: all that the program had of a context is gone. */
void count_context_gone(struct preload_state *state, const void *context);

#endif
