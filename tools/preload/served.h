/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Stream-ordered allocations, served from a pool of gpumem's, one for each
 * device, under `gpumem-run --adopt`. The library that has the pool is opened
 * when the program first allocates so. The pool gives unused memory back by
 * itself, from a thread of its own, when it was idle for `decay_ms`.
 *
 * What is served is of a device's primary context, and of a pool of the
 * driver's that named.h knows; all else is the driver's. What the pool takes
 * of the driver goes through the wrappers, which count it as kept; a block that
 * is served is the program's, and kept no more:
 *
 *	pages of a device's pool == blocks served + unused
 *	kept of a device == cache.h's blocks + unused
 *
 * All between preload_enter() and preload_leave(), none with the mutex held
 * unless it says so.
 */
#ifndef GPUMEM_PRELOAD_SERVED_H
#define GPUMEM_PRELOAD_SERVED_H

#include "limit.h"
#include "named.h"

#include <gpumem/gpumem.h>

/* X(name): what is called of the library. */
#define SERVED_FUNCTIONS(X)                                                    \
	X(gpumem_alloc)                                                        \
	X(gpumem_device_close)                                                 \
	X(gpumem_device_native)                                                \
	X(gpumem_device_open)                                                  \
	X(gpumem_error_text)                                                   \
	X(gpumem_event_create)                                                 \
	X(gpumem_event_destroy)                                                \
	X(gpumem_event_record)                                                 \
	X(gpumem_free)                                                         \
	X(gpumem_free_after)                                                   \
	X(gpumem_free_own)                                                     \
	X(gpumem_last_error)                                                   \
	X(gpumem_option_get)                                                   \
	X(gpumem_option_set)                                                   \
	X(gpumem_pool_add_peer)                                                \
	X(gpumem_pool_create)                                                  \
	X(gpumem_pool_destroy)                                                 \
	X(gpumem_pool_drop_stream)                                             \
	X(gpumem_pool_trim)

/* Valid between served_begin() and served_end(). */
struct served_library {
#define SERVED_MEMBER(name) __typeof__(name) *(name);
	SERVED_FUNCTIONS(SERVED_MEMBER)
#undef SERVED_MEMBER
};
extern struct served_library served_gpumem;

/* Reads the environment, once, before threads. */
void served_init(void);
/* False: *why_out says why not, and is a constant or the library's. */
bool served_open_library(const char **why_out);

/* Whether new blocks may be served in this process: by --adopt, and until
 * streams begin or end unseen. That there are many is no reason. */
bool served_is_on(void);

/* Calls of the library's for that device follow; waits while one is opened or
 * closed. NULL: it has no pool, and served_end() is not called. */
struct served_device *served_begin(int device);
void served_end(void);
/* The same, and opens the pool if there is none. */
struct served_device *served_begin_open(int device);
/* This thread is between the two. */
bool served_inside(void);
/* The same of a thread that no served_device is needed for. */
void served_enter(void);
void served_leave(void);
/* With the mutex: nobody is inside, and nobody else gets there. */
void served_change_begin(struct preload_state *state);
void served_change_end(struct preload_state *state);

/* With the mutex: the program has it. False: no memory. */
bool served_insert(struct preload_state *state, const struct block *block);
/* With the mutex: the program has it no more. */
void served_forget(struct preload_state *state, const struct block *block);

/* True: the call is answered, by *result_out. False: the driver is to do it.
 * `stream`: the default ones by their numbers, not NULL; `pool` NULL: the
 * device's. */
bool served_alloc(CUdeviceptr *address_out, size_t bytes, CUmemoryPool pool,
		  CUstream stream, CUresult *result_out);
bool served_free(CUdeviceptr address, CUstream stream, CUresult *result_out);
/* By cuMemFree(), which waits. */
bool served_free_now(CUdeviceptr address, CUresult *result_out);
/* Of the block that has that address inside. False: there is none. */
bool served_find(CUdeviceptr address, struct block *block_out);
/* The address is that of memory of the pool itself, without virtual memory,
 * which the program cannot free. `caller`: an address in what calls, which may
 * be the pool's own thread. */
bool served_owns(CUdeviceptr address, const void *caller);

/* What is unused of a device goes back to the driver, but for so many bytes of
 * what is reserved: so much did. 0 in a thread that is inside. */
uint64_t served_trim(int device, uint64_t keep_bytes);
/* A stream is about to be destroyed. */
void served_drop_stream(CUstream stream);
/* `peer` is to reach the device's blocks from now on. */
bool served_add_peer(int device, int peer);
/* Before a primary context ends: with `all` also if the program has blocks. */
void served_close(int device, bool all);

static inline bool served_is_default(CUstream stream)
{
	return stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

/* As the library has it, and the table. */
static inline void *served_stream(CUstream stream)
{
	return stream == CU_STREAM_LEGACY ? NULL : stream;
}

/* In a thread that is inside: the library's own calls of the driver. */
CUresult served_create(CUmemGenericAllocationHandle *handle_out, size_t bytes,
		       const CUmemAllocationProp *prop,
		       unsigned long long flags);
CUresult served_release(CUmemGenericAllocationHandle handle);
CUresult served_take(CUdeviceptr *address_out, size_t bytes,
		     const void *caller);
CUresult served_give(CUdeviceptr address);
/* The limit has refused one of them since this was asked. */
bool served_was_refused(void);

#endif
