/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See regions.h. Ranges are collected as they come and merged when there is no
 * room for more; where that does not make half of it free, room grows.
 */
#include "regions.h"

#include <stdlib.h>

enum { FIRST_ROOM = 4096 };

static int compare(const void *a, const void *b)
{
	const struct region *one = a, *other = b;

	return (one->begin > other->begin) - (one->begin < other->begin);
}

void regions_merge(struct regions *regions)
{
	struct region *list = regions->list;
	size_t last = 0;

	if (!regions->count)
		return;
	qsort(list, regions->count, sizeof(*list), compare);
	for (size_t i = 1; i < regions->count; i++)
		if (list[i].begin > list[last].last &&
		    list[i].begin - list[last].last > 1)
			list[++last] = list[i];
		else if (list[i].last > list[last].last)
			list[last].last = list[i].last;
	regions->count = last + 1;
}

static bool make_room(struct regions *regions)
{
	size_t room = regions->room ? regions->room * 2 : FIRST_ROOM;
	struct region *list;

	if (regions->count < regions->room)
		return true;
	regions_merge(regions);
	if (regions->count < regions->room / 2)
		return true;
	list = realloc(regions->list, room * sizeof(*list));
	if (!list)
		return false;
	regions->list = list;
	regions->room = room;
	return true;
}

bool regions_add(struct regions *regions, uint64_t address, uint64_t bytes)
{
	uint64_t after = bytes ? bytes - 1 : 0;
	uint64_t end =
		after <= UINT64_MAX - address ? address + after : UINT64_MAX;
	struct region region = {
		.begin = address / REGIONS_UNIT * REGIONS_UNIT,
		.last = end | (REGIONS_UNIT - 1),
	};
	struct region *last =
		regions->count ? &regions->list[regions->count - 1] : NULL;

	if (last && last->begin <= region.begin && region.last <= last->last)
		return true;
	if (!make_room(regions))
		return false;
	regions->list[regions->count++] = region;
	return true;
}

void regions_free(struct regions *regions)
{
	free(regions->list);
	*regions = (struct regions){0};
}
