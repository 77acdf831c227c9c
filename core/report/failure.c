/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The sentence of an allocation that failed for memory: every figure that says
 * why, and what to do about it. See oom.h. */
#include "oom.h"
#include "device/claim.h"
#include "base/error.h"
#include "base/line.h"

#include <string.h>

/* What the flags of the request have ruled out. */
static void say_flags(struct gm_text *text, const struct gm_oom *oom)
{
	if (oom->request->bytes > oom->memory.total_bytes)
		return;
	if (oom->request->flags & GPUMEM_ALLOC_NO_GROW)
		gm_text_say(
			text,
			"; GPUMEM_ALLOC_NO_GROW forbade to take memory from "
			"the driver, to move pages, to trim and to call the "
			"pressure callbacks");
	if (oom->request->flags & GPUMEM_ALLOC_NO_WAIT)
		gm_text_say(text,
			    "; GPUMEM_ALLOC_NO_WAIT forbade to wait for the "
			    "device or other threads, and to trim");
}

/* Free memory need not be in blocks: handles can be ours and at no address. */
static void say_largest(struct gm_text *text, const struct gpumem_stats *stats)
{
	if (stats->free_bytes && !stats->largest_free_bytes) {
		gm_text_say(text, ", no free block");
		return;
	}
	gm_text_say_bytes(text, ", largest free block ",
			  stats->largest_free_bytes);
	gm_text_say(text, ", fragmentation %.0f %%",
		    100 * stats->fragmentation);
}

