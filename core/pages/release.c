/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Gives handles back to the driver, step by step. They are chosen and taken out
 * of the free extents under the mutex; the driver is called without it, so that
 * other threads wait for no call, and after each call those that take memory go
 * first (device/gate.h); then the counters are updated. See space.h.
 */
#include "handle.h"
#include "base/error.h"

/* Pages of one step. */
enum { STEP_PAGES = 64 };

/* One step: handles of one free extent that is LEAVING, or spare ones. */
struct step {
	struct gm_extent *extent; /* NULL: they are spare */
	struct gm_run run;
	gpumem_page pages[GM_STEP_HANDLES];
};

/* The first extent by its pages that has what is wished, after `skip` others.
 */
static struct gm_extent *find(const struct gm_heap *heap,
			      const struct gm_handle_query *query, size_t skip,
			      struct gm_run *run)
{
	const struct gm_arena *arena = gm_arena_stocked(heap);

	for (; arena; arena = gm_arena_stocked_after(arena)) {
		struct gm_extent *extent = gm_index_most_pages(&arena->index);

		for (; extent;
		     extent = gm_index_fewer_pages(&arena->index, extent)) {
			*run = gm_handles_find(heap, extent, query);
			if (run->count && skip-- == 0)
				return extent;
		}
	}
	*run = (struct gm_run){0};
	return NULL;
}

/* The first spare handles that are of one size, old enough, and of `want` pages
 * or one handle more, but not the last `skip` ones: what the driver does not
 * take becomes the last, and is what is passed over then. */
static void detach_spare(struct gm_heap *heap, size_t want,
			 const struct gm_release *leave, struct step *step)
{
	struct gm_space *space = heap->space;
	struct gm_run *run = &step->run;

	while (run->count < GM_STEP_HANDLES &&
	       space->spare_count > leave->skip &&
	       space->spare[0].seqno <= leave->newest &&
	       (!run->count || (space->spare[0].pages == run->pages &&
				run->count * run->pages < want))) {
		run->pages = space->spare[0].pages;
		step->pages[run->count++] = gm_spare_take(space, 0).page;
	}
	space->releasing_bytes += gm_run_bytes(heap, run);
}

static gpumem_status detach(struct gm_heap *heap, size_t want,
			    const struct gm_release *leave, struct step *step)
{
	struct gm_handle_query query = {
		.pages = want, .most = want, .newest = leave->newest};
	size_t spare = heap->space->spare_count;
	size_t skip = leave->skip > spare ? leave->skip - spare : 0;
	struct gm_extent *extent;
	gpumem_status status;

	detach_spare(heap, want, leave, step);
	if (step->run.count)
		return GPUMEM_OK;
	extent = find(heap, &query, skip, &step->run);
	query.most = SIZE_MAX;
	if (!extent)
		extent = find(heap, &query, skip, &step->run);
	if (!extent)
		return GPUMEM_OK;
	if (step->run.count > GM_STEP_HANDLES)
		step->run.count = GM_STEP_HANDLES;
	status = gm_nodes_reserve(&heap->nodes, 2);
	if (status == GPUMEM_OK)
		status = gm_spare_room(heap, step->run.count * step->run.pages);
	if (status != GPUMEM_OK) {
		step->run.count = 0;
		return status;
	}
	step->extent = gm_run_cut(heap, extent, &step->run);
	gm_extent_set(step->extent, GM_EXTENT_RELEASING);
	heap->space->releasing_bytes += gm_run_bytes(heap, &step->run);
	return GPUMEM_OK;
}

/* Destroys handles; those that the driver does not take come to the front of
 * pages[]. Returns how many. Without the mutex. */
static size_t destroy(struct gm_heap *heap, size_t bytes, gpumem_page *pages,
		      size_t count, struct gm_first *first)
{
	size_t kept = 0, i = 0, done;

	gm_gate_give_way(heap->driver.device->gate);
	while (i < count) {
		gm_first_keep(first, gm_driver_page_destroy(&heap->driver,
							    bytes, pages + i,
							    count - i, &done));
		i += done;
		if (i < count)
			pages[kept++] = pages[i++];
	}
	gm_gate_give_way(heap->driver.device->gate);
	return kept;
}

static void keep(struct gm_heap *heap, size_t pages, const gpumem_page *page,
		 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct gm_handle handle = {.page = page[i],
						 .pages = pages};

		gm_spare_give(heap, &handle, 1);
	}
}

size_t gm_handles_destroy(struct gm_heap *heap,
			  const struct gm_attempt *attempt,
			  const struct gm_handle *handles, size_t count)
{
	size_t gone = 0;

	/* The oldest first, which may be all. */
	(void)gm_stale_retire(heap, attempt, GM_STALE_HOLD);
	for (size_t i = 0; i < count; i++) {
		size_t bytes = handles[i].pages * heap->page_bytes, done = 0;

		if (!gm_stale_clear_now(heap, handles[i].page) ||
		    gm_driver_page_destroy(&heap->driver, bytes,
					   &handles[i].page, 1,
					   &done) != GPUMEM_OK)
			gm_spare_give(heap, &handles[i], 1);
		else
			gm_budget_unreserve(heap, bytes, 1);
		gone += done;
	}
	return gone;
}

/* The mutex is held before and after, not meanwhile. Returns how many bytes
 * went. */
static uint64_t release(struct gm_heap *heap, struct step *step,
			struct gm_first *first)
{
	const struct gm_run *run = &step->run;
	size_t bytes = run->pages * heap->page_bytes, kept = run->count, gone;
	gpumem_status status;

	if (step->extent) {
		gm_handles_list(heap, run, step->pages);
		gm_run_leaves(heap, run);
	}
	status = gm_stale_clear(heap, step->pages, run->count);
	pthread_mutex_unlock(&heap->mutex);
	if (status == GPUMEM_OK && step->extent)
		status = gm_driver_unmap(&heap->driver, run->start, run->count,
					 bytes);
	if (status == GPUMEM_OK)
		kept = destroy(heap, bytes, step->pages, run->count, first);
	gm_first_keep(first, status);
	pthread_mutex_lock(&heap->mutex);
	heap->space->releasing_bytes -= gm_run_bytes(heap, run);
	heap->space->releases++;
	if (status != GPUMEM_OK && step->extent) {
		(void)gm_arena_insert(step->extent->arena, step->extent);
		gm_run_stays(heap, run);
		return 0;
	}
	if (step->extent) {
		gm_handles_clear(heap, run);
		gm_hole_insert(heap, step->extent);
	}
	keep(heap, run->pages, step->pages, kept);
	gone = run->count - kept;
	gm_budget_unreserve(heap, gone * bytes, gone);
	return gone * bytes;
}

gpumem_status gm_pages_release(struct gm_heap *heap,
			       const struct gm_release *leave,
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
		*bytes_out = release(heap, &step, &first);
	return gm_first_end(&first);
}
