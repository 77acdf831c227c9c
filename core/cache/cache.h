/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Slabs and the caches of threads. The contract of the module:
 *
 *     slab.h      runs of memory cut into equal small blocks
 *     metadata.h  host memory for the metadata of slabs
 *     depot.h     cached small blocks of one stream, for all threads
 *     local.h     a thread's cache of one heap and stream: small blocks, and a
 *                 few large ones (cached.h)
 *     hot.h       allocating from it and freeing into it, without a lock
 *
 * It takes memory from the arenas of order/ and gives it back to them. It calls
 * no driver, waits for no event and enforces no limit: blocks that another
 * stream may still use are not cached. Locks: local.h.
 */
#ifndef GM_CACHE_CACHE_H
#define GM_CACHE_CACHE_H

#include "metadata.h"
#include "local.h"
#include "slab.h"

/* Under the heap's mutex but for what is constant. */
struct gm_caches {
	struct gm_local *locals; /* caches of threads */
	struct gm_arena *with_slabs; /* which may have become none: slab.h */
	unsigned group_count;	 /* threads that have one */
	unsigned tagged_count;	 /* of them, that count by tag */
	unsigned local_serial;	 /* caches that were ever made */
	unsigned shard_count;	 /* constant: of each depot */
	bool membarrier;	 /* constant: see local.h */
	bool gated; /* every cache is claimed for good: each call takes the
		       mutex */
	struct gm_metadata metadata; /* of slabs */
};

/* What the caches of a heap that is not stopped are claimed by. */
static inline uint32_t gm_caches_claim(const struct gm_heap *heap)
{
	return (heap->caches->gated ? GM_CLAIMED : 0u) |
	       (heap->record ? GM_CLAIM_RECORDED : 0u);
}

/* Without the mutex. OK or NO_HOST_MEMORY. */
gpumem_status gm_caches_init(struct gm_heap *heap);
/* Without the mutex, after gm_locals_detach(): the slabs are gone. */
void gm_caches_fini(struct gm_heap *heap);
/* Host memory that its bookkeeping takes. */
uint64_t gm_caches_host_bytes(const struct gm_heap *heap);

#endif
