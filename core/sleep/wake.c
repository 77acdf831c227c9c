/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* A wake: take, map, copy. Until all of it is over the pages are away. See
 * sleep.h. */
#include "parts.h"
#include "pages/handle.h"
#include "base/clock.h"
#include "base/error.h"

#include <stdlib.h>

/* So many handles are mapped by one call. */
enum { STEP_HANDLES = 64 };

/* A store of which something comes back, and so stays until that is over: any
 * other may end meanwhile. */
struct coming {
	struct gm_store *store;
	struct gm_areas areas;
	struct gm_move *move; /* NULL: nothing is copied */
};

struct waking {
	struct gm_heap *heap;
	struct gm_areas areas; /* of all stores */
	struct gm_takes takes;
	struct coming *coming;
	size_t count;
	uint64_t copied_bytes;
};

/* ---- which stores ---- */

static gpumem_status list_store(struct waking *waking, struct gm_store *store)
{
	struct coming *coming = &waking->coming[waking->count];
	const struct gm_spans *spans = &waking->heap->spans;
	size_t page_bytes = waking->heap->page_bytes;
	gpumem_status status = GPUMEM_OK;

	*coming = (struct coming){.store = store};
	for (size_t i = 0; i < waking->areas.count; i++) {
		uintptr_t at = waking->areas.area[i].start;
		uintptr_t end = at + waking->areas.area[i].bytes;
		const struct gm_page *page = gm_page_at(spans, at);

		for (; at < end && status == GPUMEM_OK;
		     at += page_bytes, page++)
			if (page->seqno == GM_AWAY_BASE + store->number)
				status = gm_areas_add(&coming->areas, at,
						      page_bytes, 0);
	}
	waking->count += coming->areas.count > 0;
	return status;
}

static gpumem_status list(struct waking *waking, const struct gm_choice *choice)
{
	struct gm_heap *heap = waking->heap;
	gpumem_status status = gm_plan_wake(heap, choice, &waking->areas);
	struct gm_store *store = heap->sleep->stores;
	size_t stores = 0;

	for (; store; store = store->next)
		stores++;
	if (status != GPUMEM_OK || !stores)
		return status;
	waking->coming = calloc(stores, sizeof(*waking->coming));
	if (!waking->coming)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a list of sleeps");
	for (store = heap->sleep->stores; store && status == GPUMEM_OK;
	     store = store->next)
		status = list_store(waking, store);
	return status;
}

/* ---- map, while others copy ---- */

static gpumem_status begin_moves(struct waking *waking)
{
	gpumem_status status = GPUMEM_OK;

	for (size_t i = 0; i < waking->count && status == GPUMEM_OK; i++) {
		struct coming *coming = &waking->coming[i];

		if (coming->store->kept.bytes)
			status =
				gm_move_up_begin(waking->heap, coming->store,
						 &coming->areas, &coming->move);
	}
	return status;
}

static void tell_moves(const struct waking *waking, uintptr_t address)
{
	for (size_t i = 0; i < waking->count; i++)
		if (waking->coming[i].move)
			gm_move_up_to(waking->coming[i].move, address);
}

static gpumem_status end_moves(struct waking *waking, gpumem_status status)
{
	for (size_t i = 0; i < waking->count; i++) {
		struct coming *coming = &waking->coming[i];
		struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
		gpumem_status moved;

		if (!coming->move)
			continue;
		gm_error_get(&error);
		moved = gm_move_up_end(coming->move, status != GPUMEM_OK,
				       &waking->copied_bytes);
		coming->move = NULL;
		if (status == GPUMEM_OK)
			status = moved;
		else
			gm_error_set(&error);
	}
	return status;
}

/* Handles of one size side by side from that one on. */
static struct gm_run run_at(const struct waking *waking, size_t first,
			    gpumem_page *pages)
{
	const struct gm_taken *take = &waking->takes.take[first];
	struct gm_run run = {.start = take->start, .pages = take->pages};

	while (run.count < STEP_HANDLES &&
	       first + run.count < waking->takes.count) {
		const struct gm_taken *next = take + run.count;

		if (next->pages != run.pages || next->mapped != take->mapped ||
		    next->start != run.start + gm_run_bytes(waking->heap, &run))
			break;
		pages[run.count++] = next->page;
	}
	return run;
}

static void set_mapped(struct waking *waking, size_t first, size_t count,
		       bool mapped)
{
	for (size_t i = 0; i < count; i++)
		waking->takes.take[first + i].mapped = mapped;
}

static gpumem_status map(struct waking *waking)
{
	struct gm_heap *heap = waking->heap;
	gpumem_status status = GPUMEM_OK;
	gpumem_page pages[STEP_HANDLES];
	struct gm_run run;

	for (size_t i = 0; i < waking->takes.count && status == GPUMEM_OK;
	     i += run.count) {
		run = run_at(waking, i, pages);
		/* What lies before has been mapped, or was all the time. */
		tell_moves(waking, run.start);
		status = gm_driver_map(&heap->driver, run.start, pages,
				       run.count, run.pages * heap->page_bytes);
		if (status == GPUMEM_OK)
			set_mapped(waking, i, run.count, true);
	}
	if (status == GPUMEM_OK)
		tell_moves(waking, UINTPTR_MAX);
	return status;
}

