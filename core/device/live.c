/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See live.h. One treap for everything, by (space, from), with hashes of these
 * for priorities; extent/tree.h says where that comes from. Since no two in it
 * overlap, a search for one that overlaps goes down one path.
 */
#include "live.h"
#include "claim.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct gm_live *root; /* under the mutex */

static uint64_t priority(const struct gm_live *live)
{
	uint64_t hash = (live->space ^ live->from) * 0x9e3779b97f4a7c15u;

	hash ^= hash >> 32;
	return hash * 0x9e3779b97f4a7c15u;
}

/* Below 0: a lies before b; above: behind it; 0: they overlap. */
static int compare(const struct gm_live *a, const struct gm_live *b)
{
	if (a->space != b->space)
		return a->space < b->space ? -1 : 1;
	if (a->from < b->from)
		return b->from - a->from >= a->bytes ? -1 : 0;
	return a->from - b->from >= b->bytes ? 1 : 0;
}

/* The link to one that overlaps, or NULL. */
static struct gm_live **find(const struct gm_live *live)
{
	struct gm_live **link = &root;

	while (*link) {
		int order = compare(live, *link);

		if (!order)
			return link;
		link = order < 0 ? &(*link)->less : &(*link)->more;
	}
	return NULL;
}

/* It overlaps none. */
static void insert(struct gm_live *live)
{
	struct gm_live **link = &root, **less = &live->less,
		       **more = &live->more, *at;

	while (*link && priority(*link) > priority(live))
		link = compare(live, *link) < 0 ? &(*link)->less
						: &(*link)->more;
	at = *link;
	*link = live;
	while (at) {
		if (compare(at, live) < 0) {
			*less = at;
			less = &at->more;
			at = *less;
		} else {
			*more = at;
			more = &at->less;
			at = *more;
		}
	}
	*less = *more = NULL;
}

/* What the link leads to goes out of the tree. */
static struct gm_live *unlink_at(struct gm_live **link)
{
	struct gm_live *live = *link, *low = live->less, *high = live->more;

	while (low && high) {
		if (priority(low) > priority(high)) {
			*link = low;
			link = &low->more;
			low = *link;
		} else {
			*link = high;
			link = &high->less;
			high = *link;
		}
	}
	*link = low ? low : high;
	return live;
}

static bool look(const struct gm_live *live, struct gm_overlap *overlap_out)
{
	struct gm_live **link = find(live);

	if (!link)
		return false;
	if (overlap_out) {
		overlap_out->from = (*link)->from;
		overlap_out->bytes = (*link)->bytes;
		snprintf(overlap_out->device, sizeof(overlap_out->device), "%s",
			 (*link)->device->info.name);
	}
	return true;
}

static bool add(struct gm_live *live, struct gm_overlap *overlap_out)
{
	bool clear;

	pthread_mutex_lock(&mutex);
	clear = !look(live, overlap_out);
	if (clear)
		insert(live);
	pthread_mutex_unlock(&mutex);
	return clear;
}

/* What begins there, not what lies over it. */
static struct gm_live *take(uint64_t space, uint64_t from)
{
	const struct gm_live key = {.space = space, .from = from, .bytes = 1};
	struct gm_live **link, *live = NULL;

	pthread_mutex_lock(&mutex);
	link = find(&key);
	if (link && (*link)->from == from)
		live = unlink_at(link);
	pthread_mutex_unlock(&mutex);
	return live;
}

gpumem_status gm_live_new(struct gpumem_device *device, size_t count,
			  struct gm_live **live_out)
{
	struct gm_live *first = NULL;

	while (count--) {
		struct gm_live *live = calloc(1, sizeof(*live));

		if (!live) {
			gm_live_discard(first);
			return gm_fail(GPUMEM_NO_HOST_MEMORY,
				       "no host memory to remember what %s "
				       "gives",
				       device->info.name);
		}
		live->device = device;
		live->more = first;
		first = live;
	}
	*live_out = first;
	return GPUMEM_OK;
}

size_t gm_live_claim(struct gm_live *live, uint64_t bytes)
{
	size_t count = 0;

	for (; live && gm_claim(live->device, bytes); live = live->more) {
		live->claimed_bytes = bytes;
		count++;
	}
	return count;
}

static void end(struct gm_live *live)
{
	gm_claim_back(live->device, live->claimed_bytes);
	free(live);
}

void gm_live_discard(struct gm_live *live)
{
	while (live) {
		struct gm_live *next = live->more;

		end(live);
		live = next;
	}
}

bool gm_live_add_range(struct gm_live *live, struct gm_overlap *overlap_out)
{
	live->space = 0;
	return add(live, overlap_out);
}

bool gm_live_add_page(struct gm_live *live, gpumem_page page)
{
	live->space = (uintptr_t)live->device;
	live->from = page;
	live->bytes = 1;
	return add(live, NULL);
}

bool gm_live_overlaps(uint64_t from, uint64_t bytes,
		      struct gm_overlap *overlap_out)
{
	const struct gm_live key = {.from = from, .bytes = bytes};
	bool overlaps;

	pthread_mutex_lock(&mutex);
	overlaps = look(&key, overlap_out);
	pthread_mutex_unlock(&mutex);
	return overlaps;
}

struct gm_live *gm_live_take_range(uint64_t from)
{
	return take(0, from);
}

struct gm_live *gm_live_take_page(const struct gpumem_device *device,
				  gpumem_page page)
{
	return take((uintptr_t)device, page);
}

bool gm_live_settle(struct gm_live *live, bool refused)
{
	if (!live)
		return true;
	if (refused && add(live, NULL))
		return true;
	end(live);
	return !refused;
}

/* From the leaves up, so that no link is left that leads nowhere. */
static void forget(struct gm_live **link, const struct gpumem_device *device)
{
	if (!*link)
		return;
	forget(&(*link)->less, device);
	forget(&(*link)->more, device);
	if ((*link)->device == device)
		free(unlink_at(link));
}

void gm_live_forget(const struct gpumem_device *device)
{
	pthread_mutex_lock(&mutex);
	forget(&root, device);
	pthread_mutex_unlock(&mutex);
}
