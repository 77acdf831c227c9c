/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The pools of a device where an allocation failed: what those besides have
 * free, and which hold most. Each is locked while it is counted, and none else
 * then but the device. See oom.h.
 */
#include "oom.h"

#include <stdio.h>
#include <string.h>

/* Most bytes first; what is no more than the last is left out. */
static void add_holder(struct gm_oom *oom, const struct gpumem_pool *pool,
		       uint64_t bytes)
{
	struct gm_oom_holder *holder = oom->holder;
	unsigned at = GM_OOM_HOLDERS;

	while (at && bytes > holder[at - 1].bytes)
		at--;
	if (at == GM_OOM_HOLDERS)
		return;
	memmove(&holder[at + 1], &holder[at],
		(GM_OOM_HOLDERS - 1 - at) * sizeof(*holder));
	holder[at].bytes = bytes;
	snprintf(holder[at].name, sizeof(holder[at].name), "%s", pool->name);
}

static void add_pool(struct gm_oom *oom, struct gpumem_pool *pool,
		     uint64_t *most)
{
	struct gpumem_stats stats;
	uint64_t bytes;

	if (pool->heap.driver.kind != oom->pool->heap.driver.kind)
		return;
	gm_pool_stats(pool, &stats);
	add_holder(oom, pool, stats.reserved.current);
	if (pool == oom->pool)
		return;
	bytes = stats.free_bytes - stats.unreleasable_bytes;
	oom->others_bytes += bytes;
	if (bytes <= *most)
		return;
	*most = bytes;
	snprintf(oom->others_most, sizeof(oom->others_most), "%s", pool->name);
}

void gm_oom_look_at_pools(struct gm_oom *oom)
{
	struct gpumem_device *device = oom->pool->device;
	struct gm_device_link *link;
	uint64_t most = 0;

	if (oom->looked)
		return;
	if (oom->request->flags & GPUMEM_ALLOC_NO_WAIT) {
		if (pthread_mutex_trylock(&device->mutex))
			return;
	} else {
		pthread_mutex_lock(&device->mutex);
	}
	oom->looked = true;
	for (link = device->pools.next; link != &device->pools;
	     link = link->next)
		add_pool(oom, gm_pool_of_link(link), &most);
	pthread_mutex_unlock(&device->mutex);
}

void gm_oom_say_holders(const struct gm_oom *oom, struct gm_text *text)
{
	const char *before = "most of it is reserved by pool";

	for (unsigned i = 0; i < GM_OOM_HOLDERS && oom->holder[i].bytes; i++) {
		gm_text_say(text, "%s \"%s\"", before, oom->holder[i].name);
		gm_text_say_bytes(text, " with ", oom->holder[i].bytes);
		before = ",";
	}
	if (oom->holder[0].bytes)
		gm_text_say(text, "; ");
}
