/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The policy `direct`: the driver's own alloc and free for every event, as a
 * program without a pool would do. Sizes are rounded up to the device's
 * granularity, which the driver would do as well.
 */
#include "replay.h"

#include "common/clock.h"

static bool fail_status(struct replay *replay, const char *what,
			gpumem_status status)
{
	return replay_fail(replay, "%s: %s", what, gpumem_status_text(status));
}

/* What option `limit` comes to on this device, by the word of a pool. */
static bool read_limit(struct replay *replay)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
	gpumem_pool *pool;

	if (gpumem_pool_create(replay->device, NULL, &pool) != GPUMEM_OK)
		return replay_fail_last(replay, "cannot create a pool");
	if (gpumem_pool_stats(pool, &stats) != GPUMEM_OK ||
	    gpumem_pool_destroy(pool, 0) != GPUMEM_OK)
		return replay_fail_last(replay, "cannot query a pool");
	replay->limit_bytes = stats.limit_bytes;
	return true;
}

static bool open_raw(struct replay *replay)
{
	gpumem_status status;

	if (!read_limit(replay))
		return false;
	status = raw_open(replay->info.name, &replay->raw);
	if (status == GPUMEM_OK)
		return true;
	return fail_status(replay, "cannot open the raw device", status);
}

uint64_t replay_direct_bytes(const struct replay *replay, uint64_t bytes)
{
	uint64_t unit = replay->info.granularity_bytes, above;

	if (__builtin_add_overflow(bytes, unit - 1, &above))
		return 0;
	return above / unit * unit;
}

/* One call of the driver, counted and timed. */
static gpumem_status raw_alloc(struct replay *replay, uint32_t slot,
			       uint64_t bytes)
{
	struct replay_usage *use = &replay->direct;
	uint64_t size = replay_direct_bytes(replay, bytes);
	uint64_t address, start = clock_ns();
	gpumem_status status;

	if (!size || size > replay->info.max_alloc_bytes)
		return GPUMEM_NO_MEMORY;
	if (replay->limit_bytes &&
	    size > replay->limit_bytes - use->reserved_bytes)
		return GPUMEM_LIMIT;
	status = replay->raw.table->alloc(replay->raw.handle, size, &address);
	use->driver_ns += clock_ns() - start;
	use->driver_calls++;
	if (status != GPUMEM_OK)
		return status;
	replay->ptrs[slot] = (void *)(uintptr_t)address;
	replay->sizes[slot] = size;
	use->reserved_bytes += size;
	if (use->reserved_bytes > use->peak_reserved_bytes)
		use->peak_reserved_bytes = use->reserved_bytes;
	return GPUMEM_OK;
}

static gpumem_status raw_free(struct replay *replay, uint32_t slot)
{
	struct replay_usage *use = &replay->direct;
	uint64_t start = clock_ns();
	gpumem_status status;

	status = replay->raw.table->free(
		replay->raw.handle, (uint64_t)(uintptr_t)replay->ptrs[slot],
		replay->sizes[slot]);
	use->driver_ns += clock_ns() - start;
	use->driver_calls++;
	use->reserved_bytes -= replay->sizes[slot];
	replay->ptrs[slot] = NULL;
	return status;
}

/* The driver knows no blocks of 0 bytes, no streams, and no resizing. */
static gpumem_status run_event(struct replay *replay,
			       const struct trace_event *event)
{
	gpumem_status status = GPUMEM_OK;

	if (replay_ends(event) && event->before)
		status = raw_free(replay, event->slot);
	if (replay_begins(event) && event->bytes && status == GPUMEM_OK)
		status = raw_alloc(replay, event->slot, event->bytes);
	return status;
}

static gpumem_status run(struct replay *replay,
			 const struct trace_event *events, uint64_t count,
			 uint64_t *done_out)
{
	struct replay_usage *use = &replay->direct;
	gpumem_status status = GPUMEM_OK;

	for (*done_out = 0; *done_out < count; ++*done_out) {
		const struct trace_event *event = &events[*done_out];

		status = run_event(replay, event);
		if (status != GPUMEM_OK)
			return status;
		use->requested_bytes -= event->before;
		if (event->kind != TRACE_FREE)
			use->requested_bytes += event->bytes;
		if (use->requested_bytes > use->peak_requested_bytes)
			use->peak_requested_bytes = use->requested_bytes;
	}
	return GPUMEM_OK;
}

static bool usage(struct replay *replay, struct replay_usage *usage_out)
{
	*usage_out = replay->direct;
	usage_out->allocated_bytes = usage_out->reserved_bytes;
	usage_out->peak_allocated_bytes = usage_out->peak_reserved_bytes;
	return true;
}

/* There is no pool that could be checked or trimmed. */
static bool nothing(struct replay *replay)
{
	(void)replay;
	return true;
}

static bool clear(struct replay *replay)
{
	bool ok = true;

	for (uint64_t slot = 0; slot < replay->ptr_room; slot++) {
		gpumem_status status = GPUMEM_OK;

		if (replay->ptrs[slot])
			status = raw_free(replay, (uint32_t)slot);
		if (status != GPUMEM_OK)
			ok = fail_status(replay, "cannot free a block", status);
	}
	replay->direct.requested_bytes = 0;
	return ok;
}

static bool close_raw(struct replay *replay)
{
	bool ok;

	if (!replay->raw.handle)
		return true;
	ok = clear(replay);
	raw_close(&replay->raw);
	return ok;
}

const struct replay_policy replay_direct = {
	.name = "direct",
	.open = open_raw,
	.run = run,
	.usage = usage,
	.check = nothing,
	.trim = nothing,
	.clear = clear,
	.close = close_raw,
};
