/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which addresses have memory, and which, by the events MAP and UNMAP of a
 * recording, as gpumem/record.h has it; and what contradicts itself or the
 * blocks. The test program includes this once. The main thread only.
 */
#ifndef LIB_PLACES_H
#define LIB_PLACES_H

#include "record.h"

enum { PLACES = 16384 };

struct place {
	uint64_t address, bytes, page, from;
};

/* In the order in which they were mapped. */
struct places {
	struct place of[PLACES];
	size_t count;
	/* What went wrong, and what there was. */
	size_t bad, outside, on_stale;
	size_t maps, unmaps, again, most_stale;
	uint64_t moved, told, twice, largest;
};

static struct places now;

static bool is_stale(const struct places *places, size_t at)
{
	for (size_t i = at + 1; i < places->count; i++)
		if (places->of[at].page &&
		    places->of[i].page == places->of[at].page)
			return true;
	return false;
}

static uint64_t sum(const struct places *places, bool stale)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < places->count; i++)
		if (!stale || is_stale(places, i))
			bytes += places->of[i].bytes;
	return bytes;
}

static bool overlap(const struct place *place, uint64_t address, uint64_t bytes)
{
	return place->address < address + bytes &&
	       address < place->address + place->bytes;
}

/* Where the page was mapped last, in this recording. Something else may be
 * there by now: between its end there and its beginning here another thread has
 * had the mutex. */
static uint64_t address_before(const struct recording *recording,
			       const struct rec *event, uint64_t page)
{
	while (event-- > recording->event)
		if (event->kind == GPUMEM_RECORD_MAP && event->value[2] == page)
			return event->value[0];
	return 0;
}

static void add_place(const struct recording *recording,
		      const struct rec *event)
{
	const struct place place = {event->value[0], event->value[1],
				    event->value[2], event->value[3]};
	bool moved = place.from && place.from != place.address, again = false;

	now.maps++;
	now.bad += event->values != 4 || !place.address || !place.bytes;
	for (size_t i = 0; i < now.count; i++) {
		now.bad += overlap(&now.of[i], place.address, place.bytes);
		if (!place.page || now.of[i].page != place.page)
			continue;
		now.bad += !place.from || now.of[i].bytes != place.bytes;
		again = true;
	}
	now.again += again;
	now.twice += again ? place.bytes : 0;
	now.bad += moved &&
		   address_before(recording, event, place.page) != place.from;
	now.moved += moved ? place.bytes : 0;
	if (now.count == PLACES)
		bail("more than %d places", PLACES);
	now.of[now.count++] = place;
	if (now.twice > now.most_stale)
		now.most_stale = now.twice;
	if (place.bytes > now.largest && place.page)
		now.largest = place.bytes;
}

/* Is it the only place of its page, of the first `kept` and those from there
 * on?
 */
static bool is_last(const struct place *place, size_t kept, size_t from)
{
	for (size_t i = 0; i < now.count; i++)
		if ((i < kept || i >= from) && now.of[i].page == place->page)
			return false;
	return true;
}

/* Whole places, and nothing but places. */
static void take_places(const struct rec *event)
{
	uint64_t address = event->value[0], bytes = event->value[1];
	size_t kept = 0;

	now.unmaps++;
	now.bad += event->values != 2;
	for (size_t i = 0; i < now.count; i++) {
		const struct place place = now.of[i];

		if (!overlap(&place, event->value[0], event->value[1])) {
			now.of[kept++] = place;
			continue;
		}
		now.bad +=
			place.address < address ||
			place.address + place.bytes > address + event->value[1];
		bytes -= place.bytes;
		if (place.page && !is_last(&place, kept, i + 1))
			now.twice -= place.bytes;
	}
	now.bad += bytes != 0;
	now.count = kept;
}

static void look_at_block(const struct rec *event)
{
	uint64_t left = event->bytes;

	for (size_t i = 0; i < now.count; i++) {
		const struct place *place = &now.of[i];
		uint64_t end = event->address + event->bytes;

		if (!overlap(place, event->address, event->bytes))
			continue;
		now.on_stale += is_stale(&now, i);
		if (end > place->address + place->bytes)
			end = place->address + place->bytes;
		left -= end - (event->address > place->address
				       ? event->address
				       : place->address);
	}
	now.outside += left != 0;
}

static void replay(const struct recording *recording, bool blocks)
{
	now = (struct places){0};
	for (size_t i = 0; i < recording->count; i++) {
		const struct rec *event = &recording->event[i];

		if (event->kind == GPUMEM_RECORD_MAP)
			add_place(recording, event);
		else if (event->kind == GPUMEM_RECORD_UNMAP)
			take_places(event);
		else if (event->kind == GPUMEM_RECORD_MOVE ||
			 event->kind == GPUMEM_RECORD_LEND)
			now.told += event->value[0];
		else if (blocks && (event->kind == GPUMEM_RECORD_ALLOC ||
				    event->kind == GPUMEM_RECORD_LIVE))
			look_at_block(event);
	}
}

static int by_address(const void *a, const void *b)
{
	const struct place *one = a, *other = b;

	return (one->address > other->address) -
	       (one->address < other->address);
}

static bool same_places(struct places *one, struct places *other)
{
	bool same = one->count == other->count;

	qsort(one->of, one->count, sizeof(*one->of), by_address);
	qsort(other->of, other->count, sizeof(*other->of), by_address);
	for (size_t i = 0; i < one->count && same; i++)
		same = one->of[i].address == other->of[i].address &&
		       one->of[i].bytes == other->of[i].bytes &&
		       one->of[i].page == other->of[i].page;
	return same;
}

#endif
