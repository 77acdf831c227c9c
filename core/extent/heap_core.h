/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the modules of a heap have in common: one pool's memory, its driver, its
 * counters, and its addresses. What only one module knows is in a struct of
 * that module, which the others do not look into:
 *
 *     order   which stream free memory belongs to, and what waits for an event
 *     space   takes memory from the driver, as pages or segments, within limits
 *     caches  (cache) slabs and the caches of threads
 *     policy  (heap) what is tried in which order, when idle memory goes back
 *     sleep   where the content of blocks is whose memory was given away
 *
 * This module has the data that they share: extents and their index (extent.h,
 * index.h), spans (span.h), size classes (size_class.h), counters (counters.h,
 * by tag tags.h), and the map from addresses to blocks (map.h). It calls no
 * driver, waits for nothing, and has no policy.
 *
 * `mutex` guards everything but what says otherwise; the functions of these
 * modules are called with it held unless they say otherwise.
 */
#ifndef GM_EXTENT_HEAP_CORE_H
#define GM_EXTENT_HEAP_CORE_H

#include "counters.h"
#include "extent.h"
#include "size_class.h"
#include "span.h"
#include "tags.h"
#include "device/driver.h"
#include "record/record.h"

#include <pthread.h>

struct gm_caches;
struct gm_order;
struct gm_policy;
struct gm_sleep;
struct gm_space;

struct gm_heap {
	struct gm_driver driver;
	pthread_mutex_t mutex;
	struct gm_classes classes; /* constant */
	size_t unit;		   /* constant: alignment of every block */
	size_t page_bytes;	   /* constant: what memory is measured in */
	gpumem_share share;	   /* constant: NONE, FD (with VM) or IPC */
	uint64_t capacity_bytes;   /* constant: total of this kind of memory,
				      or the device's limit, if that is less */
	uint64_t max_alloc_bytes;  /* constant: of one raw allocation */

	struct gm_counters counters;
	struct gm_tags *tags; /* NULL: no block ever had one */
	struct gm_nodes nodes;
	struct gm_spans spans;
	uint64_t seqno; /* of the newest free of all arenas */
	/* Its number in the recording; 0: it is not recorded. Changes while all
	 * caches are stopped. */
	uint16_t record;
	bool exported; /* descriptors of pages were given to the program */

	struct gm_order *order;
	struct gm_space *space;
	struct gm_caches *caches;
	struct gm_policy *policy;
	struct gm_sleep *sleep; /* NULL: it never slept */
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
