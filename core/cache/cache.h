/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Caches: small blocks, and what threads keep ready. The contract of the
 * module, for those above it:
 *
 *     slab.h   runs of memory cut into equal small blocks
 *     depot.h  ready small blocks of one stream, handed from thread to thread
 *     local.h  a thread's cache of one heap and stream, small blocks and large
 *     hot.h    the way in and out of it that takes no lock
 *
 * It takes memory from the arenas of order/ and gives it back to them. It calls
 * no driver.
 */
#ifndef GM_CACHE_CACHE_H
#define GM_CACHE_CACHE_H

#include "heads.h"
#include "local.h"
#include "slab.h"

/* Under the heap's mutex but for what is constant. */
struct gm_caches {
	struct gm_local *locals; /* caches of threads */
	unsigned group_count;	 /* of how many threads they are */
	unsigned local_serial;	 /* how many there ever were */
	unsigned shard_count;	 /* constant: of each depot */
	bool membarrier;	 /* constant: see local.h */
	struct gm_heads heads;	 /* of slabs */
};

/* Without the mutex. OK or NO_HOST_MEMORY. */
gpumem_status gm_caches_init(struct gm_heap *heap);
/* Without the mutex, after gm_locals_detach(): the slabs are gone. */
void gm_caches_fini(struct gm_heap *heap);
/* Host memory that its bookkeeping takes. */
uint64_t gm_caches_host_bytes(const struct gm_heap *heap);

#endif
