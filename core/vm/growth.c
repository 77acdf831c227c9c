/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See growth.h. */
#include "growth.h"
#include "space.h"
#include "order/order.h"

void gm_growth_init(struct gm_heap *heap)
{
	pthread_cond_init(&heap->space->growth.over, NULL);
}

void gm_growth_fini(struct gm_heap *heap)
{
	pthread_cond_destroy(&heap->space->growth.over);
}

struct gm_attempt gm_growth_pause(struct gm_heap *heap)
{
	struct gm_budget *budget = &heap->space->budget;
	const struct gm_attempt attempt = {.beyond_soft = budget->beyond_soft,
					   .no_wait = budget->no_wait,
					   .follows = budget->follows,
					   .waits = budget->waits,
					   .drained = budget->drained,
					   .device_limited =
						   budget->device_limited,
					   .search = gm_search_pause(heap)};

	budget->beyond_soft = budget->no_wait = false;
	budget->follows = budget->waits = budget->drained = false;
	budget->device_limited = false;
	return attempt;
}

void gm_growth_resume(struct gm_heap *heap, struct gm_attempt attempt)
{
	heap->space->budget.beyond_soft = attempt.beyond_soft;
	heap->space->budget.no_wait = attempt.no_wait;
	heap->space->budget.follows = attempt.follows;
	heap->space->budget.waits = attempt.waits;
	heap->space->budget.drained = attempt.drained;
	heap->space->budget.device_limited = attempt.device_limited;
	gm_search_resume(heap, attempt.search);
}

bool gm_growth_begin(struct gm_heap *heap)
{
	struct gm_growth *growth = &heap->space->growth;
	struct gm_attempt attempt;

	if (!growth->on) {
		growth->on = true;
		growth->let_go = false;
		return true;
	}
	attempt = gm_growth_pause(heap);
	growth->waiting++;
	while (growth->on)
		pthread_cond_wait(&growth->over, &heap->mutex);
	growth->waiting--;
	gm_growth_resume(heap, attempt);
	return false;
}

void gm_growth_end(struct gm_heap *heap)
{
	struct gm_growth *growth = &heap->space->growth;

	growth->on = false;
	growth->spare_count = 0;
	if (growth->waiting)
		pthread_cond_broadcast(&growth->over);
}

bool gm_growth_none(const struct gm_heap *heap)
{
	const struct gm_growth *growth = &heap->space->growth;

	return !growth->on && !growth->waiting;
}

uint64_t gm_growth_bytes(const struct gm_heap *heap)
{
	const struct gm_flight *flight = &heap->space->growth.flight;

	return (uint64_t)(flight->pages + flight->mapped_pages) *
	       heap->page_bytes;
}

struct gm_attempt gm_growth_let_go(struct gm_heap *heap,
				   const struct gm_flight *flight)
{
	struct gm_growth *growth = &heap->space->growth;
	struct gm_attempt attempt = gm_growth_pause(heap);

	growth->let_go = true;
	growth->flight = *flight;
	pthread_mutex_unlock(&heap->mutex);
	return attempt;
}

void gm_growth_take_up(struct gm_heap *heap, struct gm_attempt attempt)
{
	pthread_mutex_lock(&heap->mutex);
	heap->space->growth.flight = (struct gm_flight){0};
	gm_growth_resume(heap, attempt);
}
