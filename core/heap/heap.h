/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A heap: one pool's memory, put together of the modules below. It knows how to
 * find, cut, merge, map and give back; when to do which is the business of the
 * pool above it.
 *
 * The heap's mutex guards it; its functions want it held unless they say
 * otherwise.
 */
#ifndef GM_HEAP_HEAP_H
#define GM_HEAP_HEAP_H

#include "decay.h"
#include "cache/cache.h"
#include "order/order.h"
#include "vm/space.h"

struct gm_heap_config {
	uint64_t limit_bytes, soft_limit_bytes, page_bytes;
	gpumem_kind kind;
	void *const *peers; /* kept: see struct gm_driver */
	size_t peer_count;
	uint32_t share; /* gpumem_share */
};

/* Without the mutex. OK, NO_HOST_MEMORY, or what the driver said. */
gpumem_status gm_heap_init(struct gm_heap *heap, struct gpumem_device *device,
			   const struct gm_heap_config *config);
/* Without the mutex; no other thread uses the heap. Live blocks are given back
 * too. OK, or the first thing the driver said against it. */
gpumem_status gm_heap_fini(struct gm_heap *heap);

/* `heir` takes over what is settled of all other arenas' free extents. Those of
 * dropped streams, once settled, leave all they have, and are no more. */
void gm_heap_adopt(struct gm_heap *heap, struct gm_arena *heir);
/* gm_arena_drop() and gm_arena_publish(), with the arena's slabs. */
gpumem_status gm_heap_drop(struct gm_arena *arena);
gpumem_status gm_heap_publish(struct gm_arena *arena, gpumem_stream stream);

/* Host memory that the heap's bookkeeping takes. */
uint64_t gm_heap_host_bytes(const struct gm_heap *heap);

/* Walks everything; OK, or CORRUPT with what does not hold. The caches of other
 * threads are stopped (gm_locals_stop) by the caller. */
gpumem_status gm_heap_check(struct gm_heap *heap);

#endif
