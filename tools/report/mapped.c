/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See mapped.h. Places that are mapped lie in a tree (tsearch(3)) in which
 * those that overlap are the same: so what is in the way of others is found.
 */
#include "mapped.h"

#include <search.h>
#include <stdlib.h>

/* Some memory that is mapped, at so many places. A number that comes from the
 * driver once more is another page: then the tree has that one. */
struct mapped_page {
	uint64_t number, bytes;
	size_t places, last; /* last: the place that began last */
	uint16_t pool;
	bool listed; /* it is in the tree */
};

struct live {
	uint64_t begin, end;	  /* addresses */
	struct mapped_page *page; /* NULL: a segment */
	size_t place;
	uint16_t pool;
};

static int compare_numbers(uint64_t one, uint64_t other)
{
	return (one > other) - (one < other);
}

static int compare_live(const void *a, const void *b)
{
	const struct live *one = a, *other = b;

	if (one->pool != other->pool)
		return one->pool < other->pool ? -1 : 1;
	if (one->end <= other->begin)
		return -1;
	return one->begin >= other->end;
}

/* One of another size is another one, whatever its number. */
static int compare_pages(const void *a, const void *b)
{
	const struct mapped_page *one = a, *other = b;

	if (one->pool != other->pool)
		return one->pool < other->pool ? -1 : 1;
	return one->number != other->number
		       ? compare_numbers(one->number, other->number)
		       : compare_numbers(one->bytes, other->bytes);
}

/* ---- ends ---- */

static void unlist(struct mapped *mapped, struct mapped_page *page)
{
	if (page->listed)
		(void)tdelete(page, &mapped->pages, compare_pages);
	page->listed = false;
	if (!page->places)
		free(page);
}

static void end_place(struct mapped *mapped, struct live *live, uint64_t number)
{
	struct mapped_place *place = &mapped->places[live->place];

	(void)tdelete(live, &mapped->live, compare_live);
	place->end = number;
	mapped->bytes -= place->bytes;
	if (live->page && --live->page->places)
		mapped->twice_bytes -= place->bytes;
	else if (live->page)
		unlist(mapped, live->page);
	free(live);
}

/* All of a pool that overlap the range. */
static void end_range(struct mapped *mapped, uint16_t pool, uint64_t begin,
		      uint64_t end, uint64_t number)
{
	const struct live range = {.begin = begin, .end = end, .pool = pool};
	struct live **found;

	while ((found = tfind(&range, &mapped->live, compare_live)))
		end_place(mapped, *found, number);
}

/* ---- beginnings ---- */

static void *insert(void *item, void **root,
		    int (*compare)(const void *, const void *))
{
	void *inserted = item ? tsearch(item, root, compare) : NULL;

	if (!inserted)
		free(item);
	return inserted ? item : NULL;
}

/* The page that the event is of; NULL: out of memory. */
static struct mapped_page *find_page(struct mapped *mapped,
				     const struct recording_event *event)
{
	const struct mapped_page key = {.number = event->value[2],
					.bytes = event->value[1],
					.pool = event->pool};
	struct mapped_page **found = tfind(&key, &mapped->pages, compare_pages);
	struct mapped_page *page;

	if (found && event->value[3])
		return *found;
	if (found)
		unlist(mapped, *found);
	page = malloc(sizeof(*page));
	if (page) {
		*page = key;
		page->listed = true;
	}
	return insert(page, &mapped->pages, compare_pages);
}

static bool make_room(struct mapped *mapped)
{
	size_t more = mapped->room ? mapped->room * 2 : 1024;
	struct mapped_place *places;

	if (mapped->count < mapped->room)
		return true;
	places = realloc(mapped->places, more * sizeof(*places));
	if (!places)
		return false;
	mapped->places = places;
	mapped->room = more;
	return true;
}

