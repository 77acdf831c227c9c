/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Small sizes: bytes to class, class to bytes, and how large a run of memory a
 * class is cut from. Pure arithmetic, no state but the table made once per
 * heap, read by anyone.
 *
 * With u the unit (the device's alignment, at least 256 bytes) the classes are
 *
 *     u, 2u, 3u, 4u,  5u, 6u, 7u, 8u,  10u, 12u, 14u, 16u,  20u, ...
 *
 * four per doubling up to GM_SMALL_MAX, so that rounding wastes less than a
 * fifth of a block of more than 4u. (The spacing is that of jemalloc's
 * classes.) Every class is a multiple of u, and the one of a power of two is
 * that power. Larger classes than these would waste more than they save: few
 * blocks are live of each, and how many goes up and down by more than the
 * rounding.
 */
#ifndef GM_EXTENT_SIZE_CLASS_H
#define GM_EXTENT_SIZE_CLASS_H

#include <stddef.h>
#include <stdint.h>

enum {
	GM_UNIT_MIN = 256,
	GM_SMALL_MAX = 16 * 1024,
	GM_CLASS_COUNT = 20,	 /* with the smallest unit */
	GM_RUN_UNIT = 16 * 1024, /* runs are multiples of, and aligned to it */
	GM_RUN_MAX = 256 * 1024,
	GM_SLOTS_MAX = 256, /* in one run */
	GM_BIN_SLOTS = 64,  /* of one class, in the cache of a thread */
	GM_LINE = 64	    /* bytes that processors share or do not */
};

struct gm_class {
	uint32_t bytes;
	uint32_t slots; /* in a run */
	uint32_t run_bytes;
	uint32_t keep;	  /* slots that a thread caches at most */
	uint32_t spread;  /* marks are 1 << spread apart: slab.h */
	uint32_t marks;	  /* slots << spread */
	uint64_t inverse; /* see gm_class_slot() */
};

struct gm_classes {
	unsigned shift; /* the unit is 1 << shift */
	unsigned count;
	uint8_t index[GM_SMALL_MAX / GM_UNIT_MIN]; /* class by units - 1 */
	struct gm_class of[GM_CLASS_COUNT];
};

/* unit: a power of two, GM_UNIT_MIN to GM_SMALL_MAX. cache_bytes: what a thread
 * keeps of one class, within 2 and GM_BIN_SLOTS slots. */
void gm_classes_init(struct gm_classes *classes, uint32_t unit,
		     uint64_t cache_bytes);

/* 0 < bytes <= GM_SMALL_MAX. */
static inline unsigned gm_class_of(const struct gm_classes *classes,
				   size_t bytes)
{
	return classes->index[(bytes - 1) >> classes->shift];
}

/* The smallest class of at least `bytes` whose slots are all aligned to
 * `alignment`, a power of two <= GM_SMALL_MAX. */
unsigned gm_class_aligned(const struct gm_classes *classes, size_t bytes,
			  size_t alignment);

/* Which slot a byte at `offset` of a run belongs to: offset / class->bytes by
 * multiplication. Exact for offset * bytes < 2^40, and offset < 2^19 here
 * (Granlund and Montgomery, Division by Invariant Integers, 1994). */
static inline uint32_t gm_class_slot(const struct gm_class *class,
				     uint32_t offset)
{
	return (uint32_t)((offset * class->inverse) >> 40);
}

#endif
