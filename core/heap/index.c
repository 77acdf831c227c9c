/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Bins of trees; see index.h. */
#include "index.h"
#include "tree.h"

/* Eight bins per doubling of the size in units of 256 bytes. Sizes in a higher
 * bin are larger than all in a lower one. */
static unsigned bin_of(size_t bytes)
{
	size_t n = bytes >> 8;
	unsigned log, bin;

	if (n < 8)
		return (unsigned)n;
	log = 63 - (unsigned)__builtin_clzll(n);
	bin = 8 * (log - 2) + ((n >> (log - 3)) & 7);
	return bin < GM_INDEX_BINS ? bin : GM_INDEX_BINS - 1;
}

/* The first non-empty bin from `bin` on, or GM_INDEX_BINS. */
static unsigned next_bin(const struct gm_index *index, unsigned bin)
{
	uint64_t word;

	if (bin >= GM_INDEX_BINS)
		return GM_INDEX_BINS;
	word = index->map[bin / 64] & (~0ull << (bin % 64));
	for (unsigned i = bin / 64;;) {
		if (word)
			return i * 64 + (unsigned)__builtin_ctzll(word);
		if (++i == GM_INDEX_WORDS)
			return GM_INDEX_BINS;
		word = index->map[i];
	}
}

void gm_index_init(struct gm_index *index, size_t page_bytes)
{
	*index = (struct gm_index){.page_bytes = page_bytes};
}

static size_t whole_pages(const struct gm_index *index,
			  const struct gm_extent *extent)
{
	return index->page_bytes ? gm_extent_pages(extent, index->page_bytes)
				 : 0;
}

void gm_index_insert(struct gm_index *index, struct gm_extent *extent)
{
	unsigned bin = bin_of(extent->bytes);
	size_t pages;

	gm_tree_insert(&index->tree[bin], extent, 0);
	index->map[bin / 64] |= 1ull << (bin % 64);
	pages = whole_pages(index, extent);
	if (pages)
		gm_tree_insert(&index->pages, extent, index->page_bytes);
	index->whole_pages += pages;
	index->bytes += extent->bytes;
	index->count++;
}

void gm_index_remove(struct gm_index *index, struct gm_extent *extent)
{
	unsigned bin = bin_of(extent->bytes);
	size_t pages;

	gm_tree_remove(&index->tree[bin], extent, 0);
	if (!index->tree[bin])
		index->map[bin / 64] &= ~(1ull << (bin % 64));
	pages = whole_pages(index, extent);
	if (pages)
		gm_tree_remove(&index->pages, extent, index->page_bytes);
	index->whole_pages -= pages;
	index->bytes -= extent->bytes;
	index->count--;
}

static struct gm_extent *ceiling(const struct gm_index *index,
				 struct gm_key key)
{
	unsigned bin = next_bin(index, bin_of(key.major));

	while (bin < GM_INDEX_BINS) {
		struct gm_extent *fit =
			gm_tree_ceiling(index->tree[bin], key, 0);

		/* Only the first bin can hold some that are too small. */
		if (fit)
			return fit;
		bin = next_bin(index, bin + 1);
	}
	return NULL;
}

struct gm_extent *gm_index_fit(const struct gm_index *index, size_t bytes)
{
	return ceiling(index, (struct gm_key){.major = bytes});
}

struct gm_extent *gm_index_next(const struct gm_index *index,
				const struct gm_extent *extent)
{
	return ceiling(index, (struct gm_key){.major = extent->bytes,
					      .minor = extent->address + 1});
}

struct gm_extent *gm_index_largest(const struct gm_index *index)
{
	const struct gm_key end = {.major = SIZE_MAX};

	for (unsigned i = GM_INDEX_WORDS; i-- > 0;) {
		unsigned bin;

		if (!index->map[i])
			continue;
		bin = i * 64 + 63 - (unsigned)__builtin_clzll(index->map[i]);
		return gm_tree_below(index->tree[bin], end, 0);
	}
	return NULL;
}

struct gm_extent *gm_index_most_pages(const struct gm_index *index)
{
	const struct gm_key end = {.major = SIZE_MAX};

	if (!index->page_bytes)
		return NULL;
	return gm_tree_below(index->pages, end, index->page_bytes);
}

struct gm_extent *gm_index_fewer_pages(const struct gm_index *index,
				       const struct gm_extent *extent)
{
	const struct gm_key key = {
		.major = gm_extent_pages(extent, index->page_bytes),
		.minor = extent->address,
	};

	return gm_tree_below(index->pages, key, index->page_bytes);
}

struct gm_extent *gm_index_any(const struct gm_index *index)
{
	unsigned bin = next_bin(index, 0);

	return bin < GM_INDEX_BINS ? index->tree[bin] : NULL;
}
