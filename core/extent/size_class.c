/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The table of size classes; see size_class.h. */
#include "size_class.h"

/* Of n + 1 units. */
static unsigned class_index(unsigned n)
{
	unsigned log;

	if (n < 4)
		return n;
	log = 31 - (unsigned)__builtin_clz(n);
	return 4 * (log - 1) + ((n >> (log - 2)) & 3);
}

static uint32_t class_bytes(unsigned index, unsigned shift)
{
	if (index < 4)
		return (index + 1) << shift;
	return (5 + index % 4) << (index / 4 - 1) << shift;
}

/* The shortest run that wastes at most 1/32 at its end and holds at least
 * eight slots; where none does, the one that wastes the smallest part. */
static uint32_t run_bytes(uint32_t bytes)
{
	uint32_t best = GM_RUN_MAX;

	for (uint32_t run = GM_RUN_UNIT; run <= GM_RUN_MAX;
	     run += GM_RUN_UNIT) {
		if (run / bytes < 8)
			continue;
		if ((uint64_t)(run % bytes) * 32 <= run)
			return run;
		if ((uint64_t)(run % bytes) * best <
		    (uint64_t)(best % bytes) * run)
			best = run;
	}
	return best;
}

static uint32_t clamp(uint64_t value, uint32_t low, uint32_t high)
{
	if (value < low)
		return low;
	return value > high ? high : (uint32_t)value;
}

/* A thread takes half of what it keeps at a time: at least a line of marks. */
static uint32_t spread_of(uint32_t keep)
{
	uint32_t spread = 0;

	while (spread < 4 && (keep / 2 * sizeof(uint16_t) << spread) < GM_LINE)
		spread++;
	return spread;
}

void gm_classes_init(struct gm_classes *classes, uint32_t unit,
		     uint64_t cache_bytes)
{
	*classes = (struct gm_classes){.shift = (unsigned)__builtin_ctz(unit)};
	for (unsigned n = 0; n < GM_SMALL_MAX / unit; n++)
		classes->index[n] = (uint8_t)class_index(n);
	classes->count = gm_class_of(classes, GM_SMALL_MAX) + 1;
	for (unsigned i = 0; i < classes->count; i++) {
		struct gm_class *class = &classes->of[i];

		class->bytes = class_bytes(i, classes->shift);
		class->run_bytes = run_bytes(class->bytes);
		class->slots = class->run_bytes / class->bytes;
		class->keep =
			clamp(cache_bytes / class->bytes, 2, GM_BIN_SLOTS);
		class->spread = spread_of(class->keep);
		class->marks = class->slots << class->spread;
		class->inverse =
			((1ull << 40) + class->bytes - 1) / class->bytes;
	}
}

unsigned gm_class_aligned(const struct gm_classes *classes, size_t bytes,
			  size_t alignment)
{
	unsigned index = gm_class_of(classes, bytes);

	/* Ends at the latest at the class of GM_SMALL_MAX. */
	while (classes->of[index].bytes % alignment)
		index++;
	return index;
}
