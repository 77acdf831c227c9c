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

static struct gm_attempt put_down(struct gm_heap *heap)
{
	struct gm_budget *budget = &heap->space->budget;
	const struct gm_attempt attempt = {.beyond_soft = budget->beyond_soft,
					   .no_wait = budget->no_wait,
					   .follows = budget->follows,
					   .searching = gm_search_pause(heap)};

	budget->beyond_soft = budget->no_wait = budget->follows = false;
	return attempt;
}

static void pick_up(struct gm_heap *heap, struct gm_attempt attempt)
{
	heap->space->budget.beyond_soft = attempt.beyond_soft;
	heap->space->budget.no_wait = attempt.no_wait;
	heap->space->budget.follows = attempt.follows;
	gm_search_resume(heap, attempt.searching);
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
	attempt = put_down(heap);
	growth->waiting++;
	while (growth->on)
		pthread_cond_wait(&growth->over, &heap->mutex);
	growth->waiting--;
	pick_up(heap, attempt);
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
	struct gm_attempt attempt = put_down(heap);

	growth->let_go = true;
	growth->flight = *flight;
	pthread_mutex_unlock(&heap->mutex);
	return attempt;
}

void gm_growth_take_up(struct gm_heap *heap, struct gm_attempt attempt)
{
	pthread_mutex_lock(&heap->mutex);
	heap->space->growth.flight = (struct gm_flight){0};
	pick_up(heap, attempt);
}
