/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory from the driver for pages that are away, and back to it: each batch is
 * a growth of its own, so that what is asked for counts for the limit, and what
 * has come is in away.taken_bytes until it is in the table. See away.h.
 */
#include "away.h"
#include "handle.h"

/* Within the growth. */
static gpumem_status create(struct gm_heap *heap, struct gm_attempt *attempt,
			    size_t pages, size_t count, gpumem_page *page,
			    size_t *made)
{
	size_t bytes = pages * heap->page_bytes;
	uint64_t room = gm_limit_room(heap, attempt) / bytes;
	struct gm_away *away = &heap->space->away;
	struct gm_flight flight;
	gpumem_status status;

	if (!room)
		return gm_limit_check(heap, attempt, bytes);
	if (count > room)
		count = (size_t)room;
	flight = (struct gm_flight){.creating_bytes = count * bytes};
	gm_growth_let_go(heap, &flight);
	status = gm_driver_page_create(&heap->driver, bytes, page, count, made);
	gm_growth_take_up(heap, attempt);
	gm_budget_reserve(heap, *made * bytes, *made);
	away->taken_bytes += *made * bytes;
	away->taken_handles += *made;
	return gm_budget_answer(attempt, status);
}

gpumem_status gm_away_create(struct gm_heap *heap, struct gm_attempt *attempt,
			     size_t pages, size_t count, gpumem_page *page,
			     size_t *made_out)
{
	struct gm_gate *gate = heap->driver.device->gate;
	gpumem_status status;

	*made_out = 0;
	pthread_mutex_lock(&heap->mutex);
	while (!gm_growth_begin(heap))
		;
	gm_gate_enter(gate);
	status = create(heap, attempt, pages, count, page, made_out);
	gm_gate_leave(gate);
	gm_growth_end(heap);
	pthread_mutex_unlock(&heap->mutex);
	return status;
}

void gm_away_return(struct gm_heap *heap, size_t pages, gpumem_page page)
{
	struct gm_away *away = &heap->space->away;
	size_t bytes = pages * heap->page_bytes, done = 0;
	const struct gm_handle kept = {.page = page, .pages = pages};
	gpumem_status status =
		gm_driver_page_destroy(&heap->driver, bytes, &page, 1, &done);

	pthread_mutex_lock(&heap->mutex);
	if (status != GPUMEM_OK)
		status = gm_spare_room(heap, 1);
	if (status == GPUMEM_OK) {
		away->taken_bytes -= bytes;
		away->taken_handles--;
	}
	if (done)
		gm_budget_unreserve(heap, bytes, 1);
	else if (status == GPUMEM_OK)
		gm_spare_give(heap, &kept, 1);
	pthread_mutex_unlock(&heap->mutex);
}
