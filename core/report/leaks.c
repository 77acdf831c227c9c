/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Groups of live blocks; see leaks.h. Locks: the heap's, by who is called. */
#include "leaks.h"
#include "base/error.h"
#include "base/option.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

static struct gm_leak *place_of(const struct gm_leaks *leaks, uint32_t tag,
				void *const *frames)
{
	uint64_t key = ((uintptr_t)frames + tag) * 0x9e3779b97f4a7c15u;
	size_t at = (key >> 32) & (leaks->room - 1);

	while (leaks->group[at].blocks && (leaks->group[at].tag != tag ||
					   leaks->group[at].frames != frames))
		at = (at + 1) & (leaks->room - 1);
	return &leaks->group[at];
}

static bool make_room(struct gm_leaks *leaks)
{
	struct gm_leaks larger = *leaks;

	if (leaks->count + 1 < leaks->room / 4 * 3)
		return true;
	larger.room = leaks->room ? leaks->room * 2 : FIRST_ROOM;
	larger.group = calloc(larger.room, sizeof(*larger.group));
	if (!larger.group)
		return false;
	for (size_t i = 0; i < leaks->room; i++) {
		const struct gm_leak *group = &leaks->group[i];

		if (group->blocks)
			*place_of(&larger, group->tag, group->frames) = *group;
	}
	free(leaks->group);
	*leaks = larger;
	return true;
}

/* What has no serial is older than every mark. */
static bool is_between(const struct gm_leaks *leaks, uint64_t serial)
{
	return serial >= leaks->since &&
	       (!leaks->until || serial < leaks->until);
}

static void add(struct gm_leaks *leaks, const struct gpumem_block *block)
{
	struct gm_leak *group = place_of(leaks, block->tag, block->frames);

	leaks->count += !group->blocks;
	group->tag = block->tag;
	group->frames = block->frames;
	group->frame_count = block->frame_count;
	group->blocks++;
	group->bytes += block->requested_bytes;
	if (group->oldest_ns < block->age_ns)
		group->oldest_ns = block->age_ns;
	leaks->blocks++;
	leaks->bytes += block->requested_bytes;
}

static bool look(const struct gpumem_block *block, void *user)
{
	struct gm_leaks *leaks = user;

	if (block->state != GPUMEM_BLOCK_LIVE)
		return true;
	leaks->live_blocks++;
	leaks->live_bytes += block->requested_bytes;
	leaks->unknown_blocks += !block->serial;
	if (!is_between(leaks, block->serial))
		return true;
	if (make_room(leaks))
		add(leaks, block);
	else
		leaks->failed = true;
	return !leaks->failed;
}

static int compare(const void *left, const void *right)
{
	const struct gm_leak *one = left, *other = right;

	if (one->bytes != other->bytes)
		return one->bytes < other->bytes ? 1 : -1;
	if (one->blocks != other->blocks)
		return one->blocks < other->blocks ? 1 : -1;
	return (one->tag > other->tag) - (one->tag < other->tag);
}

/* From here on the groups are the first `count`. */
static void sort(struct gm_leaks *leaks)
{
	size_t count = 0;

	for (size_t i = 0; i < leaks->room; i++)
		if (leaks->group[i].blocks)
			leaks->group[count++] = leaks->group[i];
	if (count)
		qsort(leaks->group, count, sizeof(*leaks->group), compare);
}

static gpumem_status collect(struct gpumem_pool *pool, struct gm_leaks *leaks)
{
	leaks->tracked = pool->heap.policy->tracked;
	memcpy(leaks->pool, pool->name, sizeof(leaks->pool));
	memcpy(leaks->device, pool->device->info.name, sizeof(leaks->device));
	gm_block_visit_stopped(pool, look, leaks);
	if (leaks->failed)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a report of leaks");
	sort(leaks);
	return GPUMEM_OK;
}

gpumem_status gm_leaks_collect(struct gpumem_pool *pool, struct gm_leaks *leaks)
{
	gpumem_status status;

	gm_heap_stop(&pool->heap);
	status = collect(pool, leaks);
	gm_heap_go(&pool->heap);
	return status;
}

void gm_leaks_end(struct gm_leaks *leaks)
{
	free(leaks->group);
	leaks->group = NULL;
}

gpumem_status gm_pool_print_leaks(struct gpumem_pool *pool, uint64_t since,
				  uint64_t until, bool json,
				  void (*write)(const char *text, void *user),
				  void *user)
{
	struct gm_leaks leaks = {.since = since, .until = until};
	gpumem_status status = gm_leaks_collect(pool, &leaks);

	if (status == GPUMEM_OK && (since || until) && !leaks.tracked)
		status = gm_fail(GPUMEM_INVALID,
				 "pool \"%s\" is not tracked, so nothing is "
				 "known of marks: gpumem_pool_track_begin()",
				 leaks.pool);
	if (status == GPUMEM_OK)
		gm_leaks_print(&leaks, json, write, user);
	gm_leaks_end(&leaks);
	return status;
}

void gm_pool_tell_leaks(struct gpumem_pool *pool, char *text, size_t bytes)
{
	struct gm_leaks leaks = {0};

	if (gm_leaks_collect(pool, &leaks) == GPUMEM_OK && leaks.tracked)
		gm_leaks_tell(&leaks, text, bytes);
	gm_leaks_end(&leaks);
}
