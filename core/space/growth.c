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

bool gm_growth_begin(struct gm_heap *heap)
{
	struct gm_growth *growth = &heap->space->growth;

	if (!growth->on) {
		growth->on = true;
		growth->let_go = false;
		return true;
	}
	growth->waiting++;
	while (growth->on)
		pthread_cond_wait(&growth->over, &heap->mutex);
	growth->waiting--;
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

void gm_growth_let_go(struct gm_heap *heap, const struct gm_flight *flight)
{
	struct gm_growth *growth = &heap->space->growth;

	growth->let_go = true;
	growth->flight = *flight;
	pthread_mutex_unlock(&heap->mutex);
}

void gm_growth_take_up(struct gm_heap *heap, struct gm_attempt *attempt)
{
	pthread_mutex_lock(&heap->mutex);
	heap->space->growth.flight = (struct gm_flight){0};
	gm_search_renew(heap, attempt);
}
