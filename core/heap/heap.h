/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A heap: one pool's memory and all its parts. It knows how to find, cut,
 * merge, map and give back; when to do which is the business of the pool above
 * it.
 *
 * `mutex` guards everything here but what says otherwise; the functions of the
 * heap's rooms want it held unless they say otherwise.
 */
#ifndef GM_HEAP_HEAP_H
#define GM_HEAP_HEAP_H

#include "arena.h"
#include "books.h"
#include "decay.h"
#include "heads.h"
#include "pending.h"
#include "size_class.h"
#include "space.h"
#include "uses.h"
#include "device/driver.h"

#include <pthread.h>

struct gm_local;

struct gm_heap {
	struct gm_driver driver;
	pthread_mutex_t mutex;
	struct gm_classes classes; /* constant */
	size_t unit;		   /* constant: alignment of every block */
	size_t page_bytes;	   /* constant: of VM pages */
	size_t handle_pages;	   /* constant: of the largest handle, or 1 */
	bool vm;		   /* constant */
	gpumem_share share;	   /* constant: NONE, FD (with VM) or IPC */
	bool membarrier;	   /* constant: see local.h */
	uint64_t capacity_bytes;   /* constant: there cannot be more */
	uint64_t max_alloc_bytes;  /* constant: of one raw allocation */
	double waste, waste_max;   /* constant: fractions of highest_active */
	uint64_t limit_bytes, soft_limit_bytes;
	bool beyond_soft; /* the soft limit is no limit for this attempt */
	bool grown;	  /* this attempt called the driver for memory */

	struct gm_books books;
	struct gm_decay decay;
	struct gm_nodes nodes;
	struct gm_arena *arenas;
	struct gm_arena *private_arenas; /* of graphs: see arena.h */
	uint64_t ticket;		 /* of the newest free of all arenas */
	uint64_t toll_handles;		 /* moved, since a trim: see budget.c */
	uint64_t returned_bytes; /* all that ever went back to the driver */
	struct gm_space space;
	struct gm_pending pending;
	struct gm_uses uses;
	struct gm_events events;
	struct gm_local *locals; /* caches of threads */
	unsigned group_count;	 /* of how many threads they are */
	unsigned local_serial;	 /* how many there ever were */
	unsigned shard_count;	 /* of each depot */
	struct gm_heads heads;	 /* of slabs */
};

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

/* All extents, span by span in address order. */
struct gm_extent *gm_heap_first(const struct gm_heap *heap);
struct gm_extent *gm_heap_next(const struct gm_heap *heap,
			       const struct gm_extent *extent);

/* True while `stream` is being captured: leave it alone. */
bool gm_heap_capturing(struct gm_heap *heap, gpumem_stream stream);
/* True while any stream that the heap knows is. */
bool gm_heap_any_capturing(struct gm_heap *heap);

/* The writers of `reserved`; of device memory the device's sum follows. */
void gm_heap_reserve(struct gm_heap *heap, uint64_t bytes, uint64_t segments);
void gm_heap_unreserve(struct gm_heap *heap, uint64_t bytes, uint64_t segments);

/* OK when a pool can work with these limits, else INVALID: the hard one is less
 * than the driver has to give for one block, or than the soft one. */
gpumem_status gm_heap_limits_judge(const struct gm_heap *heap,
				   uint64_t soft_bytes, uint64_t limit_bytes);

/* How much the driver has to give for a request: whole pages, or a segment. */
uint64_t gm_heap_need(const struct gm_heap *heap, uint64_t bytes);

/* How much more may be reserved; OK when so much may, or LIMIT with a sentence.
 */
uint64_t gm_heap_limit_room(const struct gm_heap *heap);
gpumem_status gm_heap_limit_check(const struct gm_heap *heap, uint64_t bytes);

/* What may be reserved before memory is moved rather than taken, if `bytes`
 * more become active. */
uint64_t gm_heap_target(const struct gm_heap *heap, uint64_t bytes);

/* May so much more be reserved whatever the waste? */
bool gm_heap_has_slack(const struct gm_heap *heap, uint64_t bytes);

/* How many pages the largest of the new handles covers where so many pages are
 * to be mapped. */
size_t gm_heap_handle_pages(const struct gm_heap *heap, size_t pages);

/* Host memory that the heap's bookkeeping takes. */
uint64_t gm_heap_host_bytes(const struct gm_heap *heap);

/* Walks everything; OK, or CORRUPT with what does not hold. The caches of other
 * threads are stopped (gm_locals_stop) by the caller. */
gpumem_status gm_heap_check(struct gm_heap *heap);

#endif
