/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of a device's table share: two pools and three streams on it,
 * memory outside of them, and each row compared with what the statistics, the
 * tags and a walk over the blocks say. Beside rows.h. Only the main thread
 * calls it.
 */
#ifndef LIB_TABLE_H
#define LIB_TABLE_H

#include "rows.h"
#include "tags.h"

enum { POOLS = 2, STREAMS = 3, OUTSIDE = 5 * 1024 * 1024 };

static const char *const pool_name[POOLS] = {"first", "second"};
static gpumem_pool *pool[POOLS];
static gpumem_stream stream[STREAMS];
static uint32_t tag[4];

static const char *fault; /* what disagreed first */

static void agrees(ull got, ull want, const char *what)
{
	if (got == want || fault)
		return;
	fault = what;
	diag("%s: %llu in the table, not %llu", what, got, want);
	diag("%s", rows.text);
}

static void compare_tags(unsigned i)
{
	tags_read(pool[i]);
	for (unsigned t = 0; t < tags_seen; t++) {
		const struct gpumem_tag *row = &tags_row[t];
		ull bytes = 0, count = 0;

		for (unsigned r = 0; r < rows.count; r++)
			if (!strcmp(rows.row[r].pool, pool_name[i]) &&
			    !strcmp(rows.row[r].what, "live") &&
			    !strcmp(rows.row[r].tag, row->path)) {
				bytes += rows.row[r].bytes;
				count += rows.row[r].blocks;
				agrees(rows.row[r].limit_bytes,
				       row->limit_bytes, "the limit of a tag");
				agrees(rows.row[r].held_bytes, row->held_bytes,
				       "what a tag holds of its limit");
			}
		agrees(bytes, row->bytes.current, "bytes of a tag");
		agrees(count, row->blocks.current, "blocks of a tag");
	}
}

static ull walked[5];

static bool walk(const struct gpumem_block *at, void *unused)
{
	(void)unused;
	walked[at->state] += at->bytes;
	if (at->state == GPUMEM_BLOCK_LIVE)
		walked[0] += at->requested_bytes;
	return true;
}

static void compare_pool(unsigned i)
{
	const char *name = pool_name[i];
	struct gpumem_stats stats;

	memset(walked, 0, sizeof(walked));
	must(gpumem_block_visit(pool[i], walk, NULL));
	stats = stats_of(pool[i]);
	agrees(rows_sum(name, NULL), stats.reserved.current, "a pool");
	agrees(rows_sum(name, "live"), walked[0], "live, as walked");
	agrees(rows_sum(name, "rounding"),
	       walked[GPUMEM_BLOCK_LIVE] - walked[0], "rounding, as walked");
	agrees(rows_sum(name, "pending") + rows_sum(name, "held"),
	       walked[GPUMEM_BLOCK_PENDING], "pending, as walked");
	agrees(rows_sum(name, "cached"), stats.cached_bytes, "cached");
	agrees(rows_sum(name, "graph"), stats.graph_bytes, "graphs");
	agrees(rows_sum(name, "page_part"), stats.page_part_bytes, "pages");
	agrees(rows_sum(name, "handle_part") + rows_sum(name, "segment_part"),
	       stats.handle_part_bytes, "handles");
	agrees(rows_sum(name, "slab_part"), stats.slab_part_bytes, "slabs");
	agrees(rows_sum(name, "stale"), stats.stale_bytes, "stale");
	agrees(rows_sum(name, "bookkeeping"), stats.host_bytes, "bookkeeping");
	compare_tags(i);
}

static void compare(void)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	struct gpumem_stats stats;

	rows_read(device);
	must(gpumem_device_memory(device, &memory));
	agrees(rows.total_bytes, memory.total_bytes, "the device");
	agrees(rows_sum(NULL, NULL), memory.total_bytes, "the sum of all");
	agrees(rows_sum(NULL, "free"), memory.free_bytes, "free");
	agrees(rows_sum(NULL, "outside"), OUTSIDE, "outside");
	for (unsigned i = 0; i < POOLS; i++)
		compare_pool(i);
	stats = stats_of(pool[0]);
	if (unlawful(&stats) && !fault)
		fault = "the law of the statistics";
}

/* ---- the world it is about ---- */

static void tags_make(void)
{
	must(gpumem_tag_intern("weights", &tag[1]));
	must(gpumem_tag_intern("weights/a", &tag[2]));
	must(gpumem_tag_intern("kv", &tag[3]));
}

/* With a small device it is full most of the time: then an allocation has to
 * end, too. */
static void world_start(const char *capacity, bool vm, bool busy)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);

	option("host.page", vm ? "256KiB" : "64KiB");
	option("handle_max", "1MiB");
	/* It reads a clock. */
	option("decay_ms", "0");
	device_start(capacity, vm);
	must(gpumem_host_outside(0, OUTSIDE));
	for (unsigned i = 0; i < STREAMS; i++) {
		stream[i] = new_stream();
		must(gpumem_host_hold(0, stream[i], busy));
	}
	for (unsigned i = 0; i < POOLS; i++) {
		config.name = pool_name[i];
		must(gpumem_pool_create(device, &config, &pool[i]));
	}
}

static void world_end(void)
{
	for (unsigned i = 0; i < STREAMS; i++)
		must(gpumem_stream_sync(device, stream[i]));
	for (unsigned i = 0; i < POOLS; i++)
		must(gpumem_pool_destroy(pool[i], 0));
	for (unsigned i = 0; i < STREAMS; i++)
		must(gpumem_stream_destroy(device, stream[i]));
	must(gpumem_host_outside(0, 0));
	ok(device_end(), "nothing is left");
}

#endif
