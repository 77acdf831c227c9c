/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See ranges.h. Two ranges are alike if they overlap, which is an order among
 * those that do not.
 */
#include "ranges.h"

#include <search.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	const struct range *one = a, *other = b;

	if (one->last < other->first)
		return -1;
	return one->first > other->last;
}

uint64_t range_last(uint64_t first, uint64_t bytes)
{
	return bytes - 1 <= UINT64_MAX - first ? first + (bytes - 1)
					       : UINT64_MAX;
}

struct range *ranges_find(const struct ranges *ranges, uint64_t first,
			  uint64_t last)
{
	const struct range wanted = {.first = first, .last = last};
	void *node = tfind(&wanted, &ranges->root, compare);

	return node ? *(struct range **)node : NULL;
}

bool ranges_add(struct ranges *ranges, struct range range)
{
	struct range *added = malloc(sizeof(*added));

	if (!added)
		return false;
	*added = range;
	if (tsearch(added, &ranges->root, compare))
		return true;
	free(added);
	return false;
}

void ranges_remove(struct ranges *ranges, struct range *range)
{
	(void)tdelete(range, &ranges->root, compare);
	free(range);
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

/* ---- each of them ---- */

struct visit {
	void (*fn)(const struct range *range, void *user);
	void *user;
};

static void visit_node(const void *node, VISIT which, void *user)
{
	const struct visit *visit = user;

	if (which == postorder || which == leaf)
		visit->fn(*(struct range *const *)node, visit->user);
}

void ranges_visit(const struct ranges *ranges,
		  void (*fn)(const struct range *range, void *user), void *user)
{
	struct visit visit = {.fn = fn, .user = user};

	twalk_r(ranges->root, visit_node, &visit);
}

void ranges_free(struct ranges *ranges)
{
	tdestroy(ranges->root, free);
	ranges->root = NULL;
}
