/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Spans and holes, beginning and end; see space.h. */
#include "space.h"
#include "heap.h"
#include "ring.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* After so many a trim gives up. */
enum { TRIM_FAILURES = 8 };

void gm_hole_add(struct gm_heap *heap, struct gm_extent *hole)
{
	gm_ring_add(&heap->nodes, &heap->space.holes, hole);
}

void gm_hole_remove(struct gm_heap *heap, struct gm_extent *hole)
{
	gm_ring_remove(&heap->nodes, &heap->space.holes, hole);
}

void gm_hole_insert(struct gm_heap *heap, struct gm_extent *extent)
{
	struct gm_extent *next = gm_extent_next(&heap->nodes, extent);
	struct gm_extent *prev = gm_extent_prev(&heap->nodes, extent);

	gm_extent_set(extent, GM_EXTENT_HOLE);
	extent->arena = NULL;
	if (next && gm_extent_is(next, GM_EXTENT_HOLE)) {
		gm_hole_remove(heap, next);
		gm_extent_join(&heap->nodes, extent);
	}
	if (prev && gm_extent_is(prev, GM_EXTENT_HOLE))
		gm_extent_join(&heap->nodes, prev);
	else
		gm_hole_add(heap, extent);
}

/* Half as much each time the system says no, down to one alignment unit. */
static gpumem_status reserve_addresses(struct gm_heap *heap, uint64_t *bytes,
				       uint64_t *address_out)
{
	gpumem_status status;

	for (;; *bytes /= 2) {
		*bytes = (*bytes + GM_SPAN_ALIGNMENT - 1) & ~(GM_SPAN_ALIGNMENT - 1);
		status = gm_driver_va_reserve(&heap->driver, *bytes,
					      GM_SPAN_ALIGNMENT, address_out);
		if (!status || status == GPUMEM_LOST ||
		    *bytes == GM_SPAN_ALIGNMENT)
			return status;
	}
}

static gpumem_status span_create(struct gm_heap *heap, uint64_t address,
				 uint64_t bytes)
{
	struct gm_space *space = &heap->space;
	struct gm_span *span = calloc(1, sizeof(*span));
	void *pages;

	if (!span || gm_nodes_reserve(&heap->nodes, 1))
		goto free_span;
	space->page_count = bytes / heap->page_bytes;
	pages = mmap(NULL, space->page_count * sizeof(*space->page),
		     PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pages == MAP_FAILED)
		goto free_span;
	space->page = pages;
	span->address = (uintptr_t)address;
	span->bytes = bytes;
	span->first = gm_nodes_take(&heap->nodes);
	span->first->address = span->address;
	span->first->bytes = span->bytes;
	gm_hole_insert(heap, span->first);
	space->spans = span;
	return GPUMEM_OK;

free_span:
	free(span);
	return gm_fail(GPUMEM_NO_HOST_MEMORY,
		       "no host memory for the table of pages");
}

gpumem_status gm_space_init(struct gm_heap *heap, uint64_t bytes)
{
	uint64_t address;
	gpumem_status status;

	if (!heap->vm)
		return GPUMEM_OK;
	if (heap->page_bytes > bytes)
		return gm_fail(GPUMEM_INVALID,
			       "a page of %zu bytes is more than the pool's "
			       "addresses (option `space`)",
			       heap->page_bytes);
	status = reserve_addresses(heap, &bytes, &address);
	if (status)
		return status;
	status = span_create(heap, address, bytes);
	if (status)
		(void)gm_driver_va_release(&heap->driver, address, bytes);
	return status;
}

static void release_handle(struct gm_heap *heap, gpumem_page page, size_t pages,
			   struct gm_first *first)
{
	size_t done;

	gm_first_keep(first, gm_driver_page_destroy(&heap->driver,
						    pages * heap->page_bytes,
						    &page, 1, &done));
}

/* Unmaps and destroys `count` handles. What does not unmap is left as it is: a
 * handle may only be destroyed, and addresses released, when it is mapped
 * nowhere. */
