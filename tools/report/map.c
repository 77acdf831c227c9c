/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See map.h.
 */
#include "map.h"

#include "trace/regions.h"

#include <stdlib.h>

bool map_is_there(const struct model *model)
{
	return model->has_addresses &&
	       (model->count || model_has_places(model)) &&
	       model->summary.all.events <= MAP_EVENTS;
}

static bool add(struct regions *pools, uint16_t pool, uint64_t address,
		uint64_t bytes)
{
	return regions_add(&pools[pool], address, bytes);
}

static bool add_all(struct regions *pools, const struct model *model)
{
	for (size_t i = 0; i < model->count; i++)
		if (!add(pools, model->spans[i].pool, model->spans[i].address,
			 model->spans[i].bytes))
			return false;
	for (size_t i = 0; i < model->mapped.count; i++) {
		const struct mapped_place *place = &model->mapped.places[i];

		if (!add(pools, place->pool, place->address, place->bytes))
			return false;
	}
	return true;
}

/* What follows the ranges that are there. */
static void take_regions(struct map *map, const struct regions *regions,
			 uint16_t pool)
{
	const struct map_range *last =
		map->count ? &map->ranges[map->count - 1] : NULL;
	uint64_t at =
		last ? last->at + (last->end - last->begin) / MAP_UNIT : 0;

	for (size_t i = 0; i < regions->count; i++) {
		map->ranges[map->count++] =
			(struct map_range){.begin = regions->list[i].begin,
					   .end = regions->list[i].last + 1,
					   .at = at,
					   .pool = pool};
		at += (regions->list[i].last - regions->list[i].begin + 1) /
		      MAP_UNIT;
	}
}

static bool take_pools(struct map *map, struct regions *pools)
{
	size_t count = 0;

	for (unsigned i = 0; i < SUMMARY_POOLS; i++) {
		regions_merge(&pools[i]);
		count += pools[i].count;
	}
	map->ranges = calloc(count + 1, sizeof(*map->ranges));
	if (!map->ranges)
		return false;
	for (unsigned i = 0; i < SUMMARY_POOLS; i++)
		take_regions(map, &pools[i], (uint16_t)i);
	return true;
}

bool map_init(struct map *map, const struct model *model)
{
	struct regions *pools = calloc(SUMMARY_POOLS, sizeof(*pools));
	bool ok = pools && add_all(pools, model);

	*map = (struct map){.model = model};
	ok = ok && take_pools(map, pools);
	for (unsigned i = 0; i < SUMMARY_POOLS && pools; i++)
		regions_free(&pools[i]);
	free(pools);
	return ok;
}

void map_free(struct map *map)
{
	free(map->ranges);
	map->ranges = NULL;
}

/* The last one that begins at or before an address; the first, if none does. */
static const struct map_range *range_of(const struct map *map, uint16_t pool,
					uint64_t inside)
{
	size_t low = 0, high = map->count;
	const struct map_range *range;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		range = &map->ranges[middle];
		if (range->pool < pool ||
		    (range->pool == pool && range->begin <= inside))
			low = middle;
		else
			high = middle;
	}
	return &map->ranges[low];
}

bool map_has(const struct map *map, uint16_t pool, uint64_t address)
{
	const struct map_range *range = range_of(map, pool, address);

	return range->pool == pool && range->begin <= address &&
	       address - range->begin < range->end - range->begin;
}

uint64_t map_at(const struct map *map, uint16_t pool, uint64_t address)
{
	const struct map_range *range = range_of(map, pool, address);

	return range->at + (address - range->begin) / MAP_UNIT;
}
