/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The check of pages that are mapped at several addresses; see stale.h. All
 * mappings in the table of pages are sorted by handle, and compared with the
 * stale extents and the spare handles.
 */
#include "handle.h"
#include "extent/check.h"
#include "extent/ring.h"

#include <stdlib.h>

typedef unsigned long long ull;

struct mapping {
	gpumem_page handle;
	size_t page;		       /* the first */
	uint64_t seqno;		       /* of its last free there */
	const struct gm_extent *stale; /* whose it is; NULL: not stale */
};

struct mappings {
	const struct gm_heap *heap;
	struct mapping *of;
	size_t count;
};

static int compare(const void *left, const void *right)
{
	const struct mapping *a = left, *b = right;

	if (a->handle != b->handle)
		return a->handle < b->handle ? -1 : 1;
	return (a->page > b->page) - (a->page < b->page);
}

static gpumem_status list(struct mappings *mappings)
{
	const struct gm_spans *spans = &mappings->heap->spans;
	size_t count = 0;

	for (size_t i = 0; i < spans->high_page; i++)
		count += spans->page[i].first;
	mappings->of = calloc(count + 1, sizeof(*mappings->of));
	if (!mappings->of)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory to check %zu mappings", count);
	for (size_t i = 0; i < spans->high_page; i++) {
		const struct gm_page *page = &spans->page[i];

		if (!page->first)
			continue;
		mappings->of[mappings->count++] = (struct mapping){
			.handle = page->handle,
			.page = i,
			.seqno = gm_pages_seqno(
				page, gm_page_handle_pages(spans, page))};
	}
	qsort(mappings->of, mappings->count, sizeof(*mappings->of), compare);
	return GPUMEM_OK;
}

/* The handles of a stale extent are of one size. */
static gpumem_status mark(const struct mappings *mappings,
			  const struct gm_extent *extent, uint64_t *handles)
{
	const struct gm_spans *spans = &mappings->heap->spans;
	const struct gm_page *page = gm_page_at(spans, extent->address);
	size_t pages = gm_page_handle_pages(spans, page);
	size_t count = extent->bytes / (pages * spans->page_bytes);

	EXPECT(extent->arena && !extent->arena->graph &&
		       extent->seqno <= extent->arena->seqno,
	       "the stale extent at %#zx is of a graph, or of the future",
	       extent->address);
	for (size_t i = 0; i < count; i++, page += pages, ++*handles) {
		const struct mapping key = {
			.handle = page->handle,
			.page = (size_t)(page - spans->page)};
		struct mapping *found =
			bsearch(&key, mappings->of, mappings->count,
				sizeof(key), compare);

		EXPECT(found && !found->stale &&
			       gm_page_handle_pages(spans, page) == pages,
		       "page %zu is stale and not mapped, or not of %zu pages",
		       key.page, pages);
		found->stale = extent;
	}
	return GPUMEM_OK;
}

static gpumem_status mark_ring(const struct mappings *mappings, uint32_t ring,
			       enum gm_extent_state state, size_t *extents,
			       uint64_t *handles)
{
	const struct gm_nodes *nodes = &mappings->heap->nodes;
	const struct gm_extent *extent = gm_node(nodes, ring);
	size_t count;
	gpumem_status status = gm_check_ring(nodes, ring, state, &count);

	*extents += count;
	for (; extent && status == GPUMEM_OK;
	     extent = gm_ring_next(nodes, ring, extent))
		status = mark(mappings, extent, handles);
	return status;
}

static gpumem_status mark_all(const struct mappings *mappings,
			      const struct gm_tally *tally,
			      uint64_t *handles_out)
{
	const struct gm_stale *stale = &mappings->heap->space->stale;
	size_t count = 0;
	gpumem_status status;

	*handles_out = 0;
	status = mark_ring(mappings, stale->ring, GM_EXTENT_STALE, &count,
			   handles_out);
	if (status == GPUMEM_OK)
		status = mark_ring(mappings, stale->retiring,
				   GM_EXTENT_RETIRING, &count, handles_out);
	if (status != GPUMEM_OK)
		return status;
	EXPECT(count == tally->stale_count &&
		       stale->bytes == tally->stale_bytes && !stale->lending,
	       "%zu stale extents of %llu bytes are listed, there are %llu of "
	       "%llu",
	       count, (ull)stale->bytes, (ull)tally->stale_count,
	       (ull)tally->stale_bytes);
	EXPECT(stale->handles == *handles_out,
	       "%llu stale places of handles, but %zu counted",
	       (ull)*handles_out, stale->handles);
	return GPUMEM_OK;
}

/* The mappings of one handle, of which one is not stale, unless it is spare or
 * on its way to the driver: then the stale ones are over. */
static gpumem_status check_group(const struct mapping *mapping, size_t count)
{
	const struct mapping *own = NULL;

	for (size_t i = 0; i < count; i++) {
		EXPECT(mapping[i].stale || !own,
		       "pages %zu and %zu are of one handle", own->page,
		       mapping[i].page);
		if (!mapping[i].stale)
			own = &mapping[i];
	}
	for (size_t i = 0; i < count; i++) {
		const struct gm_extent *stale = mapping[i].stale;

		EXPECT(!stale ||
			       gm_arena_completed(stale->arena, stale->seqno) ||
			       (own && stale->seqno <= own->seqno),
		       "page %zu is stale and busy, and its handle elsewhere "
		       "is not",
		       mapping[i].page);
	}
	return GPUMEM_OK;
}

gpumem_status gm_check_stale(const struct gm_heap *heap,
			     const struct gm_tally *tally,
			     uint64_t *handles_out)
{
	struct mappings mappings = {.heap = heap};
	gpumem_status status = list(&mappings);
	size_t i = 0, next;

	if (status == GPUMEM_OK)
		status = mark_all(&mappings, tally, handles_out);
	for (; i < mappings.count && status == GPUMEM_OK; i = next) {
		for (next = i + 1;
		     next < mappings.count &&
		     mappings.of[next].handle == mappings.of[i].handle;)
			next++;
		status = check_group(&mappings.of[i], next - i);
	}
	free(mappings.of);
	return status;
}