static bool begin_place(struct mapped *mapped,
			const struct recording_event *event, uint64_t number)
{
	uint64_t address = event->value[0], bytes = event->value[1];
	struct mapped_page *page = NULL;
	struct live *live;
	size_t twin;

	if (!make_room(mapped))
		return false;
	if (event->value[2] && !(page = find_page(mapped, event)))
		return false;
	live = malloc(sizeof(*live));
	if (live)
		*live = (struct live){.begin = address,
				      .end = address + bytes,
				      .page = page,
				      .place = mapped->count,
				      .pool = event->pool};
	if (!insert(live, &mapped->live, compare_live)) {
		if (page && !page->places)
			unlist(mapped, page);
		return false;
	}
	twin = page && page->places ? page->last : MAPPED_NONE;
	mapped->places[mapped->count] = (struct mapped_place){
		.address = address,
		.bytes = bytes,
		.from = event->value[3] != address ? event->value[3] : 0,
		.begin = number,
		.end = MAPPED_LIVE,
		.twin = twin,
		.pool = event->pool,
	};
	mapped->bytes += bytes;
	if (page) {
		mapped->twice_bytes += page->places++ ? bytes : 0;
		page->last = mapped->count;
	}
	mapped->count++;
	return true;
}

/* Blocks have no addresses beyond. So what all pools have fits in a number. */
static bool can_be(const struct recording_event *event)
{
	uint64_t address = event->value[0], bytes = event->value[1];

	return bytes && bytes <= RECORDING_BYTES_MAX &&
	       address <= RECORDING_BYTES_MAX - bytes;
}

bool mapped_add(struct mapped *mapped, const struct recording_event *event,
		uint64_t number)
{
	uint64_t address = event->value[0], end;

	if (__builtin_add_overflow(address, event->value[1], &end))
		end = UINT64_MAX;
	switch (event->kind) {
	case GPUMEM_RECORD_MAP:
		if (!can_be(event))
			return true;
		end_range(mapped, event->pool, address, end, number);
		return begin_place(mapped, event, number);
	case GPUMEM_RECORD_UNMAP:
		if (end > address)
			end_range(mapped, event->pool, address, end, number);
		return true;
	case GPUMEM_RECORD_POOL_END:
		end_range(mapped, event->pool, 0, UINT64_MAX, number);
		return true;
	default:
		return true;
	}
}

/* ---- the end ---- */

static int compare_places(const void *a, const void *b)
{
	const struct mapped_place *const *one = a, *const *other = b;

	if ((*one)->pool != (*other)->pool)
		return (*one)->pool < (*other)->pool ? -1 : 1;
	return compare_numbers((*one)->address, (*other)->address);
}

bool mapped_ever(const struct mapped *mapped, const bool *only,
		 uint64_t *bytes_out)
{
	const struct mapped_place **sorted =
		malloc((mapped->count + 1) * sizeof(*sorted));
	uint64_t end = 0;
	size_t count = 0;

	if (!sorted)
		return false;
	*bytes_out = 0;
	for (size_t i = 0; i < mapped->count; i++)
		if (!only || only[mapped->places[i].pool])
			sorted[count++] = &mapped->places[i];
	if (count)
		qsort((void *)sorted, count, sizeof(*sorted), compare_places);
	for (size_t i = 0; i < count; i++) {
		uint64_t begin = sorted[i]->address;
		uint64_t last = begin + sorted[i]->bytes;

		if (!i || sorted[i]->pool != sorted[i - 1]->pool)
			end = 0;
		if (begin < end)
			begin = end;
		*bytes_out += last > begin ? last - begin : 0;
		end = last > end ? last : end;
	}
	free((void *)sorted);
	return true;
}

bool mapped_end(struct mapped *mapped)
{
	return mapped_ever(mapped, NULL, &mapped->ever_bytes);
}

void mapped_free(struct mapped *mapped)
{
	while (mapped->live)
		end_place(mapped, *(struct live **)mapped->live, 0);
	free(mapped->places);
	*mapped = (struct mapped){0};
}
