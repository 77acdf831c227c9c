/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Bins of numbers: 2^GM_BIN_BITS per doubling, and below that one for each
 * number; and bitmaps of bins. What is in a higher bin is larger than all in a
 * lower one. Plain arithmetic, no locks.
 */
#ifndef GM_EXTENT_BINS_H
#define GM_EXTENT_BINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GM_BIN_BITS = 6,
	GM_BINS_EXACT = 2 << GM_BIN_BITS /* bins below are one number each */
};

/* How many bins it takes for numbers below 2^log: a multiple of 64. */
#define GM_BINS_BELOW(log) (((log)-GM_BIN_BITS + 1) << GM_BIN_BITS)

/* The bin of n among `count`; the last one has no upper end. */
static inline unsigned gm_bin_of(size_t n, unsigned count)
{
	unsigned shift, bin;

	if (n < GM_BINS_EXACT)
		return (unsigned)n;
	shift = 63 - GM_BIN_BITS - (unsigned)__builtin_clzll(n);
	bin = (shift << GM_BIN_BITS) + (unsigned)(n >> shift);
	return bin < count ? bin : count - 1;
}

static inline void gm_bins_set(uint64_t *map, unsigned bin)
{
	map[bin / 64] |= 1ull << (bin % 64);
}

static inline void gm_bins_clear(uint64_t *map, unsigned bin)
{
	map[bin / 64] &= ~(1ull << (bin % 64));
}

static inline bool gm_bins_has(const uint64_t *map, unsigned bin)
{
	return map[bin / 64] >> (bin % 64) & 1;
}

/* The first one that is set from `bin` on, or `count`. */
static inline unsigned gm_bins_from(const uint64_t *map, unsigned bin,
				    unsigned count)
{
	unsigned i = bin / 64;
	uint64_t word;

	if (bin >= count)
		return count;
	word = map[i] & ~0ull << (bin % 64);
	while (!word) {
		if (++i == count / 64)
			return count;
		word = map[i];
	}
	return i * 64 + (unsigned)__builtin_ctzll(word);
}

/* The last one that is set below `bin`, or -1. */
static inline int gm_bins_below(const uint64_t *map, unsigned bin)
{
	unsigned i = bin / 64;
	uint64_t word = bin % 64 ? map[i] & ~(~0ull << (bin % 64)) : 0;

	while (!word) {
		if (i-- == 0)
			return -1;
		word = map[i];
	}
	return (int)(i * 64 + 63 - (unsigned)__builtin_clzll(word));
}

#endif
