/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See ranges.h. A leaf is found by halving, or is the same as before; one that
 * is full becomes two.
 */
#include "ranges.h"

#include <stdlib.h>
#include <string.h>

uint64_t range_last(uint64_t first, uint64_t bytes)
{
	return bytes - 1 <= UINT64_MAX - first ? first + (bytes - 1)
					       : UINT64_MAX;
}

/* ---- leaves ---- */

static bool is_in(const struct ranges *ranges, size_t leaf, uint64_t address)
{
	return leaf < ranges->count && ranges->from[leaf] <= address &&
	       (leaf + 1 == ranges->count || address < ranges->from[leaf + 1]);
}

/* Where an address is if it is in any; there is one. */
static size_t find_leaf(struct ranges *ranges, uint64_t address)
{
	size_t low = 0, high = ranges->count;

	if (is_in(ranges, ranges->last, address))
		return ranges->last;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (ranges->from[middle] <= address)
			low = middle;
		else
			high = middle;
	}
	ranges->last = low;
	return low;
}

/* The first range of a leaf that does not end before the address. */
static uint32_t find_in(const struct ranges_leaf *leaf, uint64_t address)
{
	uint32_t low = 0, high = leaf->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (leaf->list[middle].last < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool make_room(struct ranges *ranges)
{
	size_t room = ranges->room ? ranges->room * 2 : 16;
	struct ranges_leaf **leaf;
	uint64_t *from;

	if (ranges->count < ranges->room)
		return true;
	leaf = realloc(ranges->leaf, room * sizeof(*leaf));
	if (!leaf)
		return false;
	ranges->leaf = leaf;
	from = realloc(ranges->from, room * sizeof(*from));
	if (!from)
		return false;
	ranges->from = from;
	ranges->room = room;
	return true;
}

/* Moves the leaves from there on by one place, up or down. */
static void move_leaves(struct ranges *ranges, size_t at, int by)
{
	size_t count = ranges->count - at;

	memmove(&ranges->leaf[at + (by > 0)], &ranges->leaf[at + (by < 0)],
		(count - (by < 0)) * sizeof(*ranges->leaf));
	memmove(&ranges->from[at + (by > 0)], &ranges->from[at + (by < 0)],
		(count - (by < 0)) * sizeof(*ranges->from));
	ranges->count += (size_t)by;
}

/* An empty one in that place, which the caller fills. */
static struct ranges_leaf *new_leaf(struct ranges *ranges, size_t at)
{
	struct ranges_leaf *leaf;

	if (!make_room(ranges))
		return NULL;
	leaf = malloc(sizeof(*leaf));
	if (!leaf)
		return NULL;
	leaf->count = 0;
	move_leaves(ranges, at, 1);
	ranges->leaf[at] = leaf;
	return leaf;
}

/* The part from there on becomes a leaf of its own: half of it, or nothing
 * where addresses only grow. */
static bool split(struct ranges *ranges, size_t at, uint32_t place,
		  uint64_t first)
{
	uint32_t stays = place == RANGES_OF_LEAF ? place : RANGES_OF_LEAF / 2;
	struct ranges_leaf *leaf = ranges->leaf[at];
	struct ranges_leaf *more = new_leaf(ranges, at + 1);

	if (!more)
		return false;
	more->count = leaf->count - stays;
	memcpy(more->list, &leaf->list[stays],
	       more->count * sizeof(*more->list));
	leaf->count = stays;
	ranges->from[at + 1] = more->count ? more->list[0].first : first;
	return true;
}

/* ---- ranges ---- */

struct range *ranges_find(struct ranges *ranges, uint64_t first, uint64_t last)
{
	struct ranges_leaf *leaf;
	struct range *found;
	uint32_t place;
	size_t at;

	if (!ranges->count)
		return NULL;
	at = find_leaf(ranges, first);
	leaf = ranges->leaf[at];
	place = find_in(leaf, first);
	if (place < leaf->count)
		found = &leaf->list[place];
	else if (at + 1 < ranges->count)
		found = &ranges->leaf[at + 1]->list[0];
	else
		return NULL;
	return found->first <= last ? found : NULL;
}

bool ranges_add(struct ranges *ranges, struct range range)
{
	struct ranges_leaf *leaf;
	uint32_t place;
	size_t at = 0;

	if (!ranges->count) {
		if (!new_leaf(ranges, 0))
			return false;
		ranges->from[0] = range.first;
	}
	at = find_leaf(ranges, range.first);
	place = find_in(ranges->leaf[at], range.first);
	if (ranges->leaf[at]->count == RANGES_OF_LEAF) {
		if (!split(ranges, at, place, range.first))
			return false;
		at = find_leaf(ranges, range.first);
		place = find_in(ranges->leaf[at], range.first);
	}
	leaf = ranges->leaf[at];
	memmove(&leaf->list[place + 1], &leaf->list[place],
		(leaf->count - place) * sizeof(range));
	leaf->list[place] = range;
	leaf->count++;
	if (range.first < ranges->from[at])
		ranges->from[at] = range.first;
	/* The next leaf may have begun where nothing is any more. */
	if (at + 1 < ranges->count && ranges->from[at + 1] <= range.last)
		ranges->from[at + 1] = ranges->leaf[at + 1]->list[0].first;
	return true;
}

void ranges_remove(struct ranges *ranges, struct range *range)
{
	size_t at = find_leaf(ranges, range->first);
	struct ranges_leaf *leaf = ranges->leaf[at];

	leaf->count--;
	memmove(range, range + 1,
		(size_t)(&leaf->list[leaf->count] - range) * sizeof(*range));
	if (leaf->count)
		return;
	free(leaf);
	move_leaves(ranges, at, -1);
}

/* Of one that overlaps it, what lies outside stays. */
static bool cut_one(struct ranges *ranges, struct range *range, uint64_t first,
		    uint64_t last)
{
	struct range behind = *range;

	behind.first = last + 1;
	if (range->first >= first && range->last <= last) {
		ranges_remove(ranges, range);
		return true;
	}
	if (range->first >= first) {
		range->first = last + 1;
		return true;
	}
	range->last = first - 1;
	return behind.last <= last || ranges_add(ranges, behind);
}

bool ranges_cut(struct ranges *ranges, uint64_t first, uint64_t last,
		uint64_t *bytes_out)
{
	struct range *range;

	*bytes_out = 0;
	while ((range = ranges_find(ranges, first, last))) {
		uint64_t from = range->first > first ? range->first : first;
		uint64_t to = range->last < last ? range->last : last;

		*bytes_out += to - from + 1;
		if (!cut_one(ranges, range, first, last))
			return false;
	}
	return true;
}

bool ranges_replace(struct ranges *ranges, struct range range,
		    uint64_t *greatest_out)
{
	struct range *other;

	*greatest_out = 0;
	while ((other = ranges_find(ranges, range.first, range.last))) {
		if (other->value > *greatest_out)
			*greatest_out = other->value;
		if (!cut_one(ranges, other, range.first, range.last))
			return false;
	}
	return ranges_add(ranges, range);
}

/* ---- all of them ---- */

void ranges_visit(const struct ranges *ranges,
		  void (*fn)(const struct range *range, void *user), void *user)
{
	for (size_t i = 0; i < ranges->count; i++)
		for (uint32_t j = 0; j < ranges->leaf[i]->count; j++)
			fn(&ranges->leaf[i]->list[j], user);
}

void ranges_free(struct ranges *ranges)
{
	for (size_t i = 0; i < ranges->count; i++)
		free(ranges->leaf[i]);
	free(ranges->leaf);
	free(ranges->from);
	*ranges = (struct ranges){0};
}
