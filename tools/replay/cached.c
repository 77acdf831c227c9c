/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The policy `cached`: everything through a pool of the library.
 */
#include "replay.h"
#include <time.h>

/* How often a pool is trimmed at most, a millisecond apart. */
enum { TRIMS = 200 };

static bool open_pool(struct replay *replay)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);

	config.name = "replay";
	if (gpumem_pool_create(replay->device, &config, &replay->pool) !=
	    GPUMEM_OK)
		return replay_fail_last(replay, "cannot create the pool");
	return true;
}

/* What cannot be resized where it lies moves: it is freed first, so that no
 * more is requested at one time than by the program that was recorded. */
static gpumem_status resize(struct replay *replay, void **ptr, uint64_t bytes,
			    gpumem_stream stream)
{
	struct gpumem_block block = GPUMEM_INIT(struct gpumem_block);
	gpumem_status status = GPUMEM_BUSY;

	if (*ptr && bytes)
		status = gpumem_resize(*ptr, bytes, stream, NULL);
	if (status != GPUMEM_BUSY)
		return status;
	if (*ptr) {
		status = gpumem_query(*ptr, &block);
		if (status == GPUMEM_OK)
			status = gpumem_free(*ptr, stream);
		if (status != GPUMEM_OK)
			return status;
		*ptr = NULL;
		stream = block.stream;
	}
	return gpumem_alloc(replay->pool, bytes, stream, ptr);
}

/* What is no allocation and no free. */
static gpumem_status run_other(struct replay *replay,
			       const struct trace_event *event)
{
	gpumem_stream stream = replay->streams[event->stream];
	void **ptr = &replay->ptrs[event->slot];

	if (event->kind == TRACE_RESIZE)
		return resize(replay, ptr, event->bytes, stream);
	return *ptr ? gpumem_use_on(*ptr, stream) : GPUMEM_OK;
}

/* The loop that is measured. */
static gpumem_status run(struct replay *replay,
			 const struct trace_event *events, uint64_t count,
			 uint64_t *done_out)
{
	const bool lag = replay->config->lag, tags = replay->config->tags;
	gpumem_pool *pool = replay->pool;
	void **ptrs = replay->ptrs;
	gpumem_status status = GPUMEM_OK;
	uint64_t i;

	for (i = 0; i < count; i++) {
		const struct trace_event *event = &events[i];
		gpumem_stream stream = replay->streams[event->stream];

		if (tags)
			status = replay_tags_event(replay, event);
		if (status != GPUMEM_OK)
			break;
		if (event->kind == TRACE_ALLOC) {
			status = gpumem_alloc(pool, event->bytes, stream,
					      &ptrs[event->slot]);
		} else if (event->kind == TRACE_FREE) {
			status = gpumem_free(ptrs[event->slot], stream);
			ptrs[event->slot] = NULL;
		} else {
			status = run_other(replay, event);
		}
		if (lag && status == GPUMEM_OK)
			status = replay_lag_event(replay, event);
		if (status != GPUMEM_OK)
			break;
	}
	*done_out = i;
	return status;
}

static bool usage(struct replay *replay, struct replay_usage *usage_out)
{
	struct gpumem_stats *stats = &usage_out->stats;

	*stats = GPUMEM_INIT(struct gpumem_stats);
	if (gpumem_pool_stats(replay->pool, stats) != GPUMEM_OK)
		return replay_fail_last(replay, "cannot read the statistics");
	usage_out->requested_bytes = stats->requested.current;
	usage_out->peak_requested_bytes = stats->requested.peak;
	usage_out->allocated_bytes = stats->allocated.current;
	usage_out->peak_allocated_bytes = stats->allocated.peak;
	usage_out->reserved_bytes = stats->reserved.current;
	usage_out->peak_reserved_bytes = stats->reserved.peak;
	usage_out->driver_calls = stats->driver_calls;
	usage_out->driver_ns = stats->driver_ns;
	for (unsigned i = 0; i < GPUMEM_CALL_COUNT; i++) {
		usage_out->calls[i] = GPUMEM_INIT(struct gpumem_call_stats);
		if (gpumem_pool_calls(replay->pool, i, &usage_out->calls[i]) !=
		    GPUMEM_OK)
			return replay_fail_last(replay,
						"cannot read the driver's "
						"calls");
	}
	return true;
}

