/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Sleep and wake: the memory of live blocks goes back to the driver while they
 * keep their addresses, and what they hold is kept on the host. The contract of
 * the module; how pages go and come is pages/away.h.
 *
 *     plan.c    which handles go
 *     mark.c    what has to be copied, and what it makes of pages and extents
 *     streams.c waits for the work of streams that use what goes
 *     store.c   where the content is: a store for each sleep
 *     move.c    the threads that copy, down and up
 *     pieces.c  what one of them copies of a chunk
 *     queue.c   the streams of these threads
 *     chunks.c  the host's memory, and what is retained of it
 *     host_limit.c how much of it a sleep asks for
 *     memory.c  how a chunk of it is made, and pinned
 *     sleep.c   stop, plan, copy, unmap
 *     regain.c  a wake's memory: all of it or none
 *     wake.c    take, map, copy
 *
 * One sleep or wake of a heap at a time (away.busy). No lock is held while
 * anything is copied, waited for, created or mapped; the heap's mutex is while
 * pages are unmapped and go back. Nothing is unmapped before all has been
 * copied, and a store ends only when no page of it is away.
 */
#ifndef GM_SLEEP_SLEEP_H
#define GM_SLEEP_SLEEP_H

#include "heap/heap.h"

/* Both without the mutex. As gpumem_pool_sleep(); options and *done are
 * complete. */
gpumem_status gm_heap_sleep(struct gm_heap *heap,
			    const struct gpumem_sleep_options *options,
			    struct gpumem_slept *done);
/* As gpumem_pool_wake(). *need_bytes_out: of a LIMIT or NO_MEMORY, how much the
 * driver had to give; *device_limit_out: its limit was the device's. */
gpumem_status gm_heap_wake(struct gm_heap *heap, uint32_t tag,
			   struct gpumem_slept *done, uint64_t *need_bytes_out,
			   bool *device_limit_out);
/* Host memory that its sleeps hold, or retain. With the heap's mutex. */
uint64_t gm_sleep_host_bytes(const struct gm_heap *heap);
/* The heap ends: so do its stores. */
void gm_sleep_end(struct gm_heap *heap);

#endif
