/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The handles that growth takes, from the cheapest source on: spare ones; those
 * of free extents, as far as new ones would be waste; new ones; those of free
 * extents after all, completed ones before those that the stream lends to
 * itself. Where to map them is pages.c's business. See space.h.
 */
#include "handle.h"
#include "base/error.h"

#include <string.h>

/* So many are created at a time. */
enum { CREATE_COUNT = 64 };

/* What was ours fills handles[] from the front on, what is new from the back.
 *
 *     missing + the pages of all these handles == need->pages
 */
struct supply {
	const struct gm_need *need;
	struct gm_handle *handles;
	size_t ours, fresh; /* handles */
	size_t missing;	    /* pages */
};

static void add_ours(struct supply *supply, size_t count)
{
	for (size_t i = 0; i < count; i++)
		supply->missing -= supply->handles[supply->ours++].pages;
}

static void take_spare(struct gm_heap *heap, struct supply *supply)
{
	struct gm_space *space = heap->space;

	for (size_t i = space->spare_count; i-- > 0;) {
		if (space->spare[i].pages > supply->missing)
			continue;
		supply->handles[supply->ours] = gm_spare_take(space, i);
		add_ours(supply, 1);
	}
}

static void steal(struct gm_heap *heap, struct supply *supply, size_t want,
		  size_t more)
{
	add_ours(supply, gm_handles_steal(heap, supply->need, want, more,
					  supply->handles + supply->ours));
}

static void lend(struct gm_heap *heap, struct supply *supply, size_t want)
{
	add_ours(supply, gm_handles_lend(heap, supply->need, want,
					 supply->handles + supply->ours));
}

/* Where little is missing, the stock is filled up at the same time. */
static size_t restock(const struct gm_heap *heap, size_t want)
{
	size_t stock = gm_spare_stock(heap), have = heap->space->spare_pages;

	return want <= stock && have < stock ? stock - have : 0;
}

/* Without the mutex, if this is a growth that may and has lent nothing. */
static gpumem_status ask(struct gm_heap *heap, const struct supply *supply,
			 uint64_t bytes, gpumem_page *page, size_t count,
			 size_t *made_out)
{
	const struct gm_flight flight = {
		.creating_bytes = count * bytes,
		.pages = supply->need->pages - supply->missing,
		.handles = supply->ours + supply->fresh};
	bool lets_go = supply->need->lets_go && !heap->space->stale.lending;
	gpumem_status status;

	if (lets_go)
		gm_growth_let_go(heap, &flight);
	status = gm_driver_page_create(&heap->driver, bytes, page, count,
				       made_out);
	if (lets_go)
		gm_growth_take_up(heap, supply->need->attempt);
	return status;
}

/* `count` new handles of so many pages each. */
static gpumem_status create_some(struct gm_heap *heap, struct supply *supply,
				 size_t count, size_t pages)
{
	size_t bytes = pages * heap->page_bytes, made = 0;
	gpumem_page page[CREATE_COUNT];
	gpumem_status status =
		gm_budget_answer(supply->need->attempt,
				 ask(heap, supply, bytes, page, count, &made));

	for (size_t i = 0; i < made; i++) {
		size_t at = supply->need->pages - ++supply->fresh;

		supply->handles[at] =
			(struct gm_handle){.page = page[i], .pages = pages};
	}
	supply->missing -= made * pages;
	gm_budget_reserve(heap, made * bytes, made);
	if (status == GPUMEM_NO_MEMORY)
		gm_budget_refuse(heap);
	return status;
}

/* The largest that a driver has no room for may go in smaller ones. */
static gpumem_status create(struct gm_heap *heap, struct supply *supply)
{
	size_t pages = supply->need->handle_pages;
	gpumem_status status = GPUMEM_OK;

	if (!pages)
		pages = gm_price_handle_pages(heap, supply->need->attempt,
					      supply->need->pages);
	while (supply->missing && pages) {
		uint64_t room = gm_limit_room(heap, supply->need->attempt) /
				heap->page_bytes;
		size_t count = supply->missing / pages;

		if (count > room / pages)
			count = (size_t)(room / pages);
		if (count > CREATE_COUNT)
			count = CREATE_COUNT;
		if (count)
			status = create_some(heap, supply, count, pages);
		if (status != GPUMEM_OK && status != GPUMEM_NO_MEMORY)
			return status;
		if (!count || status != GPUMEM_OK)
			pages /= 2;
	}
	if (supply->missing && status == GPUMEM_OK)
		status = gm_limit_check(heap, supply->need->attempt,
					heap->page_bytes);
	return status;
}

/* How many pages may be new before memory would be wasted. */
static size_t below(const struct gm_heap *heap, uint64_t target)
{
	uint64_t reserved = heap->counters.reserved.current;

	return target > reserved ? (target - reserved) / heap->page_bytes : 0;
}

