/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The rows of one pool, of one moment: its heap is stopped meanwhile. See
 * table.h. */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A pool whose rows are made: they begin at `first`. */
struct making {
	struct gm_table *table;
	struct gpumem_pool *pool;
	size_t first;
};

static struct gm_row row_of(const struct making *making, enum gm_place place,
			    uint64_t bytes)
{
	struct gpumem_pool *pool = making->pool;
	struct gm_row row = {.place = place,
			     .number = making->table->pools,
			     .kind = pool->heap.driver.kind,
			     .bytes = bytes};

	row.beside = row.kind != GPUMEM_KIND_DEVICE ||
		     place == GM_PLACE_bookkeeping || place == GM_PLACE_stale ||
		     place == GM_PLACE_sleeping;
	snprintf(row.pool, sizeof(row.pool), "%s", pool->name);
	return row;
}

static void add(const struct making *making, enum gm_place place,
		uint64_t bytes)
{
	const struct gm_row row = row_of(making, place, bytes);

	gm_table_add(making->table, &row);
}

static void add_live(const struct making *making, uint32_t number,
		     uint64_t bytes, uint64_t blocks)
{
	const struct gm_tags *tags = making->pool->heap.tags;
	struct gm_row row = row_of(making, GM_PLACE_live, bytes);

	row.tag = number;
	row.blocks = blocks;
	if (number) {
		row.limit_bytes = tags->of[number].limit_bytes;
		row.held_bytes = tags->of[number].held_bytes;
	}
	gm_table_add(making->table, &row);
}

static int most_first(const void *a, const void *b)
{
	const struct gm_row *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return x->tag < y->tag ? -1 : x->tag > y->tag;
}

/* Of the requested bytes, what sleeps. */
struct sleeping {
	const struct gm_spans *spans;
	uint64_t all, of[GM_TAGS_MAX]; /* and by tag */
};

static bool add_sleeping(const struct gpumem_block *block, void *user)
{
	struct sleeping *sleeping = user;
	uint64_t bytes;

	if (block->state != GPUMEM_BLOCK_LIVE)
		return true;
	bytes = gm_pages_gone_bytes(sleeping->spans, (uintptr_t)block->ptr,
				    block->requested_bytes);
	sleeping->all += bytes;
	sleeping->of[block->tag] += bytes;
	return true;
}

/* NULL: nothing does; or there is no host memory to find out. */
static struct sleeping *find_sleeping(const struct making *making,
				      const struct gpumem_stats *stats)
{
	struct sleeping *sleeping;

	if (!stats->sleeping.current)
		return NULL;
	sleeping = calloc(1, sizeof(*sleeping));
	if (!sleeping) {
		making->table->no_memory = true;
		return NULL;
	}
	sleeping->spans = &making->pool->heap.spans;
	gm_block_visit_stopped(making->pool, add_sleeping, sleeping);
	return sleeping;
}

/* By tag, and what has none: the largest first. What sleeps is no memory of the
 * device. */
static void add_tags(const struct making *making,
		     const struct gpumem_stats *stats,
		     const struct sleeping *sleeping)
{
	const struct gm_tags *tags = making->pool->heap.tags;
	uint64_t bytes = stats->requested.current;
	uint64_t blocks = stats->blocks.current;

	for (uint32_t i = 1; tags && i <= atomic_load(&gm_tag_count); i++) {
		const struct gm_tag *tag = &tags->of[i];

		add_live(making, i,
			 tag->bytes.current - (sleeping ? sleeping->of[i] : 0),
			 tag->blocks.current);
		bytes -= tag->bytes.current;
		blocks -= tag->blocks.current;
	}
	add_live(making, 0, bytes - (sleeping ? sleeping->of[0] : 0), blocks);
	if (making->table->count > making->first)
		qsort(making->table->row + making->first,
		      making->table->count - making->first,
		      sizeof(struct gm_row), most_first);
}

/* One row for each stream that is waited for, one for what waits for events of
 * the program, and one for what views keep. */
static void add_pending(const struct gm_wait *use, bool held, uint64_t bytes,
			void *user)
{
	const struct making *making = user;
	struct gm_row row = row_of(
		making, held && !use ? GM_PLACE_held : GM_PLACE_pending, bytes);

	row.has_stream = use && !use->recording;
	row.stream = row.has_stream ? use->stream : NULL;
	for (size_t i = making->first; i < making->table->count; i++) {
		struct gm_row *at = &making->table->row[i];

		if (at->place != row.place || at->stream != row.stream ||
		    at->has_stream != row.has_stream)
			continue;
		gm_table_grow(making->table, at, bytes);
		return;
	}
	gm_table_add(making->table, &row);
}

/* What is free: as the statistics have it, and of whole handles or segments
 * what streams are still at work on. */
static void add_free(const struct making *making,
		     const struct gpumem_stats *stats)
{
	const struct gm_heap *heap = &making->pool->heap;
	uint64_t whole = stats->free_bytes - stats->unreleasable_bytes -
			 stats->cached_bytes;
	uint64_t busy = gm_space_busy_bytes(heap);

	if (busy > whole)
		busy = whole;
	add(making, GM_PLACE_cached, stats->cached_bytes);
	add(making, GM_PLACE_busy, busy);
	add(making, GM_PLACE_whole, whole - busy);
	add(making, GM_PLACE_page_part, stats->page_part_bytes);
	add(making,
	    gm_space_has_pages(heap) ? GM_PLACE_handle_part
				     : GM_PLACE_segment_part,
	    stats->handle_part_bytes);
	add(making, GM_PLACE_slab_part, stats->slab_part_bytes);
	add(making, GM_PLACE_graph, stats->graph_bytes);
}

void gm_table_add_pool(struct gm_table *table, struct gpumem_pool *pool)
{
	struct making making = {
		.table = table, .pool = pool, .first = table->count};
	struct sleeping *sleeping;
	struct gpumem_stats stats;

	table->pools++;
	gm_heap_stop(&pool->heap);
	gm_pool_stats_stopped(pool, &stats);
	sleeping = find_sleeping(&making, &stats);
	add_tags(&making, &stats, sleeping);
	add(&making, GM_PLACE_rounding,
	    stats.allocated.current - stats.requested.current -
		    (sleeping ? stats.sleeping.current - sleeping->all : 0));
	making.first = table->count;
	gm_pending_visit(&pool->heap, add_pending, &making);
	add_free(&making, &stats);
	gm_heap_go(&pool->heap);
	add(&making, GM_PLACE_stale, stats.stale_bytes);
	add(&making, GM_PLACE_sleeping, stats.sleeping.current);
	free(sleeping);
	add(&making, GM_PLACE_bookkeeping, stats.host_bytes);
}