static bool check(struct replay *replay)
{
	if (gpumem_pool_check(replay->pool) != GPUMEM_OK)
		return replay_fail_last(replay, "the pool's check failed");
	return true;
}

static bool sync_streams(struct replay *replay)
{
	bool have = replay->info.caps & GPUMEM_CAP_STREAMS;

	for (uint32_t i = 0; have && i < replay->stream_count; i++)
		if (gpumem_stream_sync(replay->device, replay->streams[i]) !=
		    GPUMEM_OK)
			return replay_fail_last(replay,
						"cannot wait for a stream");
	return true;
}

static bool trim_once(struct replay *replay)
{
	if (gpumem_pool_trim(replay->pool, 0, NULL) != GPUMEM_OK)
		return replay_fail_last(replay, "the trim failed");
	return true;
}

/* Is there something that could go back? */
static bool has_spare(struct replay *replay, bool *spare_out)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);

	if (gpumem_pool_stats(replay->pool, &stats) != GPUMEM_OK)
		return replay_fail_last(replay, "cannot read the statistics");
	*spare_out = stats.free_bytes > stats.unreleasable_bytes;
	return true;
}

/* A trim does not wait, and some drivers tell that a stream is idle only a
 * moment after they were asked: then another one hears what the first asked. */
static bool trim(struct replay *replay)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	bool spare = true;

	for (int i = 0; i < TRIMS && spare; i++) {
		if (i)
			(void)nanosleep(&pause, NULL);
		if (!sync_streams(replay) || !trim_once(replay) ||
		    !has_spare(replay, &spare))
			return false;
	}
	return true;
}

static bool clear(struct replay *replay)
{
	struct gpumem_block block = GPUMEM_INIT(struct gpumem_block);
	bool ok = true;

	for (uint64_t slot = 0; slot < replay->ptr_room; slot++) {
		void *ptr = replay->ptrs[slot];

		if (!ptr)
			continue;
		replay->ptrs[slot] = NULL;
		if (gpumem_query(ptr, &block) != GPUMEM_OK ||
		    gpumem_free(ptr, block.stream) != GPUMEM_OK)
			ok = replay_fail_last(replay, "cannot free a block");
	}
	return ok;
}

/* Nothing may be left once all blocks are freed and the pool is trimmed. */
static bool verify_empty(struct replay *replay)
{
	struct replay_usage left;

	if (!check(replay) || !trim(replay) || !usage(replay, &left))
		return false;
	if (!left.stats.blocks.current && !left.allocated_bytes &&
	    !left.reserved_bytes)
		return true;
	return replay_fail(replay,
			   "after all was freed and trimmed, %llu blocks, "
			   "%llu allocated and %llu reserved bytes are left",
			   (unsigned long long)left.stats.blocks.current,
			   (unsigned long long)left.allocated_bytes,
			   (unsigned long long)left.reserved_bytes);
}

static bool close_pool(struct replay *replay)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	bool ok;

	if (!replay->pool)
		return true;
	ok = clear(replay) && verify_empty(replay);
	if (gpumem_pool_destroy(replay->pool, ok ? 0 : GPUMEM_DESTROY_FORCE) !=
	    GPUMEM_OK)
		ok = replay_fail_last(replay, "cannot destroy the pool");
	replay->pool = NULL;
	if (ok && gpumem_device_memory(replay->device, &memory) != GPUMEM_OK)
		ok = replay_fail_last(replay, "cannot query the device");
	if (ok && memory.reserved_bytes)
		ok = replay_fail(replay,
				 "%llu bytes are still reserved after the pool "
				 "was destroyed",
				 (unsigned long long)memory.reserved_bytes);
	return ok;
}

const struct replay_policy replay_cached = {
	.name = "cached",
	.open = open_pool,
	.run = run,
	.usage = usage,
	.check = check,
	.trim = trim,
	.clear = clear,
	.close = close_pool,
};
