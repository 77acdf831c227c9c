/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The sentence of an allocation that failed for memory: every figure that says
 * why, and what to do about it. */
#include "pool.h"
#include "base/error.h"
#include "base/line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/* All that the advice looks at. */
struct facts {
	const struct gm_heap *heap;
	const struct gpumem_stats *stats;
	const struct gpumem_memory *memory;
	const struct gpumem_error *cause; /* of the last attempt */
	gpumem_status status;
	bool known;	      /* the driver said how much is free */
	uint64_t busy_bytes;  /* free, but streams may be at work on it */
	uint64_t bytes, need; /* asked for; and for that of the driver */
	uint32_t flags;	      /* of the request */
};

/* It was no lack of memory that can be seen: the driver's own word, or that of
 * the part of the pool that did not get as far as the driver. */
static bool is_other_cause(const struct facts *facts)
{
	return facts->status == GPUMEM_NO_MEMORY &&
	       facts->cause->status == GPUMEM_NO_MEMORY &&
	       (!facts->known || facts->memory->free_bytes >= facts->need);
}

/* There is enough, but not where it could be used. */
static const char *advice_scattered(const struct facts *facts)
{
	const struct gm_heap *heap = facts->heap;

	if (facts->busy_bytes >= facts->bytes)
		return "enough is free but in use by streams: synchronise "
		       "them, or let the allocation wait";
	if (facts->stats->graph_bytes > facts->stats->unreleasable_bytes / 2)
		return "enough is free but not in one piece, or kept for "
		       "captured graphs: destroy graphs that are not needed "
		       "(gpumem_graph_destroy)";
	if (heap->vm && facts->stats->handle_part_bytes >
				facts->stats->unreleasable_bytes / 2)
		return "enough is free but in handles that also hold live "
		       "blocks: free those, or take smaller handles (option "
		       "`handle_max`)";
	if (heap->vm)
		return "enough is free but in pages that also hold live "
		       "blocks: free those, or take smaller pages (options "
		       "`page`, `handle_max`)";
	if (heap->driver.kind == GPUMEM_KIND_DEVICE &&
	    heap->share != GPUMEM_SHARE_IPC &&
	    gm_device_has(heap->driver.device, GPUMEM_CAP_VM))
		return "enough is free but not in one piece: turn virtual "
		       "memory on (option `vm`), or allocate large blocks "
		       "first";
	return "enough is free but not in one piece: allocate large blocks "
	       "first";
}

static void advise_limit(struct text *text, const struct facts *facts)
{
	if (facts->need <= facts->stats->limit_bytes) {
		say(text, "; free blocks, or raise the pool's limit");
		return;
	}
	say_bytes(text, "; the request takes ", facts->need);
	say(text, " in whole %s, more than the pool's limit: raise it",
	    facts->heap->vm ? "pages" : "segments");
}

static void say_cause(struct text *text, const struct facts *facts)
{
	if (facts->known)
		say(text, "; the device has enough, but: %s",
		    facts->cause->text);
	else
		say(text, "; %s", facts->cause->text);
}

/* What fits the state best; one sentence. */
static const char *advice(const struct facts *facts)
{
	const struct gpumem_stats *stats = facts->stats;

	if (stats->quarantined_bytes >= facts->bytes)
		return "much is freed, but the program still holds views of "
		       "it: release them (gpumem_view)";
	if (stats->pending_bytes >= facts->bytes)
		return "much is freed but still in use by other streams: "
		       "synchronise them, or free later";
	if (stats->free_bytes >= facts->bytes)
		return advice_scattered(facts);
	if (facts->memory->outside_bytes >= facts->bytes)
		return "other programs or allocators hold enough of the device "
		       "for this request: gpumem-probe shows how much";
	return "free blocks, or make the model or the batch smaller";
}

static void advise(struct text *text, const struct facts *facts)
{
	const struct gpumem_stats *stats = facts->stats;
	bool of_device = facts->heap->driver.kind == GPUMEM_KIND_DEVICE;

	if (facts->bytes > facts->memory->total_bytes)
		say(text, "; the %s is too small for this request",
		    of_device ? "device" : "machine");
	else if (facts->status == GPUMEM_LIMIT &&
		 (facts->need > stats->limit_bytes ||
		  (stats->quarantined_bytes < facts->bytes &&
		   stats->pending_bytes < facts->bytes &&
		   stats->free_bytes < facts->bytes)))
		advise_limit(text, facts);
	else if (is_other_cause(facts))
		say_cause(text, facts);
	else
		say(text, "; %s", advice(facts));
}

