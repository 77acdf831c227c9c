/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Counting and limiting calls of AMD's runtime, which are about the current
 * device, or name one. Nothing is kept of what a program frees.
 *
 * The runtime keeps for each thread how the last call ended, and before ROCm 7
 * each call that succeeds overwrites it: so nothing of the runtime is called
 * behind a call of the program's, only before it; of graphs hip_graph.c says
 * when it is.
 */
#ifndef GPUMEM_PRELOAD_HIP_CURRENT_H
#define GPUMEM_PRELOAD_HIP_CURRENT_H

#include "hip_hooks.h"
#include "limit.h"

static inline bool hip_enter(void)
{
	return preload_enter_api(LEDGER_HIP);
}

/* All others between hip_enter() and preload_leave(). */

/* -1: there is none, or no ledger has a row for it. */
int hip_device(void);

struct hip_alloc {
	enum ledger_kind kind;
	uint64_t bytes;
	const void *stream;
	int device;
};

/* Before the runtime allocates on the current device. False: the limit refuses
 * it, and the answer is hipErrorOutOfMemory. `out` is where the program wants
 * the address. */
bool hip_alloc_begin(struct hip_alloc *alloc, const void *out);
/* The same of a device that is named. */
bool hip_alloc_begin_on(struct hip_alloc *alloc, const void *out, int device);
/* It was allocated there, or that failed. NULL: nothing was asked for. */
void hip_alloc_end(const struct hip_alloc *alloc, hipError_t result,
		   const void *address);

/* All that the program had of a device is gone. */
void hip_device_gone(int device);

/* All of a wrapper whose parameters are `...` and which leaves an address in
 * `out`. */
#define HIP_ALLOC(name, out, alloc_kind, alloc_bytes, alloc_stream, ...)       \
	do {                                                                   \
		struct hip_alloc alloc = {.kind = alloc_kind,                  \
					  .bytes = alloc_bytes,                \
					  .stream = alloc_stream};             \
		hipError_t result = hipErrorOutOfMemory;                       \
                                                                               \
		if (!hip_enter())                                              \
			return REAL(name)(__VA_ARGS__);                        \
		if (hip_alloc_begin(&alloc, out)) {                            \
			result = REAL(name)(__VA_ARGS__);                      \
			hip_alloc_end(&alloc, result,                          \
				      result == hipSuccess ? *(out) : NULL);   \
		}                                                              \
		preload_leave();                                               \
		return result;                                                 \
	} while (0)

/* The same of one that ends what is at `address`. */
#define HIP_FREE(name, space, address, free_stream, ...)                       \
	do {                                                                   \
		struct block block;                                            \
		hipError_t result;                                             \
                                                                               \
		if (!(address) || !hip_enter())                                \
			return REAL(name)(__VA_ARGS__);                        \
		count_take(space, (uintptr_t)(address), &block);               \
		block.stream = free_stream;                                    \
		result = REAL(name)(__VA_ARGS__);                              \
		count_free((int)result, &block);                               \
		preload_leave();                                               \
		return result;                                                 \
	} while (0)

#endif
