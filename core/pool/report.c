/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The sentence of an allocation that failed for memory: every figure that says
 * why, and what to do about it. */
#include "pool.h"
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

struct text {
	char *at;
	size_t room;
};

static void say(struct text *text, const char *format, ...) GPUMEM_PRINTF(2, 3);

static void say(struct text *text, const char *format, ...)
{
	va_list args;
	int written;

	va_start(args, format);
	written = vsnprintf(text->at, text->room, format, args);
	va_end(args);
	if (written < 0)
		return;
	if ((size_t)written >= text->room)
		written = (int)text->room - 1;
	text->at += written;
	text->room -= (size_t)written;
}

/* "1.50 GiB" */
static void say_bytes(struct text *text, const char *before, uint64_t bytes)
{
	static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes;
	unsigned i = 0;

	for (; value >= 1024 && i < 4; i++)
		value /= 1024;
	say(text, i ? "%s%.2f %s" : "%s%.0f %s", before, value, unit[i]);
}

/* What fits the state best; one sentence. */
static const char *advice(const struct gpumem_stats *stats,
			  const struct gpumem_memory *memory, bool of_device,
			  gpumem_status status, uint64_t bytes)
{
	if (bytes > memory->total_bytes && of_device)
		return "the device is too small for this request";
	if (bytes > memory->total_bytes)
		return "the machine is too small for this request";
	if (stats->quarantined_bytes >= bytes)
		return "much is freed, but the program still holds views of "
		       "it: release them (gpumem_view)";
	if (stats->pending_bytes >= bytes)
		return "much is freed but still in use by other streams: "
		       "synchronise them, or free later";
	if (stats->free_bytes >= bytes)
		return "enough is free but not in one piece: allocate large "
		       "blocks first, or leave virtual memory on (option `vm`)";
	if (status == GPUMEM_LIMIT)
		return "free blocks, or raise the pool's limit";
	if (memory->outside_bytes >= bytes)
		return "other programs or allocators hold enough of the device "
		       "for this request: gpumem-probe shows how much";
	return "free blocks, or make the model or the batch smaller";
}

static void say_pool(struct text *text, const struct gpumem_stats *stats)
{
	say_bytes(text, ": requested ", stats->requested.current);
	say_bytes(text, ", allocated ", stats->allocated.current);
	say_bytes(text, ", active ", stats->active.current);
	if (stats->quarantined_bytes)
		say_bytes(text, ", quarantined ", stats->quarantined_bytes);
	say_bytes(text, ", reserved ", stats->reserved.current);
	if (stats->limit_bytes)
		say_bytes(text, ", limit ", stats->limit_bytes);
	else
		say(text, ", no limit");
	say_bytes(text, ", largest free block ", stats->largest_free_bytes);
	say(text, ", fragmentation %.0f %%", 100 * stats->fragmentation);
}

/* known: the driver said how much is free. */
static void say_device(struct text *text, const struct gpumem_memory *memory,
		       bool known)
{
	if (!known) {
		say_bytes(text, "; device: of ", memory->total_bytes);
		say(text, ", it does not say how much is free");
		return;
	}
	say_bytes(text, "; device: ", memory->free_bytes);
	say_bytes(text, " free of ", memory->total_bytes);
	say_bytes(text, ", outside gpumem ", memory->outside_bytes);
}

/* What the pool takes from, in numbers and then in words. Of what is no device
 * memory there is no word of a driver. */
static void ask(struct gpumem_pool *pool, struct text *text,
		struct gpumem_memory *memory)
{
	bool known;

	memory->total_bytes = pool->heap.capacity_bytes;
	if (pool->heap.driver.kind != GPUMEM_KIND_DEVICE) {
		say_bytes(text, "; there cannot be more than ",
			  memory->total_bytes);
		return;
	}
	known = !gm_driver_memory_info(&pool->heap.driver, memory);
	if (known)
		gm_pool_complete_memory(pool->device, memory);
	say_device(text, memory, known);
}

gpumem_status gm_pool_report(struct gpumem_pool *pool, gpumem_status status,
			     uint64_t bytes)
{
	static const char *const kinds[] = {
		[GPUMEM_KIND_DEVICE] = "",
		[GPUMEM_KIND_PINNED] = " of pinned host memory",
		[GPUMEM_KIND_MANAGED] = " of managed memory",
	};
	struct gpumem_memory memory = {.size = sizeof(memory)};
	struct gpumem_error cause = {.size = sizeof(cause)};
	struct gpumem_stats stats;
	char buffer[900];
	struct text text = {buffer, sizeof(buffer)};

	gm_error_get(&cause);
	gm_pool_stats(pool, &stats);
	say(&text, "%s is out of memory", pool->device->info.name);
	say_bytes(&text, " for a request of ", bytes);
	say(&text, "; pool \"%s\"%s", pool->name,
	    kinds[pool->heap.driver.kind]);
	say_pool(&text, &stats);
	ask(pool, &text, &memory);
	say(&text, "; %s",
	    advice(&stats, &memory,
		   pool->heap.driver.kind == GPUMEM_KIND_DEVICE, status,
		   bytes));
	/* The driver's own number and name stay with the error. */
	if (cause.status != status)
		return gm_fail(status, "%s", buffer);
	cause.status = status;
	snprintf(cause.text, sizeof(cause.text), "%s", buffer);
	gm_error_set(&cause);
	return status;
}
