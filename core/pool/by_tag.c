/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What a pool's blocks have by tag, as the public struct. The heap is stopped
 * meanwhile, so that it adds up. */
#include "pool.h"

typedef bool (*visit_fn)(const struct gpumem_tag *tag, void *user);

static struct gpumem_gauge copy(const struct gm_gauge *gauge)
{
	return (struct gpumem_gauge){.current = gauge->current,
				     .peak = gauge->peak,
				     .total = gauge->total};
}

static void subtract(struct gpumem_gauge *from, const struct gm_gauge *gauge)
{
	from->current -= gauge->current;
	from->total -= gauge->total;
	from->peak = from->current;
}

/* What is left when all that have one are taken from all. */
static struct gpumem_tag of_none(const struct gm_heap *heap)
{
	uint32_t count = heap->tags ? atomic_load(&gm_tag_count) : 0;
	struct gpumem_tag tag = {.size = sizeof(tag),
				 .path = "",
				 .bytes = copy(&heap->counters.requested),
				 .blocks = copy(&heap->counters.blocks)};

	for (uint32_t i = 1; i <= count; i++) {
		subtract(&tag.bytes, &heap->tags->of[i].bytes);
		subtract(&tag.blocks, &heap->tags->of[i].blocks);
	}
	return tag;
}

static bool visit(const struct gm_heap *heap, uint32_t number, visit_fn fn,
		  void *user)
{
	const struct gm_tag *from = &heap->tags->of[number];
	const struct gpumem_tag tag = {.size = sizeof(tag),
				       .tag = number,
				       .path = gm_tag_path(number),
				       .bytes = copy(&from->bytes),
				       .blocks = copy(&from->blocks),
				       .limit_bytes = from->limit_bytes,
				       .held_bytes = from->held_bytes};

	return (!tag.bytes.total && !tag.bytes.current && !tag.limit_bytes) ||
	       fn(&tag, user);
}

void gm_pool_visit_tags(struct gpumem_pool *pool, visit_fn fn, void *user)
{
	const struct gm_heap *heap = &pool->heap;
	struct gpumem_tag none;
	uint32_t count;
	bool go_on;

	gm_heap_stop(&pool->heap);
	count = heap->tags ? atomic_load(&gm_tag_count) : 0;
	none = of_none(heap);
	go_on = fn(&none, user);
	for (uint32_t i = 1; i <= count && go_on; i++)
		go_on = visit(heap, i, fn, user);
	gm_heap_go(&pool->heap);
}
