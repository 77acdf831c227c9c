/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The steps of pools: trims, limits, what fits, the end and a new one. */
#include "model.h"

static uint64_t reserved_of(const struct pool *pool)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);

	must(gpumem_pool_stats(pool->handle, &stats));
	return stats.reserved.current;
}

static void trim_device(const struct device *device)
{
	uint64_t released = 0;
	gpumem_status status;

	perhaps_failing(status,
			gpumem_device_trim(device->handle, 0, &released));
	say(0, 0, "host:%d is trimmed: %llu bytes, %s", device->number,
	    (ull)released, gpumem_status_name(status));
	judge("gpumem_device_trim", status);
}

void step_trim(void)
{
	const struct pool *pool = pick_pool();
	uint64_t before, released = 0, keep;
	gpumem_status status;

	if (!pool)
		return;
	if (one_in(4)) {
		trim_device(pool->device);
		return;
	}
	before = reserved_of(pool);
	keep = one_in(2) ? 0 : random_below(before + 1);
	perhaps_failing(status,
			gpumem_pool_trim(pool->handle, keep, &released));
	say(0, 0, "%s is trimmed to %llu: %llu bytes, %s", name_of(pool),
	    (ull)keep, (ull)released, gpumem_status_name(status));
	judge("gpumem_pool_trim", status);
	expect(before - reserved_of(pool) == released,
	       "a trim released %llu, and says %llu",
	       (ull)(before - reserved_of(pool)), (ull)released);
}

void step_limit(void)
{
	struct pool *pool = pick_pool();
	uint64_t most = world.configuration.large ? 96 * MIB : 16 * MIB;
	uint64_t limit = one_in(3) ? 0 : 2 * MIB + random_below(most);
	uint64_t soft = one_in(2) ? 0 : random_below(most);
	gpumem_status status;

	if (!pool)
		return;
	must(gpumem_pool_set_soft_limit(pool->handle, soft));
	pool->soft = soft;
	perhaps_failing(status, gpumem_pool_set_limit(pool->handle, limit));
	say(0, 0, "the limits of %s: %llu, %llu: %s", name_of(pool), (ull)soft,
	    (ull)limit, gpumem_status_name(status));
	if (status == GPUMEM_BUSY) {
		expect(reserved_of(pool) > limit, "busy for nothing");
		return;
	}
	/* It may be less than one page or segment. */
	if (status != GPUMEM_INVALID)
		judge("gpumem_pool_set_limit", status);
	if (status)
		return;
	pool->limit = limit;
}

void step_tag_limit(void)
{
	unsigned tag = 1 + (unsigned)random_below(TAGS - 1);
	uint64_t limit = one_in(2) ? 0 : random_below(8 * MIB);
	struct pool *pool = pick_pool();

	if (!pool)
		return;
	must(gpumem_tag_set_limit(pool->handle, world.tag[tag], limit));
	pool->tag_limit[tag] = limit;
	say(0, 0, "the limit of tag %u in %s: %llu", tag, name_of(pool),
	    (ull)limit);
}

/* So much can be had by the next call. */
void step_capacity(void)
{
	struct gpumem_capacity capacity = GPUMEM_INIT(struct gpumem_capacity);
	struct pool *pool = pick_pool();
	int stream = pick_stream();
	const struct capture *capture;
	gpumem_stream handle;
	gpumem_status status;
	void *ptr = NULL;

	if (!pool || world.blocks > BLOCKS - 2)
		return;
	capture = pool->device->stream[stream].capture;
	if (capture && capture->graph->pool != pool)
		return;
	handle = pool->device->stream[stream].handle;
	must(gpumem_pool_capacity(pool->handle, handle, &capacity));
	expect(capacity.max_alloc_bytes >= capacity.now_bytes,
	       "more fits now than ever");
	if (!capacity.now_bytes)
		return;
	status = gpumem_alloc(pool->handle, capacity.now_bytes, handle, &ptr);
	expect(!status, "%s says that %llu bytes fit on s%d: %s", name_of(pool),
	       (ull)capacity.now_bytes, stream, gpumem_status_name(status));
	(void)block_born(pool, ptr, capacity.now_bytes, 1, stream, 0);
}

