/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The tags that have most of a pool's memory; see report.h. */
#include "report.h"

static void insert(struct gm_top_tag *top, unsigned room, uint32_t tag,
		   uint64_t bytes)
{
	unsigned at = room;

	while (at && top[at - 1].bytes < bytes)
		at--;
	if (at == room)
		return;
	for (unsigned i = room - 1; i > at; i--)
		top[i] = top[i - 1];
	top[at] = (struct gm_top_tag){.tag = tag, .bytes = bytes};
}

void gm_pool_top_tags(struct gpumem_pool *pool, struct gm_top_tag *top,
		      unsigned room)
{
	const struct gm_tags *tags;
	uint64_t rest;

	for (unsigned i = 0; i < room; i++)
		top[i] = (struct gm_top_tag){0};
	gm_heap_stop(&pool->heap);
	tags = pool->heap.tags;
	rest = pool->heap.counters.requested.current;
	for (uint32_t i = 1; tags && i <= atomic_load(&gm_tag_count); i++) {
		insert(top, room, i, tags->of[i].bytes.current);
		rest -= tags->of[i].bytes.current;
	}
	if (tags)
		insert(top, room, 0, rest);
	gm_heap_go(&pool->heap);
}