static size_t allowed(const struct gm_heap *heap, const struct gm_need *need)
{
	return below(heap, gm_budget_target(heap, need->bytes));
}

/* Has a stream other than the lender's free memory? */
static bool others_have(const struct gm_heap *heap,
			const struct gm_arena *lender)
{
	const struct gm_arena *arena = gm_arena_stocked(heap);

	while (arena && gm_arenas_in_order(arena, lender))
		arena = gm_arena_stocked_after(arena);
	return arena;
}

/* How many pages more than that the stream is to get from others first, as far
 * as it can lend them to itself then. */
static size_t missing_of_others(struct gm_heap *heap,
				const struct supply *supply)
{
	const struct gm_attempt *attempt = supply->need->attempt;
	size_t fresh = below(heap, gm_budget_stream_target(
					   heap, attempt, supply->need->bytes));

	if (!attempt->follows || !supply->need->lender ||
	    supply->missing <= fresh || gm_capture_forbids(heap, attempt) ||
	    !(others_have(heap, supply->need->lender) ||
	      heap->order->pending.count))
		return 0;
	return gm_stale_room(heap, attempt, supply->missing - fresh);
}

/* A handle that is too large to be moved is given back instead: what is missing
 * is created anew, and takes less. */
static gpumem_status save(struct gm_heap *heap, struct supply *supply)
{
	size_t fresh = allowed(heap, supply->need), want, broken;
	struct gm_attempt *attempt = supply->need->attempt;

	/* No other's memory would serve better than the lender's own: to lend
	 * what has completed as well saves the unmapping, of which there is
	 * less by and by (stale.h). */
	if (supply->missing > fresh && supply->need->lender &&
	    !others_have(heap, supply->need->lender))
		lend(heap, supply, supply->missing - fresh);
	if (supply->missing > fresh) {
		want = supply->missing - fresh;
		steal(heap, supply, want, restock(heap, want));
	}
	if (supply->missing > fresh)
		lend(heap, supply, supply->missing - fresh);
	attempt->short_places = attempt->waits && supply->need->lender &&
				supply->missing > fresh &&
				gm_stale_left(heap) < supply->missing - fresh;
	if (attempt->short_places)
		return gm_fail(GPUMEM_LIMIT, "too many pages are mapped twice "
					     "until work is over");
	attempt->short_pages = missing_of_others(heap, supply);
	if (attempt->short_pages)
		return gm_fail(GPUMEM_LIMIT, "more would be unused than option "
					     "`stream_waste` allows");
	while (supply->missing > fresh &&
	       (broken = gm_handles_break(heap, supply->need)))
		fresh += broken;
	return GPUMEM_OK;
}

/* What was created goes back; where a capture forbids that it stays, as spare.
 */
static void undo(struct gm_heap *heap, const struct supply *supply)
{
	const struct gm_handle *made =
		supply->handles + supply->need->pages - supply->fresh;

	gm_stale_undo(heap, SIZE_MAX);
	for (size_t i = 0; i < supply->ours; i++)
		if (!supply->handles[i].lent)
			gm_spare_give(heap, &supply->handles[i], 1);
	if (gm_capture_forbids(heap, supply->need->attempt))
		gm_spare_give(heap, made, supply->fresh);
	else
		(void)gm_handles_destroy(heap, supply->need->attempt, made,
					 supply->fresh);
}

static bool may_help(gpumem_status status)
{
	return status == GPUMEM_NO_MEMORY || status == GPUMEM_LIMIT;
}

gpumem_status gm_handles_supply(struct gm_heap *heap,
				const struct gm_need *need,
				struct gm_handle *handles, size_t *count_out)
{
	struct supply supply = {
		.need = need, .handles = handles, .missing = need->pages};
	struct gm_first first = {0};

	take_spare(heap, &supply);
	gm_first_keep(&first, save(heap, &supply));
	if (first.status != GPUMEM_OK) {
		undo(heap, &supply);
		return gm_first_end(&first);
	}
	gm_first_keep(&first, create(heap, &supply));
	/* What is asked and given back from here on may fail too, and is not
	 * why. */
	if (supply.missing)
		steal(heap, &supply, supply.missing, 0);
	if (supply.missing)
		lend(heap, &supply, supply.missing);
	if (supply.missing && may_help(first.status) &&
	    gm_handles_break(heap, need)) {
		first.status = GPUMEM_OK;
		gm_first_keep(&first, create(heap, &supply));
	}
	if (supply.missing) {
		undo(heap, &supply);
		return gm_first_end(&first);
	}
	memmove(handles + supply.ours, handles + need->pages - supply.fresh,
		supply.fresh * sizeof(*handles));
	need->attempt->made_of =
		supply.ours ? GPUMEM_SERVED_MOVED : GPUMEM_SERVED_DRIVER;
	*count_out = supply.ours + supply.fresh;
	return GPUMEM_OK;
}
