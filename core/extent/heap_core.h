/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the modules of a heap have in common: one pool's memory, its driver, its
 * counters, and its addresses. What only one module knows is in a struct of
 * that module, which the others do not look into:
 *
 *     order   whose free memory is whose, and when a stream is done with it
 *     space   (vm) memory from the driver and back, and how much of it
 *     caches  (cache) slabs, and what threads keep ready
 *     policy  (heap) what is tried in which order, and what goes back by itself
 *
 * `mutex` guards everything but what says otherwise; the functions of these
 * modules want it held unless they say otherwise.
 */
#ifndef GM_EXTENT_HEAP_CORE_H
#define GM_EXTENT_HEAP_CORE_H

#include "books.h"
#include "extent.h"
#include "size_class.h"
#include "span.h"
#include "device/driver.h"

#include <pthread.h>

struct gm_caches;
struct gm_order;
struct gm_policy;
struct gm_space;

struct gm_heap {
	struct gm_driver driver;
	pthread_mutex_t mutex;
	struct gm_classes classes; /* constant */
	size_t unit;		   /* constant: alignment of every block */
	size_t page_bytes;	   /* constant: of VM pages */
	bool vm;		   /* constant */
	gpumem_share share;	   /* constant: NONE, FD (with VM) or IPC */
	uint64_t capacity_bytes;   /* constant: there cannot be more */
	uint64_t max_alloc_bytes;  /* constant: of one raw allocation */

	struct gm_books books;
	struct gm_nodes nodes;
	struct gm_spans spans;
	uint64_t ticket; /* of the newest free of all arenas */

	struct gm_order *order;
	struct gm_space *space;
	struct gm_caches *caches;
	struct gm_policy *policy;
};

/* All extents, span by span in address order. */
static inline struct gm_extent *gm_heap_first(const struct gm_heap *heap)
{
	return gm_spans_first(&heap->spans);
}

static inline struct gm_extent *gm_heap_next(const struct gm_heap *heap,
					     const struct gm_extent *extent)
{
	return gm_spans_next(&heap->spans, &heap->nodes, extent);
}

#endif
