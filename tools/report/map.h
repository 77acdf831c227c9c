/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the page's map of addresses is drawn from: every event in a few bytes,
 * and the ranges of addresses that blocks or memory ever had, without the gaps
 * between them. Each device has a stretch of its own. Old recordings do not say
 * what is mapped. No locks.
 */
#ifndef GPUMEM_TOOLS_REPORT_MAP_H
#define GPUMEM_TOOLS_REPORT_MAP_H

#include "groups.h"

#include <stdio.h>

/* A page with more events would be too large for a browser. */
enum { MAP_EVENTS = 4000000 };

/* Addresses are drawn in these. Blocks of recordings begin at multiples. */
enum { MAP_UNIT = GPUMEM_RECORD_UNIT };

/* Addresses from begin to end of a pool are units from `at` on:
 *
 *     next.at == at + (end - begin) / MAP_UNIT */
struct map_range {
	uint64_t begin, end, at;
	uint16_t pool;
};

/* Units from `begin` to `end` are a device's; all are one, of which nothing is
 * said, if there are not several.
 *
 *     next.begin == end */
struct map_device {
	char *heading; /* as group_heading() */
	uint64_t begin, end, ever_bytes;
};

/* Ranges lie by device, pool and address, apart from each other. */
struct map {
	const struct model *model;
	struct map_range *ranges;
	uint32_t *rank; /* of pools, by number: in the order of the ranges */
	size_t count;
	struct map_device *devices;
	size_t device_count;
};

/* Is there something to be drawn? */
bool map_is_there(const struct model *model);
/* False: out of memory; map_free() is right all the same. */
bool map_init(struct map *map, const struct model *model,
	      const struct groups *groups);
void map_free(struct map *map);
/* Did a block or memory ever have the address? If so, its unit. */
bool map_has(const struct map *map, uint16_t pool, uint64_t address);
uint64_t map_at(const struct map *map, uint16_t pool, uint64_t address);

/* map_events.c: the events. Of each, as numbers (numbers.h):
 *
 *     nanoseconds since the one before, kind
 *     and if it begins:     unit, bytes, stream, tag
 *         is a resize:      span, bytes
 *         ends:             span
 *         is a MAP:         the places that it ends, 0, bytes, and unless
 *                           these are 0: unit, twin or 0, from + 1 or 0
 *         is an UNMAP, or the end of a pool: the places that it ends, 0
 *         is of a pool otherwise: its first value
 *
 * Begins and resizes make spans, and MAPs places (mapped.h); one is named by
 * how many began since: the newest is 1. From is a unit. False: out of memory.
 */
bool map_put_events(FILE *out, const struct map *map);

#endif
