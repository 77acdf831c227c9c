/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The memory that a wake needs, all of it or none: new handles within the
 * limit, as large as they may be; and where the driver or the limit has no
 * more, what helps an allocation too (heap/helps.c). See parts.h.
 */
#include "parts.h"
#include "base/error.h"

#include <stdlib.h>

/* So many handles are asked for at a time. */
enum { BATCH = 64 };

struct take {
	struct gm_heap *heap;
	struct gm_takes *takes;
	struct gm_areas missing; /* without memory */
	size_t area, done;	 /* so far: areas; bytes of the next */
	size_t most_pages;	 /* of a handle, as far as the driver goes */
	struct gm_attempt attempt;
};

/* The areas, but for pages that have memory. */
static gpumem_status find_missing(struct take *take,
				  const struct gm_areas *areas)
{
	struct gm_heap *heap = take->heap;
	gpumem_status status = GPUMEM_OK;

	pthread_mutex_lock(&heap->mutex);
	for (size_t i = 0; i < areas->count; i++) {
		uintptr_t at = areas->area[i].start;
		uintptr_t end = at + areas->area[i].bytes;
		const struct gm_page *page = gm_page_at(&heap->spans, at);

		for (; at < end && status == GPUMEM_OK;
		     at += heap->page_bytes, page++)
			if (!page->handle)
				status = gm_areas_add(&take->missing, at,
						      heap->page_bytes,
						      areas->area[i].fate);
	}
	pthread_mutex_unlock(&heap->mutex);
	return status;
}

static gpumem_status make_room(struct take *take)
{
	struct gm_takes *takes = take->takes;
	size_t pages = 0;

	for (size_t i = 0; i < take->missing.count; i++)
		pages += take->missing.area[i].bytes / take->heap->page_bytes;
	takes->bytes = (uint64_t)pages * take->heap->page_bytes;
	takes->room = pages;
	if (!pages)
		return GPUMEM_OK;
	takes->take = malloc(pages * sizeof(*takes->take));
	return takes->take ? GPUMEM_OK
			   : gm_fail(GPUMEM_NO_HOST_MEMORY,
				     "no host memory for a list of %zu pages",
				     pages);
}

/* The largest power of two. */
static size_t power_in(size_t pages)
{
	return (size_t)1 << (63 - __builtin_clzll(pages));
}

static void note(struct take *take, size_t pages, const gpumem_page *page,
		 size_t count)
{
	const struct gm_area *area = &take->missing.area[take->area];

	for (size_t i = 0; i < count; i++) {
		take->takes->take[take->takes->count++] =
			(struct gm_taken){.start = area->start + take->done,
					  .pages = pages,
					  .page = page[i]};
		take->done += pages * take->heap->page_bytes;
	}
	if (take->done == area->bytes) {
		take->area++;
		take->done = 0;
	}
}

/* Goes on where it ended. The largest that a driver has no room for may go in
 * smaller ones. */
static gpumem_status take_all(struct take *take)
{
	gpumem_status status = GPUMEM_OK;

	while (status == GPUMEM_OK && take->area < take->missing.count) {
		const struct gm_area *area = &take->missing.area[take->area];
		size_t left =
			(area->bytes - take->done) / take->heap->page_bytes;
		size_t pages = power_in(left), made = 0, count;
		gpumem_page page[BATCH];

		if (pages > take->most_pages)
			pages = take->most_pages;
		count = left / pages < BATCH ? left / pages : BATCH;
		status = gm_away_create(take->heap, &take->attempt, pages,
					count, page, &made);
		note(take, pages, page, made);
		if ((status == GPUMEM_NO_MEMORY || status == GPUMEM_LIMIT) &&
		    pages > 1) {
			take->most_pages = pages / 2;
			status = GPUMEM_OK;
		}
	}
	return status;
}

/* ---- what helps, with nothing locked; true: try again ---- */

static bool trim_others(struct take *take, gpumem_status why)
{
	(void)why;
	take->heap->policy->helpers->trim_others(take->heap);
	return true;
}

static bool ask_program(struct take *take, gpumem_status why)
{
	return take->heap->policy->helpers->ask_program(
		take->heap, take->takes->bytes, why);
}

static bool wait_for_own(struct take *take, gpumem_status why)
{
	struct gm_heap *heap = take->heap;
	bool progress;

	(void)why;
	if (!heap->policy->wait)
		return false;
	pthread_mutex_lock(&heap->mutex);
	progress = gm_pending_wait(heap) || gm_arenas_wait(heap);
	pthread_mutex_unlock(&heap->mutex);
	return progress;
}

static bool wait_for_others(struct take *take, gpumem_status why)
{
	bool waited = false;

	return take->heap->policy->wait && why == GPUMEM_NO_MEMORY &&
	       take->heap->policy->helpers->wait_for_others(take->heap,
							    &waited) &&
	       waited;
}

static const struct {
	bool (*help)(struct take *take, gpumem_status why);
	bool again;
} helps[] = {{trim_others, false},
	     {ask_program, false},
	     {wait_for_own, true},
	     {wait_for_others, true}};

/* The pool's own free memory is of use to it only as the driver's. */
static gpumem_status climb(struct take *take)
{
	gpumem_status status = take_all(take);
	uint64_t released;
	size_t i = 0;

	while ((status == GPUMEM_NO_MEMORY || status == GPUMEM_LIMIT) &&
	       i < sizeof(helps) / sizeof(helps[0])) {
		bool helped = helps[i].help(take, status);

		i += !helped || !helps[i].again;
		take->most_pages = take->heap->space->handle_pages;
		if (!helped)
			continue;
		(void)gm_heap_trim(take->heap, 0, &released);
		status = take_all(take);
	}
	return status;
}

gpumem_status gm_take(struct gm_heap *heap, const struct gm_areas *areas,
		      struct gm_takes *takes)
{
	struct take take = {.heap = heap,
			    .takes = takes,
			    .most_pages = heap->space->handle_pages,
			    .attempt = {.beyond_soft = true}};
	gpumem_status status = find_missing(&take, areas);
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	if (status == GPUMEM_OK)
		status = make_room(&take);
	if (status == GPUMEM_OK)
		status = climb(&take);
	gm_areas_free(&take.missing);
	takes->device_limit = take.attempt.device_limited;
	if (status == GPUMEM_OK)
		return GPUMEM_OK;
	gm_error_get(&error);
	gm_take_undo(heap, takes);
	gm_error_set(&error);
	return status;
}

void gm_take_undo(struct gm_heap *heap, struct gm_takes *takes)
{
	for (size_t i = 0; i < takes->count; i++)
		if (!takes->take[i].mapped)
			gm_away_return(heap, takes->take[i].pages,
				       takes->take[i].page);
	free(takes->take);
	*takes = (struct gm_takes){.bytes = takes->bytes,
				   .device_limit = takes->device_limit};
}