/* Nothing is under way on the device. */
static void settle(struct device *device)
{
	graphs_end(device);
	stream_sync_all(device);
}

/* The largest free block is served without the driver. */
void step_largest(void)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
	struct pool *pool = pick_pool();
	int stream = pick_stream();
	gpumem_status status;
	void *ptr = NULL;

	/* What is kept for graphs is free, and not for others. */
	if (!pool || pool_has_graphs(pool) || world.blocks > BLOCKS - 2)
		return;
	settle(pool->device);
	must(gpumem_pool_stats(pool->handle, &stats));
	if (stats.largest_free_bytes <= 16 * KIB)
		return;
	options.flags = GPUMEM_ALLOC_NO_GROW;
	status = gpumem_alloc_with(pool->handle, stats.largest_free_bytes,
				   pool->device->stream[stream].handle,
				   &options, &ptr, NULL);
	expect(!status, "the largest free block of %s has %llu bytes: %s",
	       name_of(pool), (ull)stats.largest_free_bytes,
	       gpumem_status_name(status));
	(void)block_born(pool, ptr, stats.largest_free_bytes, 1, stream, 0);
}

/* Whatever is not live goes back. */
void step_quiet(void)
{
	struct pool *pool = pick_pool();
	struct device *device;

	if (!pool)
		return;
	device = pool->device;
	settle(device);
	say(0, 0, "host:%d is quiet", device->number);
	for (int i = 0; i < POOLS; i++) {
		pool = &world.pool[i];
		if (!pool->handle || pool->device != device)
			continue;
		must(gpumem_pool_trim(pool->handle, 0, NULL));
		pool->crossed = 0;
		exam_quiet(pool);
	}
}

void step_reset(void)
{
	struct pool *pool = pick_pool();
	bool totals = one_in(3);

	if (!pool)
		return;
	must(gpumem_pool_reset_stats(pool->handle,
				     totals ? GPUMEM_RESET_TOTALS : 0));
	say(0, 0, "the statistics of %s are reset%s", name_of(pool),
	    totals ? ", with totals" : "");
	peaks_reset(pool, totals);
}

/* With work on them under way. False: one cannot be freed now. */
static bool free_all(struct pool *pool)
{
	struct block *block;

	while ((block = pick_block(pool))) {
		int stream = block->stream;

		if (!block_covered(block, stream, NULL))
			return false;
		must(gpumem_free((void *)block->address,
				 pool->device->stream[stream].handle));
		say(block->address, block->bytes, "block %llu is freed on s%d",
		    (ull)block->id, stream);
		block_dead(block, block->gone);
	}
	return true;
}

static bool destroy_graphs(struct pool *pool)
{
	for (int i = 0; i < GRAPHS; i++)
		if (world.graph[i].handle && world.graph[i].pool == pool &&
		    !graph_destroy(&world.graph[i]))
			return false;
	return true;
}

static void forced(struct pool *pool)
{
	struct block *block;

	stream_sync_all(pool->device);
	must(gpumem_pool_destroy(pool->handle, GPUMEM_DESTROY_FORCE));
	graphs_forget(pool);
	while ((block = pick_block(pool)))
		block_dead(block, false);
}

void step_pool(void)
{
	struct pool *pool = pick_pool();

	if (!pool)
		return;
	if (pool->blocks.current || pool_has_graphs(pool))
		expect(gpumem_pool_destroy(pool->handle, 0) == GPUMEM_BUSY,
		       "a pool in use went");
	graphs_end(pool->device);
	say(0, 0, "%s is to go", name_of(pool));
	world.armed = false;
	if (one_in(3)) {
		forced(pool);
	} else {
		if (!free_all(pool) || !destroy_graphs(pool))
			return;
		must(gpumem_pool_destroy(pool->handle, 0));
	}
	say(0, 0, "%s is gone", name_of(pool));
	pool_create(pool);
}
