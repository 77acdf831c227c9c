/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Counting and limiting calls of NVIDIA's driver, which are about the current
 * context, or name a device. All between preload_enter() and preload_leave(),
 * none with the mutex held.
 */
#ifndef GPUMEM_PRELOAD_CUDA_CURRENT_H
#define GPUMEM_PRELOAD_CUDA_CURRENT_H

#include "cuda_hooks.h"
#include "limit.h"

/* The current context and its device. False: there is none. */
bool count_where(const void **context_out, int *device_out);

/* count_made() in the current context. `stream`: of the call, NULL for the
 * legacy one and for calls that have none. */
void count_alloc(CUresult result, enum block_space space, enum ledger_kind kind,
		 uint64_t key, uint64_t bytes, const void *stream);

/* limit_ask() in the current context; on that device. False: the answer is
 * CUDA_ERROR_OUT_OF_MEMORY. */
bool limit_begin(const void *out, enum ledger_kind kind, uint64_t bytes);
bool limit_begin_on(const void *out, enum ledger_kind kind, int device,
		    uint64_t bytes);

/* The same for the pool that serves, whose refusals are not the program's. */
bool limit_begin_pooled(const void *out, int device, uint64_t bytes);

/* limit_left() of the current device. */
uint64_t limit_free(uint64_t free_bytes);

#endif
