/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The pool: blocks of cuMemAlloc() that the program freed are kept, whole, and
 * are what its next allocations get. Nobody waits: a block is handed out when
 * the epoch of its free is over, see epoch.h. After each free, and unless the
 * driver is short of memory, of each device
 *
 *	reserved_bytes <= peak_bytes * 33 / 32 + 32 MiB
 *
 * with the figures of its ledger. What is more goes back to the driver in
 * cuMemFree(), which waits there as it does without a pool. Memory that others
 * could know by its address is never kept.
 *
 * All between preload_enter() and preload_leave(), none with the mutex held.
 */
#ifndef GPUMEM_PRELOAD_POOL_H
#define GPUMEM_PRELOAD_POOL_H

#include "cuda_current.h"

/* preload_enter(), or false where nothing is kept. */
static inline bool pool_enter(void)
{
	return preload_pooling() && preload_enter();
}

/* False: the driver is to allocate. */
bool pool_alloc(CUdeviceptr *address_out, size_t bytes);
/* The driver has allocated instead. */
void pool_missed(void);
/* False: the driver is to free. True: that is what it would have answered. */
bool pool_free(CUdeviceptr address, CUresult *result_out);

/* Gives all of a device back to the driver: so many bytes. */
uint64_t pool_empty(int device);
/* The same but for what the pool that serves has unused. */
uint64_t pool_return_all(int device);
/* All of the current device, if a call of the driver found no memory. */
bool pool_relieve(CUresult result);
/* What is kept of the current device. */
uint64_t pool_kept(void);

/* Of all devices, for anybody: any thread, with a context or none, and not
 * between preload_enter() and preload_leave(). */
extern __attribute__((visibility("default"))) uint64_t gpumem_run_trim(void);

/* Its address is known to others than the program. False: it was freed. */
bool pool_expose(CUdeviceptr address);

/* Around what destroys a context. */
void pool_context_ending(const void *context);
void pool_context_ended(const void *context, bool gone);
/* Never gives back what is kept of it. */
void pool_forget(const void *context);

#endif