static void say_pool(struct gm_text *text, const struct gpumem_stats *stats)
{
	gm_text_say_bytes(text, "requested ", stats->requested.current);
	gm_text_say_bytes(text, ", allocated ", stats->allocated.current);
	gm_text_say_bytes(text, ", active ", stats->active.current);
	if (stats->quarantined_bytes)
		gm_text_say_bytes(text, ", quarantined ",
				  stats->quarantined_bytes);
	gm_text_say_bytes(text, ", reserved ", stats->reserved.current);
	if (stats->limit_bytes)
		gm_text_say_bytes(text, ", limit ", stats->limit_bytes);
	else
		gm_text_say(text, ", no limit");
	say_largest(text, stats);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void say_part(struct gm_text *text, const char **before, uint64_t bytes,
		     const char *what)
{
	if (!bytes)
		return;
	gm_text_say_bytes(text, *before, bytes);
	gm_text_say(text, " %s", what);
	*before = ", ";
}

/* What there is besides blocks, and why each part of it did not serve. */
static void say_free(struct gm_text *text, const struct gm_oom *oom)
{
	const struct gpumem_stats *stats = &oom->stats;
	uint64_t whole = stats->free_bytes - stats->unreleasable_bytes -
			 stats->cached_bytes;
	uint64_t busy = least(oom->busy_bytes, whole);
	uint64_t unplaced = least(oom->unplaced_bytes, whole - busy);
	const char *parts = gm_space_has_pages(&oom->pool->heap)
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
	say_part(text, &before, unplaced,
		 "in whole handles that are at no address yet");
	say_part(text, &before, whole - busy - unplaced,
		 gm_space_has_pages(&oom->pool->heap) ? "in whole handles"
						      : "in whole segments");
}

/* Of a path that is long the end. */
static void say_path(struct gm_text *text, const char *path)
{
	enum { SHOWN = 48 };
	size_t bytes = strlen(path);
	bool cut = bytes > SHOWN;

	gm_text_say(text, " \"%s%s\"", cut ? "..." : "",
		    cut ? path + bytes - SHOWN : path);
}

/* Of the blocks, where some have a tag. */
static void say_tags(struct gm_text *text, struct gpumem_pool *pool)
{
	enum { TOP = 3 };
	const char *before = "; most by tag: ";
	struct gm_top_tag top[TOP];

	gm_pool_top_tags(pool, top, TOP);
	for (unsigned i = 0; i < TOP && top[i].bytes; i++) {
		gm_text_say_bytes(text, before, top[i].bytes);
		if (top[i].tag)
			say_path(text, gm_tag_path(top[i].tag));
		else
			gm_text_say(text, " without one");
		before = ", ";
	}
}

/* known: the driver said how much is free. */
static void say_device(struct gm_text *text, const struct gpumem_memory *memory,
		       bool known)
{
	if (!known) {
		gm_text_say_bytes(text, "; device: of ", memory->total_bytes);
		gm_text_say(text, ", free memory unknown");
		return;
	}
	gm_text_say_bytes(text, "; device: ", memory->free_bytes);
	gm_text_say_bytes(text, " free of ", memory->total_bytes);
	gm_text_say_bytes(text, ", outside gpumem ", memory->outside_bytes);
}

/* What the pool takes from, in numbers. Of what is no device memory there is no
 * word of a driver. */
static void ask(struct gm_oom *oom)
{
	struct gpumem_pool *pool = oom->pool;

	oom->memory.total_bytes = pool->heap.capacity_bytes;
	if (pool->heap.driver.kind != GPUMEM_KIND_DEVICE)
		return;
	oom->memory.total_bytes = pool->device->info.total_bytes;
	oom->known = gm_driver_memory_info(&pool->heap.driver, &oom->memory) ==
		     GPUMEM_OK;
	if (oom->known)
		gm_pool_complete_memory(pool->device, &oom->memory);
	if (oom->known || oom->device_limit)
		oom->left_bytes =
			least(oom->known ? oom->memory.free_bytes : UINT64_MAX,
			      gm_claim_room(pool->device));
}

/* The same in words. */
static void say_source(struct gm_text *text, const struct gm_oom *oom)
{
	if (oom->pool->heap.driver.kind == GPUMEM_KIND_DEVICE)
		say_device(text, &oom->memory, oom->known);
	else
		gm_text_say_bytes(text, "; there cannot be more than ",
				  oom->memory.total_bytes);
}

static void look_at_streams(struct gm_oom *oom)
{
	struct gm_heap *heap = &oom->pool->heap;

	pthread_mutex_lock(&heap->mutex);
	oom->busy_bytes = gm_space_busy_bytes(heap);
	oom->unplaced_bytes =
		heap->space->spare_pages * (uint64_t)heap->page_bytes;
	oom->captured = gm_capture_forbids(heap, NULL);
	pthread_mutex_unlock(&heap->mutex);
}

static void look(struct gm_oom *oom)
{
	gm_error_get(&oom->cause);
	look_at_streams(oom);
	gm_pool_stats(oom->pool, &oom->stats);
	oom->device_limit = *oom->request->device_limit_out;
	oom->limit_bytes = oom->device_limit ? oom->pool->device->limit_bytes
					     : oom->stats.limit_bytes;
	ask(oom);
	if (oom->device_limit)
		gm_oom_look_at_pools(oom);
	gm_oom_advise(oom);
}

static void say_pool_name(struct gm_text *text, const struct gpumem_pool *pool)
{
	static const char *const kinds[] = {
		[GPUMEM_KIND_DEVICE] = "",
		[GPUMEM_KIND_PINNED] = " of pinned host memory",
		[GPUMEM_KIND_MANAGED] = " of managed memory",
	};

	gm_text_say(text, "pool \"%s\"%s", pool->name,
		    kinds[pool->heap.driver.kind]);
}

/* Was it one of our own limits? Another thread may have lifted it by now. */
static bool is_limited(const struct gm_oom *oom)
{
	return oom->status == GPUMEM_LIMIT &&
	       (oom->request->over->tag || oom->limit_bytes);
}

static void say_device_limited(struct gm_text *text, const struct gm_oom *oom)
{
	gm_text_say(text, "%s", oom->pool->device->info.name);
	gm_text_say_bytes(text, ": its limit of ", oom->limit_bytes);
	gm_text_say(text, " for all pools of this program (option "
			  "`device_limit`) is reached: out of memory");
	gm_text_say_bytes(text, " for a request of ", oom->request->bytes);
	gm_text_say(text, "; ");
	gm_oom_say_holders(oom, text);
	say_pool_name(text, oom->pool);
	gm_text_say(text, ": ");
}

/* The device has memory left, but the pool or the tag may have no more. */
static void say_limited(struct gm_text *text, const struct gm_oom *oom)
{
	const struct gm_tag_over *over = oom->request->over;

	say_pool_name(text, oom->pool);
	gm_text_say(text, " on %s: ", oom->pool->device->info.name);
	if (over->tag) {
		gm_text_say(text, "the limit of tag");
		say_path(text, gm_tag_path(over->tag));
	} else {
		gm_text_say_bytes(text, "its hard limit of ", oom->limit_bytes);
	}
	gm_text_say_bytes(text, " is reached: out of memory for a request of ",
			  oom->request->bytes);
	gm_text_say(text, "; ");
}

static void say_head(struct gm_text *text, const struct gm_oom *oom)
{
	if (oom->device_limit) {
		say_device_limited(text, oom);
		return;
	}
	if (is_limited(oom)) {
		say_limited(text, oom);
		return;
	}
	gm_text_say(text, "%s is out of memory", oom->pool->device->info.name);
	gm_text_say_bytes(text, " for a request of ", oom->request->bytes);
	gm_text_say(text, "; ");
	say_pool_name(text, oom->pool);
	gm_text_say(text, ": ");
}

static void say_all(struct gm_text *text, const struct gm_oom *oom)
{
	say_head(text, oom);
	say_pool(text, &oom->stats);
	say_free(text, oom);
	say_source(text, oom);
	gm_text_say(text, "; ");
	gm_oom_say_advice(oom, text);
	say_flags(text, oom);
	say_tags(text, oom->pool);
}

static void record(const struct gm_oom *oom)
{
	struct gm_heap *heap = &oom->pool->heap;

	pthread_mutex_lock(&heap->mutex);
	GM_RECORD(heap->record, GPUMEM_RECORD_OOM, oom->request->bytes,
		  oom->status, oom->stats.reserved.current, oom->advice);
	pthread_mutex_unlock(&heap->mutex);
}

gpumem_status gm_pool_report(struct gpumem_pool *pool, gpumem_status status,
			     const struct gm_request *request)
{
	struct gm_oom oom = {
		.pool = pool,
		.request = request,
		.status = status,
		.memory = {.size = sizeof(oom.memory)},
		.cause = {.size = sizeof(oom.cause)},
		.need_bytes = gm_budget_need(&pool->heap, request->bytes)};
	struct gpumem_error error;
	char buffer[sizeof(error.text)];
	struct gm_text text = {buffer, sizeof(buffer)};

	look(&oom);
	record(&oom);
	say_all(&text, &oom);
	/* The driver's own number and name stay with the error. */
	if (oom.cause.status == status) {
		error = oom.cause;
		gm_line_copy(error.text, sizeof(error.text), buffer);
		gm_error_set(&error);
	} else {
		(void)gm_fail(status, "%s", buffer);
	}
	gm_oom_tell(&oom);
	return status;
}
