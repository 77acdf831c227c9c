/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pages that go back to the driver, step by step. What goes is chosen and taken
 * out of the free extents under the mutex; the driver is called without it, so
 * that other threads wait for no call; then the books follow. See space.h.
 */
#include "heap.h"
#include "base/error.h"

enum { STEP_PAGES = 64 };

/* One step: pages of one free extent that is LEAVING, or spare ones. */
struct step {
	struct gm_extent *extent; /* NULL: they are spare */
	struct gm_page_run run;
	gpumem_page pages[STEP_PAGES];
};

/* The extent with the most settled pages, after `skip` others. */
static struct gm_extent *find(const struct gm_heap *heap, size_t want,
			      const struct gm_leave *leave,
			      struct gm_page_run *run)
{
	const struct gm_arena *arena = heap->arenas;
	unsigned skip = leave->skip;

	for (; arena; arena = arena->next) {
		struct gm_extent *extent = gm_index_most_pages(&arena->index);

		for (; extent;
		     extent = gm_index_fewer_pages(&arena->index, extent)) {
			*run = gm_pages_settled(heap, extent, want,
						leave->newest);
			if (run->count && skip-- == 0)
				return extent;
		}
	}
	*run = (struct gm_page_run){0};
	return NULL;
}

static gpumem_status detach(struct gm_heap *heap, size_t want,
			    const struct gm_leave *leave, struct step *step)
{
	struct gm_space *space = &heap->space;
	struct gm_extent *extent;
	gpumem_status status;

	if (space->spare_count > leave->skip) {
		if (want > space->spare_count)
			want = space->spare_count;
		step->run.count = want;
		space->spare_count -= want;
		for (size_t i = 0; i < want; i++)
			step->pages[i] = space->spare[space->spare_count + i];
		space->leaving_bytes += want * heap->page_bytes;
		return GPUMEM_OK;
	}
	extent = find(heap, want, leave, &step->run);
	if (!extent)
		return GPUMEM_OK;
	status = gm_nodes_reserve(&heap->nodes, 2);
	if (!status)
		status = gm_spare_room(heap, step->run.count);
	if (status)
		return status;
	step->extent = gm_pages_cut(heap, extent, &step->run);
	gm_extent_set(step->extent, GM_EXTENT_LEAVING);
	space->leaving_bytes += step->run.count * heap->page_bytes;
	return GPUMEM_OK;
}

/* Destroys pages; those that the driver does not take come to the front of
 * pages[]. Returns how many. Without the mutex. */
static size_t destroy(struct gm_heap *heap, gpumem_page *pages, size_t count,
		      struct gm_first *first)
{
	size_t kept = 0, i = 0, done;

	while (i < count) {
		gm_first_keep(first, gm_driver_page_destroy(
					     &heap->driver, heap->page_bytes,
					     pages + i, count - i, &done));
		i += done;
		if (i < count)
			pages[kept++] = pages[i++];
	}
	return kept;
}

size_t gm_pages_destroy(struct gm_heap *heap, gpumem_page *pages, size_t count)
{
	struct gm_first first = {0};
	size_t kept = destroy(heap, pages, count, &first);

	gm_spare_give(&heap->space, pages, kept);
	gm_heap_unreserve(heap, (count - kept) * heap->page_bytes,
			  count - kept);
	return count - kept;
}

/* The mutex is held before and after, not meanwhile. Returns how many pages
 * went. */
static size_t release(struct gm_heap *heap, struct step *step,
		      struct gm_first *first)
{
	const struct gm_page_run *run = &step->run;
	gpumem_status status = GPUMEM_OK;
	size_t kept = 0;

	if (step->extent)
		for (size_t i = 0; i < run->count; i++)
			step->pages[i] = gm_page_at(heap, run->start)[i].handle;
	pthread_mutex_unlock(&heap->mutex);
	if (step->extent)
		status = gm_driver_unmap(&heap->driver, run->start, run->count,
					 heap->page_bytes);
	if (!status)
		kept = destroy(heap, step->pages, run->count, first);
	gm_first_keep(first, status);
	pthread_mutex_lock(&heap->mutex);
	heap->space.leaving_bytes -= run->count * heap->page_bytes;
	if (status) {
		gm_arena_insert(step->extent->arena, step->extent);
		return 0;
	}
	if (step->extent) {
		gpumem_page gone[STEP_PAGES];

		gm_pages_clear(heap, run, gone);
		gm_hole_insert(heap, step->extent);
	}
	gm_spare_give(&heap->space, step->pages, kept);
	gm_heap_unreserve(heap, (run->count - kept) * heap->page_bytes,
			  run->count - kept);
	return run->count - kept;
}

gpumem_status gm_pages_leave(struct gm_heap *heap, const struct gm_leave *leave,
			     uint64_t *bytes_out)
{
	size_t want = (leave->bytes + heap->page_bytes - 1) / heap->page_bytes;
	struct step step = {0};
	struct gm_first first = {0};

	*bytes_out = 0;
	if (want > STEP_PAGES)
		want = STEP_PAGES;
	gm_first_keep(&first, detach(heap, want, leave, &step));
	if (step.run.count)
		*bytes_out = release(heap, &step, &first) * heap->page_bytes;
	return gm_first_end(&first);
}