/* What the flags of the request have ruled out. */
static void say_flags(struct text *text, const struct facts *facts)
{
	if (facts->bytes > facts->memory->total_bytes)
		return;
	if (facts->flags & GPUMEM_ALLOC_NO_GROW)
		say(text, "; GPUMEM_ALLOC_NO_GROW forbade to take memory from "
			  "the driver, to move pages, to trim and to call the "
			  "pressure callbacks");
	if (facts->flags & GPUMEM_ALLOC_NO_WAIT)
		say(text, "; GPUMEM_ALLOC_NO_WAIT forbade to wait for the "
			  "device or other threads, and to trim");
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

static void say_part(struct text *text, const char **before, uint64_t bytes,
		     const char *what)
{
	if (!bytes)
		return;
	say_bytes(text, *before, bytes);
	say(text, " %s", what);
	*before = ", ";
}

/* What there is besides blocks, and why each part of it did not serve. */
static void say_free(struct text *text, const struct facts *facts)
{
	const struct gpumem_stats *stats = facts->stats;
	uint64_t whole = stats->free_bytes - stats->unreleasable_bytes -
			 stats->cached_bytes;
	uint64_t busy = facts->busy_bytes < whole ? facts->busy_bytes : whole;
	const char *parts = facts->heap->vm
				    ? "in handles that blocks have a part of"
				    : "in segments that blocks have a part of";
	const char *before = "; free: ";

	say_part(text, &before, stats->page_part_bytes,
		 "in pages that blocks have a part of");
	say_part(text, &before, stats->handle_part_bytes, parts);
	say_part(text, &before, stats->slab_part_bytes, "in slabs");
	say_part(text, &before, stats->graph_bytes, "kept for graphs");
	say_part(text, &before, stats->cached_bytes, "cached by threads");
	say_part(text, &before, busy, "in use by streams");
	say_part(text, &before, whole - busy,
		 facts->heap->vm ? "in whole handles" : "in whole segments");
}

/* Of the blocks, where some have a tag: the end of a path that is long. */
static void say_tags(struct text *text, struct gpumem_pool *pool)
{
	enum { TOP = 3, SHOWN = 48 };
	const char *before = "; most by tag: ";
	struct gm_top_tag top[TOP];

	gm_pool_top_tags(pool, top, TOP);
	for (unsigned i = 0; i < TOP && top[i].bytes; i++) {
		const char *path = top[i].tag ? gm_tag_path(top[i].tag) : "";
		size_t bytes = strlen(path);
		bool cut = bytes > SHOWN;

		say_bytes(text, before, top[i].bytes);
		say(text, top[i].tag ? " \"%s%s\"" : " without one",
		    cut ? "..." : "", cut ? path + bytes - SHOWN : path);
		before = ", ";
	}
}

/* known: the driver said how much is free. */
static void say_device(struct text *text, const struct gpumem_memory *memory,
		       bool known)
{
	if (!known) {
		say_bytes(text, "; device: of ", memory->total_bytes);
		say(text, ", free memory unknown");
		return;
	}
	say_bytes(text, "; device: ", memory->free_bytes);
	say_bytes(text, " free of ", memory->total_bytes);
	say_bytes(text, ", outside gpumem ", memory->outside_bytes);
}

/* What the pool takes from, in numbers and then in words. Of what is no device
 * memory there is no word of a driver. True when the driver says how much is
 * free. */
static bool ask(struct gpumem_pool *pool, struct text *text,
		struct gpumem_memory *memory)
{
	bool known;

	memory->total_bytes = pool->heap.capacity_bytes;
	if (pool->heap.driver.kind != GPUMEM_KIND_DEVICE) {
		say_bytes(text, "; there cannot be more than ",
			  memory->total_bytes);
		return false;
	}
	known = gm_driver_memory_info(&pool->heap.driver, memory) == GPUMEM_OK;
	if (known)
		gm_pool_complete_memory(pool->device, memory);
	say_device(text, memory, known);
	return known;
}

static uint64_t busy_bytes(struct gpumem_pool *pool)
{
	uint64_t bytes;

	pthread_mutex_lock(&pool->heap.mutex);
	bytes = gm_space_busy_bytes(&pool->heap);
	pthread_mutex_unlock(&pool->heap.mutex);
	return bytes;
}

gpumem_status gm_pool_report(struct gpumem_pool *pool, gpumem_status status,
			     const struct gm_request *request)
{
	uint64_t bytes = request->bytes;
	static const char *const kinds[] = {
		[GPUMEM_KIND_DEVICE] = "",
		[GPUMEM_KIND_PINNED] = " of pinned host memory",
		[GPUMEM_KIND_MANAGED] = " of managed memory",
	};
	struct gpumem_memory memory = {.size = sizeof(memory)};
	struct gpumem_error cause = {.size = sizeof(cause)};
	struct gpumem_stats stats;
	struct facts facts = {.heap = &pool->heap,
			      .stats = &stats,
			      .memory = &memory,
			      .cause = &cause,
			      .status = status,
			      .busy_bytes = busy_bytes(pool),
			      .bytes = bytes,
			      .flags = request->flags,
			      .need = gm_budget_need(&pool->heap, bytes)};
	char buffer[sizeof(cause.text)];
	struct text text = {buffer, sizeof(buffer)};

	gm_error_get(&cause);
	gm_pool_stats(pool, &stats);
	say(&text, "%s is out of memory", pool->device->info.name);
	say_bytes(&text, " for a request of ", bytes);
	say(&text, "; pool \"%s\"%s", pool->name,
	    kinds[pool->heap.driver.kind]);
	say_pool(&text, &stats);
	say_free(&text, &facts);
	facts.known = ask(pool, &text, &memory);
	advise(&text, &facts);
	say_flags(&text, &facts);
	say_tags(&text, pool);
	/* The driver's own number and name stay with the error. */
	if (cause.status != status)
		return gm_fail(status, "%s", buffer);
	cause.status = status;
	gm_line_copy(cause.text, sizeof(cause.text), buffer);
	gm_error_set(&cause);
	return status;
}