static bool release_run(struct gm_heap *heap, size_t from, size_t count,
			size_t pages, struct gm_first *first)
{
	const struct gm_space *space = &heap->space;
	gpumem_status status = gm_driver_unmap(
		&heap->driver, space->spans->address + from * heap->page_bytes,
		count, pages * heap->page_bytes);

	gm_first_keep(first, status);
	if (status)
		return false;
	for (size_t i = 0; i < count; i++)
		release_handle(heap, space->page[from + i * pages].handle,
			       pages, first);
	return true;
}

/* In as few calls as it can: one for handles of one size side by side. False:
 * something is still mapped. */
static bool release_pages(struct gm_heap *heap, struct gm_first *first)
{
	const struct gm_space *space = &heap->space;
	bool all = true;
	size_t i = 0;

	while (i < space->high_page) {
		const struct gm_page *page = &space->page[i];
		size_t pages = gm_handle_pages(heap, page), count = 0;

		do
			count++;
		while (page->handle && i + count * pages < space->high_page &&
		       page[count * pages].handle &&
		       gm_handle_pages(heap, page + count * pages) == pages);
		if (page->handle)
			all &= release_run(heap, i, count, pages, first);
		i += count * pages;
	}
	for (i = 0; i < space->spare_count; i++)
		release_handle(heap, space->spare[i].page,
			       space->spare[i].pages, first);
	return all;
}

static gpumem_status release_span(struct gm_heap *heap,
				  const struct gm_span *span)
{
	if (heap->vm)
		return gm_driver_va_release(&heap->driver, span->address,
					    span->bytes);
	return gm_driver_free(&heap->driver, span->address, span->bytes);
}

gpumem_status gm_space_fini(struct gm_heap *heap)
{
	struct gm_space *space = &heap->space;
	struct gm_first first = {0};
	bool unmapped = true;

	if (heap->vm && space->page) {
		unmapped = release_pages(heap, &first);
		munmap(space->page, space->page_count * sizeof(*space->page));
	}
	while (space->spans) {
		struct gm_span *span = space->spans;

		if (unmapped)
			gm_first_keep(&first, release_span(heap, span));
		space->spans = span->next;
		free(span);
	}
	free(space->spare);
	gm_heap_unreserve(heap, heap->books.reserved.current,
			  heap->books.segments.current);
	*space = (struct gm_space){0};
	return gm_first_end(&first);
}

gpumem_status gm_space_grow(struct gm_heap *heap, struct gm_arena *arena,
			    size_t bytes, size_t alignment)
{
	heap->grown = true;
	return heap->vm ? gm_pages_grow(heap, arena, bytes, alignment)
			: gm_segment_grow(heap, arena, bytes, alignment);
}

gpumem_status gm_space_trim(struct gm_heap *heap, uint64_t keep_bytes)
{
	uint64_t start = heap->books.reserved.current, gone = 0, bytes;
	struct gm_leave leave = {.newest = UINT64_MAX};
	struct gm_first first = {0};

	if (!gm_arenas_settle(heap))
		return GPUMEM_OK;
	/* What fails is passed over, and not for ever. */
	while (heap->books.reserved.current > keep_bytes &&
	       start - keep_bytes > gone && leave.skip < TRIM_FAILURES) {
		gpumem_status status;

		leave.bytes = heap->books.reserved.current - keep_bytes;
		status = gm_space_leave(heap, &leave, &bytes);
		gm_first_keep(&first, status);
		gone += bytes;
		leave.skip += status != GPUMEM_OK;
		if (!status && !bytes)
			break;
	}
	return gm_first_end(&first);
}

gpumem_status gm_space_leave(struct gm_heap *heap, const struct gm_leave *leave,
			     uint64_t *bytes_out)
{
	return heap->vm ? gm_pages_leave(heap, leave, bytes_out)
			: gm_segment_leave(heap, leave, bytes_out);
}

uint64_t gm_space_whole_bytes(const struct gm_heap *heap)
{
	uint64_t bytes = heap->space.leaving_bytes;
	const struct gm_span *span = heap->space.spans;

	if (heap->vm)
		return bytes + gm_handles_whole_bytes(heap);
	for (; span; span = span->next)
		if (gm_segment_whole(span))
			bytes += span->bytes;
	return bytes;
}
