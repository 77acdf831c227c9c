/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Bins of trees and bins of rings; see index.h. */
#include "index.h"
#include "ring.h"
#include "tree.h"

void gm_index_init(struct gm_index *index, const struct gm_nodes *nodes,
		   size_t page_bytes)
{
	*index = (struct gm_index){.nodes = nodes, .page_bytes = page_bytes};
}

unsigned gm_index_size_bin(size_t bytes)
{
	return gm_bin_of(bytes >> 8, GM_SIZE_BINS);
}

unsigned gm_index_page_bin(size_t pages)
{
	return gm_bin_of(pages, GM_PAGE_BINS);
}

size_t gm_index_pages(const struct gm_index *index,
		      const struct gm_extent *extent)
{
	if (!index->page_bytes || extent->bytes < index->page_bytes)
		return 0;
	return gm_extent_pages(extent, index->page_bytes);
}

static void list_pages(struct gm_index *index, struct gm_extent *extent,
		       size_t pages)
{
	unsigned bin = gm_index_page_bin(pages);

	gm_ring_add(index->nodes, &index->ring[bin], extent);
	gm_bins_set(index->page_map, bin);
	index->whole_pages += pages;
}

static void unlist_pages(struct gm_index *index, struct gm_extent *extent,
			 size_t pages)
{
	unsigned bin = gm_index_page_bin(pages);

	gm_ring_remove(index->nodes, &index->ring[bin], extent);
	if (!index->ring[bin])
		gm_bins_clear(index->page_map, bin);
	index->whole_pages -= pages;
}

void gm_index_insert(struct gm_index *index, struct gm_extent *extent)
{
	unsigned bin = gm_index_size_bin(extent->bytes);
	size_t pages = gm_index_pages(index, extent);

	gm_tree_insert(index->nodes, &index->tree[bin], extent);
	gm_bins_set(index->size_map, bin);
	if (pages)
		list_pages(index, extent, pages);
	index->bytes += extent->bytes;
	index->count++;
}

void gm_index_remove(struct gm_index *index, struct gm_extent *extent)
{
	unsigned bin = gm_index_size_bin(extent->bytes);
	size_t pages = gm_index_pages(index, extent);

	gm_tree_remove(index->nodes, &index->tree[bin], extent);
	if (!index->tree[bin])
		gm_bins_clear(index->size_map, bin);
	if (pages)
		unlist_pages(index, extent, pages);
	index->bytes -= extent->bytes;
	index->count--;
}

static struct gm_extent *ceiling(const struct gm_index *index,
				 struct gm_key key)
{
	unsigned bin = gm_index_size_bin(key.bytes);

	while ((bin = gm_bins_from(index->size_map, bin, GM_SIZE_BINS)) <
	       GM_SIZE_BINS) {
		struct gm_extent *fit =
			gm_tree_ceiling(index->nodes, index->tree[bin], key);

		/* Only the first bin can hold some that are too small. */
		if (fit)
			return fit;
		bin++;
	}
	return NULL;
}

struct gm_extent *gm_index_fit(const struct gm_index *index, size_t bytes)
{
	return ceiling(index, (struct gm_key){.bytes = bytes});
}

uint32_t gm_index_take_all(struct gm_index *index)
{
	struct gm_extent *extent;
	uint32_t list = 0;

	while ((extent = gm_index_fit(index, 1))) {
		gm_index_remove(index, extent);
		extent->left = list;
		list = gm_node_number(index->nodes, extent);
	}
	return list;
}

struct gm_extent *gm_index_next(const struct gm_index *index,
				const struct gm_extent *extent)
{
	return ceiling(index, (struct gm_key){.bytes = extent->bytes,
					      .address = extent->address + 1});
}

struct gm_extent *gm_index_largest(const struct gm_index *index)
{
	int bin = gm_bins_below(index->size_map, GM_SIZE_BINS);

	return bin < 0 ? NULL : gm_tree_last(index->nodes, index->tree[bin]);
}

/* The first of the highest bin below `bin`. */
static struct gm_extent *first_below(const struct gm_index *index, unsigned bin)
{
	int lower = gm_bins_below(index->page_map, bin);

	return lower < 0 ? NULL : gm_node(index->nodes, index->ring[lower]);
}

struct gm_extent *gm_index_most_pages(const struct gm_index *index)
{
	return first_below(index, GM_PAGE_BINS);
}

struct gm_extent *gm_index_fewer_pages(const struct gm_index *index,
				       const struct gm_extent *extent)
{
	unsigned bin = gm_index_page_bin(gm_index_pages(index, extent));
	struct gm_extent *next =
		gm_ring_next(index->nodes, index->ring[bin], extent);

	return next ? next : first_below(index, bin);
}

/* The first of the lowest bin from `bin` on. */
static struct gm_extent *first_from(const struct gm_index *index, unsigned bin)
{
	bin = gm_bins_from(index->page_map, bin, GM_PAGE_BINS);
	return bin < GM_PAGE_BINS ? gm_node(index->nodes, index->ring[bin])
				  : NULL;
}

struct gm_extent *gm_index_least_pages(const struct gm_index *index,
				       size_t pages)
{
	return first_from(index, gm_index_page_bin(pages));
}

struct gm_extent *gm_index_more_pages(const struct gm_index *index,
				      const struct gm_extent *extent)
{
	unsigned bin = gm_index_page_bin(gm_index_pages(index, extent));
	struct gm_extent *next =
		gm_ring_next(index->nodes, index->ring[bin], extent);

	return next ? next : first_from(index, bin + 1);
}
