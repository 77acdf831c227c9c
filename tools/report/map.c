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

static uint64_t end_of(const struct map *map)
{
	const struct map_range *last =
		map->count ? &map->ranges[map->count - 1] : NULL;

	return last ? last->at + (last->end - last->begin) / MAP_UNIT : 0;
}

/* What follows the ranges that are there. */
static void take_regions(struct map *map, const struct regions *regions,
			 uint16_t pool)
{
	uint64_t at = end_of(map);

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

/* The pools of a device; those of all without `only`. */
static void take_pools(struct map *map, struct map_device *device,
		       const struct regions *pools, const bool *only,
		       uint32_t *ranks)
{
	device->begin = end_of(map);
	for (unsigned i = 0; i < SUMMARY_POOLS; i++) {
		if (only && !only[i])
			continue;
		map->rank[i] = (*ranks)++;
		take_regions(map, &pools[i], (uint16_t)i);
	}
	device->end = end_of(map);
}

static bool take_device(struct map *map, const struct regions *pools,
			const struct groups *groups, const struct group *group,
			uint32_t *ranks)
{
	struct map_device *device = &map->devices[map->device_count++];
	bool *only = group_pools(groups, group);
	bool ok = only &&
		  mapped_ever(&map->model->mapped, only, &device->ever_bytes);

	device->heading = group_heading(groups, group);
	ok = ok && device->heading;
	if (ok)
		take_pools(map, device, pools, only, ranks);
	free(only);
	/* Nothing of it ever had an address. */
	if (ok && device->begin == device->end) {
		free(device->heading);
		map->device_count--;
	}
	return ok;
}

/* One that needs no name. */
static void take_whole(struct map *map, const struct regions *pools,
		       uint32_t *ranks)
{
	map->devices->ever_bytes = map->model->mapped.ever_bytes;
	map->device_count = 1;
	take_pools(map, map->devices, pools, NULL, ranks);
}

static bool take_all(struct map *map, struct regions *pools,
		     const struct groups *groups)
{
	size_t count = 0;
	uint32_t ranks = 0;

	for (unsigned i = 0; i < SUMMARY_POOLS; i++) {
		regions_merge(&pools[i]);
		count += pools[i].count;
	}
	map->ranges = calloc(count + 1, sizeof(*map->ranges));
	map->rank = calloc(SUMMARY_POOLS, sizeof(*map->rank));
	map->devices = calloc(groups->count + 1, sizeof(*map->devices));
	if (!map->ranges || !map->rank || !map->devices)
		return false;
	if (!groups_has_devices(groups))
		take_whole(map, pools, &ranks);
	for (size_t i = groups->pools; i < groups->count; i++)
		if (!take_device(map, pools, groups, &groups->list[i], &ranks))
			return false;
	return true;
}

bool map_init(struct map *map, const struct model *model,
	      const struct groups *groups)
{
	struct regions *pools = calloc(SUMMARY_POOLS, sizeof(*pools));
	bool ok = pools && add_all(pools, model);

	*map = (struct map){.model = model};
	ok = ok && take_all(map, pools, groups);
	for (unsigned i = 0; i < SUMMARY_POOLS && pools; i++)
		regions_free(&pools[i]);
	free(pools);
	return ok;
}

void map_free(struct map *map)
{
	for (size_t i = 0; i < map->device_count; i++)
		free(map->devices[i].heading);
	free(map->devices);
	free(map->ranges);
	free(map->rank);
	*map = (struct map){0};
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
		if (map->rank[range->pool] < map->rank[pool] ||
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
