/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The large blocks in one thread's cache, each to be used again for exactly its
 * size: a few by size, with a bound on their sum; and besides the last huge
 * one, however large. Two would change how blocks lie beside each other, and
 * with it how often pages move. What a block counts for is not known here (see
 * local.h).
 *
 * A huge block is not kept from others: its thread gives it back before it
 * looks for memory of any other size, and other threads take it before they
 * allocate from the driver.
 *
 *     bytes      == sum of set[0 .. GM_CACHED_SETS - 1] <= GM_CACHED_BYTES
 *     huge_bytes == what is in set[GM_CACHED_HUGE]
 *     each is in the set of its size; last == that of last_bytes
 *
 * The caller has locked the cache, or claims it (local.h).
 */
#ifndef GM_CACHE_READY_H
#define GM_CACHE_READY_H

#include "extent/extent.h"

enum {
	GM_CACHED_SETS = 16, /* by size */
	GM_CACHED_WAYS = 4,
	GM_CACHED_BYTES = 32 * 1024 * 1024, /* a larger block is huge */
	GM_CACHED_HUGE = GM_CACHED_SETS	    /* the set of that */
};

struct gm_cached_set {
	uint32_t count;
	struct gm_extent *extent[GM_CACHED_WAYS];
};

struct gm_cached {
	size_t bytes;
	size_t huge_bytes;
	size_t last_bytes; /* what was looked for last, at first 0 */
	unsigned last;	   /* the number of its set */
	struct gm_cached_set set[GM_CACHED_SETS + 1];
};

static inline unsigned gm_cached_set_number(size_t bytes)
{
	uint32_t hash = (uint32_t)(bytes >> 8) * 0x9e3779b1u;

	return bytes > GM_CACHED_BYTES ? GM_CACHED_HUGE : hash >> 28;
}

/* A size that comes again is guessed to: what is then read and written next is
 * at hand before the processor knows the block, which in a pair of a large
 * block saves a third. */
static inline struct gm_cached_set *gm_cached_set_of(struct gm_cached *ready,
						     size_t bytes)
{
	if (__builtin_expect(bytes != ready->last_bytes, false)) {
		ready->last = gm_cached_set_number(bytes);
		ready->last_bytes = bytes;
	}
	return &ready->set[ready->last];
}

/* The sum that a block of so many bytes is part of. */
static inline size_t *gm_cached_sum(struct gm_cached *ready, size_t bytes)
{
	return bytes > GM_CACHED_BYTES ? &ready->huge_bytes : &ready->bytes;
}

static inline bool gm_cached_has_room(struct gm_cached *ready, size_t bytes)
{
	const struct gm_cached_set *set = gm_cached_set_of(ready, bytes);

	if (bytes > GM_CACHED_BYTES)
		return !set->count;
	return set->count < GM_CACHED_WAYS &&
	       ready->bytes + bytes <= GM_CACHED_BYTES;
}

/* There is room. */
static inline void gm_cached_put(struct gm_cached *ready,
				 struct gm_extent *extent)
{
	struct gm_cached_set *set = gm_cached_set_of(ready, extent->bytes);

	set->extent[set->count++] = extent;
	*gm_cached_sum(ready, extent->bytes) += extent->bytes;
}

/* Of the largest that is in it; 0: none is. */
static inline size_t gm_cached_largest_bytes(const struct gm_cached *ready)
{
	size_t largest = 0;

	for (unsigned i = 0; i <= GM_CACHED_HUGE; i++)
		for (uint32_t k = 0; k < ready->set[i].count; k++)
			if (ready->set[i].extent[k]->bytes > largest)
				largest = ready->set[i].extent[k]->bytes;
	return largest;
}

/* One of exactly so many bytes, or NULL. */
static inline struct gm_extent *gm_cached_take(struct gm_cached *ready,
					       size_t bytes)
{
	struct gm_cached_set *set = gm_cached_set_of(ready, bytes);

	for (uint32_t i = set->count; i-- > 0;) {
		struct gm_extent *extent = set->extent[i];

		if (extent->bytes != bytes)
			continue;
		set->extent[i] = set->extent[--set->count];
		*gm_cached_sum(ready, bytes) -= bytes;
		return extent;
	}
	return NULL;
}

#endif
