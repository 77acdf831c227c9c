/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The check of nodes, rings and indexes; see extent.h, ring.h, tree.h and
 * index.h. */
#include "check.h"
#include "ring.h"
#include "tree.h"

typedef unsigned long long ull;

gpumem_status gm_check_nodes(const struct gm_nodes *nodes, uint64_t extents)
{
	uint32_t at = nodes->free;
	size_t given = 0;

	for (; at && given < nodes->ready; at = nodes->node[at].next)
		given++;
	EXPECT(nodes->free_count == nodes->ready - nodes->fresh + given,
	       "%zu nodes are said to be free, but %zu were given back and %u "
	       "never taken",
	       nodes->free_count, given, nodes->ready - nodes->fresh);
	EXPECT(!nodes->fresh || nodes->fresh - 1 == extents + given,
	       "%u nodes were taken and %zu given back, for %llu extents",
	       nodes->fresh - 1, given, (ull)extents);
	return GPUMEM_OK;
}

gpumem_status gm_check_ring(const struct gm_nodes *nodes, uint32_t ring,
			    enum gm_extent_state state, size_t *count_out)
{
	uint32_t at = ring;

	*count_out = 0;
	/* Each is the one before its next: so there is no other way round than
	 * back to the first. */
	while (at) {
		const struct gm_extent *extent = &nodes->node[at];

		EXPECT(at < nodes->fresh && extent->ring_next < nodes->fresh &&
			       nodes->node[extent->ring_next].ring_prev == at,
		       "node %u of a ring is not linked both ways", at);
		EXPECT(gm_extent_is(extent, state),
		       "the extent at %#zx has state %d in a ring of state %d",
		       extent->address, (int)gm_extent_state(extent),
		       (int)state);
		++*count_out;
		at = extent->ring_next == ring ? 0 : extent->ring_next;
	}
	return GPUMEM_OK;
}

/* What the trees of an index add up to, and the rings. */
struct sums {
	const struct gm_index *index;
	const struct gm_arena *arena;
	size_t bytes, pages, count, paged, ringed;
};

static bool follows(const struct gm_extent *low, const struct gm_extent *high)
{
	return !low || !high || gm_key_less(gm_key_of(low), gm_key_of(high));
}

static gpumem_status check_place(const struct sums *sums, unsigned bin,
				 const struct gm_extent *extent)
{
	EXPECT(gm_extent_is(extent, GM_EXTENT_FREE) &&
		       extent->arena == sums->arena,
	       "the extent at %#zx is in an index, but not free there",
	       extent->address);
	EXPECT(gm_index_size_bin(extent->bytes) == bin,
	       "the extent at %#zx is in the wrong bin of sizes",
	       extent->address);
	return GPUMEM_OK;
}

/* The subtree at `number`, all of which lies between low and high. */
static gpumem_status check_tree(struct sums *sums, unsigned bin,
				uint32_t number, const struct gm_extent *low,
				const struct gm_extent *high)
{
	const struct gm_nodes *nodes = sums->index->nodes;
	const struct gm_extent *extent = gm_node(nodes, number);
	size_t pages;
	gpumem_status status;

	if (!extent)
		return GPUMEM_OK;
	EXPECT(number < nodes->fresh, "a tree leads to node %u of %u", number,
	       nodes->fresh);
	status = check_place(sums, bin, extent);
	if (status != GPUMEM_OK)
		return status;
	EXPECT(follows(low, extent) && follows(extent, high),
	       "the extent at %#zx is out of order in its tree",
	       extent->address);
	pages = gm_index_pages(sums->index, extent);
	sums->bytes += extent->bytes;
	sums->pages += pages;
	sums->paged += pages != 0;
	sums->count++;
	status = check_tree(sums, bin, extent->left, low, extent);
	if (status == GPUMEM_OK)
		status = check_tree(sums, bin, extent->right, extent, high);
	return status;
}

/* Those beneath have lower priorities, or the tree would grow deep. */
static gpumem_status check_heap_order(const struct gm_nodes *nodes,
				      const struct gm_extent *extent)
{
	const uint32_t child[] = {extent->left, extent->right};

	for (int i = 0; i < 2; i++) {
		const struct gm_extent *lower = gm_node(nodes, child[i]);
		gpumem_status status;

		if (!lower)
			continue;
		EXPECT(lower->priority == gm_tree_priority(lower) &&
			       lower->priority <= extent->priority,
		       "the extent at %#zx is too high in its tree",
		       lower->address);
		status = check_heap_order(nodes, lower);
		if (status != GPUMEM_OK)
			return status;
	}
	return GPUMEM_OK;
}

static gpumem_status check_size_bin(struct sums *sums, unsigned bin)
{
	const struct gm_index *index = sums->index;
	gpumem_status status;

	EXPECT(gm_bins_has(index->size_map, bin) == (index->tree[bin] != 0),
	       "bin %u of sizes and its bit differ", bin);
	status = check_tree(sums, bin, index->tree[bin], NULL, NULL);
	if (status == GPUMEM_OK && index->tree[bin])
		status = check_heap_order(
			index->nodes, &index->nodes->node[index->tree[bin]]);
	return status;
}

static gpumem_status check_page_bin(struct sums *sums, unsigned bin)
{
	const struct gm_index *index = sums->index;
	uint32_t ring = index->ring[bin];
	const struct gm_extent *extent = gm_node(index->nodes, ring);
	size_t count;
	gpumem_status status;

	EXPECT(gm_bins_has(index->page_map, bin) == (ring != 0),
	       "bin %u of pages and its bit differ", bin);
	status = gm_check_ring(index->nodes, ring, GM_EXTENT_FREE, &count);
	if (status != GPUMEM_OK)
		return status;
	sums->ringed += count;
	for (; extent; extent = gm_ring_next(index->nodes, ring, extent)) {
		size_t pages = gm_index_pages(index, extent);

		EXPECT(pages && gm_index_page_bin(pages) == bin &&
			       extent->arena == sums->arena,
		       "the extent at %#zx is in the wrong bin of pages",
		       extent->address);
	}
	return GPUMEM_OK;
}

gpumem_status gm_check_index(const struct gm_index *index,
			     const struct gm_arena *arena)
{
	struct sums sums = {.index = index, .arena = arena};
	gpumem_status status = GPUMEM_OK;

	for (unsigned i = 0; i < GM_SIZE_BINS && status == GPUMEM_OK; i++)
		status = check_size_bin(&sums, i);
	for (unsigned i = 0; i < GM_PAGE_BINS && status == GPUMEM_OK; i++)
		status = check_page_bin(&sums, i);
	if (status != GPUMEM_OK)
		return status;
	EXPECT(sums.paged == sums.ringed,
	       "%zu free extents have whole pages, but %zu are listed",
	       sums.paged, sums.ringed);
	EXPECT(sums.bytes == index->bytes && sums.count == index->count &&
		       sums.pages == index->whole_pages,
	       "an index counts %zu bytes, %zu extents and %zu pages, but has "
	       "%zu, %zu and %zu",
	       index->bytes, index->count, index->whole_pages, sums.bytes,
	       sums.count, sums.pages);
	return GPUMEM_OK;
}