static gpumem_status fill(struct waking *waking)
{
	gpumem_status status = GPUMEM_OK;

	for (size_t i = 0; i < waking->count && status == GPUMEM_OK; i++)
		status = gm_move_zeros(waking->heap, waking->coming[i].store,
				       &waking->coming[i].areas);
	return status;
}

/* ---- the end, good or bad ---- */

/* Into the table: away no more, or as before. */
static void set_pages(struct waking *waking, bool awake)
{
	struct gm_heap *heap = waking->heap;
	gpumem_page pages[STEP_HANDLES];
	struct gm_run run;

	for (size_t i = 0; i < waking->takes.count; i += run.count) {
		run = run_at(waking, i, pages);
		if (!waking->takes.take[i].mapped)
			continue;
		if (awake)
			gm_away_restore(heap, &run, pages);
		else
			gm_away_refill(heap, &run, pages);
		heap->space->away.taken_bytes -= gm_run_bytes(heap, &run);
		heap->space->away.taken_handles -= run.count;
	}
}

/* What does not unmap, or is perhaps being copied to, keeps its memory, and is
 * away as before. */
static void undo(struct waking *waking)
{
	struct gm_heap *heap = waking->heap;
	bool unsure = gm_queues_unsure(heap);
	gpumem_page pages[STEP_HANDLES];
	struct gm_run run;

	for (size_t i = 0; i < waking->takes.count; i += run.count) {
		run = run_at(waking, i, pages);
		if (waking->takes.take[i].mapped && !unsure &&
		    gm_driver_unmap(&heap->driver, run.start, run.count,
				    run.pages * heap->page_bytes) == GPUMEM_OK)
			set_mapped(waking, i, run.count, false);
	}
	gm_heap_stop(heap);
	set_pages(waking, false);
	gm_heap_go(heap);
	gm_take_undo(heap, &waking->takes);
}

static void rise(struct waking *waking)
{
	struct gm_heap *heap = waking->heap;

	gm_heap_stop(heap);
	set_pages(waking, true);
	for (size_t i = 0; i < waking->areas.count; i++)
		gm_away_unmark_area(heap, waking->areas.area[i].start,
				    waking->areas.area[i].bytes);
	gm_plan_settle(heap);
	GM_RECORD(heap->record, GPUMEM_RECORD_WAKE, waking->takes.bytes,
		  waking->copied_bytes);
	gm_heap_go(heap);
	free(waking->takes.take);
}

static gpumem_status wake(struct waking *waking, struct gpumem_slept *done,
			  uint64_t *need_bytes_out, bool *device_limit_out)
{
	uint64_t begin_ns = gm_clock_ns();
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	gpumem_status status =
		gm_take(waking->heap, &waking->areas, &waking->takes);

	*need_bytes_out = waking->takes.bytes;
	*device_limit_out = waking->takes.device_limit;
	done->map_ns = gm_clock_ns() - begin_ns;
	if (status != GPUMEM_OK)
		return status;
	begin_ns = gm_clock_ns();
	status = begin_moves(waking);
	if (status == GPUMEM_OK)
		status = map(waking);
	if (status == GPUMEM_OK)
		status = fill(waking);
	status = end_moves(waking, status);
	done->copy_ns = gm_clock_ns() - begin_ns;
	if (status == GPUMEM_OK) {
		done->device_bytes = waking->takes.bytes;
		done->kept_bytes = waking->copied_bytes;
		rise(waking);
		return GPUMEM_OK;
	}
	gm_error_get(&error);
	undo(waking);
	gm_error_set(&error);
	return status;
}

static void free_lists(struct waking *waking)
{
	for (size_t i = 0; i < waking->count; i++)
		gm_areas_free(&waking->coming[i].areas);
	free(waking->coming);
	gm_areas_free(&waking->areas);
}

gpumem_status gm_heap_wake(struct gm_heap *heap, uint32_t tag,
			   struct gpumem_slept *done, uint64_t *need_bytes_out,
			   bool *device_limit_out)
{
	struct waking waking = {.heap = heap};
	gpumem_status status = gm_sleep_begin(heap);
	struct gm_choice choice;
	uint64_t before;

	if (status != GPUMEM_OK)
		return status;
	gm_choose(&choice, tag);
	if (heap->sleep)
		status = gm_queues_settle(heap);
	gm_heap_stop(heap);
	gm_plan_settle(heap);
	before = heap->counters.sleeping.current;
	if (heap->sleep && status == GPUMEM_OK)
		status = list(&waking, &choice);
	gm_heap_go(heap);
	if (status == GPUMEM_OK && waking.areas.count)
		status = wake(&waking, done, need_bytes_out, device_limit_out);
	free_lists(&waking);
	gm_sleep_over(heap);
	gm_stores_end(heap);
	pthread_mutex_lock(&heap->mutex);
	before -= heap->counters.sleeping.current;
	done->host_bytes = gm_sleep_host_bytes(heap);
	pthread_mutex_unlock(&heap->mutex);
	done->dropped_bytes =
		(int64_t)(before - done->kept_bytes) > 0 && status == GPUMEM_OK
			? before - done->kept_bytes
			: 0;
	return status;
}
