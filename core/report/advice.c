/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What would help an allocation that failed for memory, decided once and said
 * in words. See oom.h. */
#include "oom.h"

/* ---- the decision ---- */

static bool others_have_it(struct gm_oom *oom)
{
	if (oom->status != GPUMEM_NO_MEMORY && !oom->device_limit)
		return false;
	gm_oom_look_at_pools(oom);
	return oom->others_bytes &&
	       oom->others_bytes + oom->left_bytes >= oom->need_bytes;
}

/* It was no lack of memory that can be seen: the driver's own word, or that of
 * the part of the pool that did not get as far as the driver. */
static bool is_other_cause(const struct gm_oom *oom)
{
	return oom->status == GPUMEM_NO_MEMORY &&
	       oom->cause.status == GPUMEM_NO_MEMORY &&
	       (!oom->known || oom->left_bytes >= oom->need_bytes);
}

/* There is enough, but not where it could be used. */
static gpumem_advice of_scattered(const struct gm_oom *oom)
{
	const struct gpumem_stats *stats = &oom->stats;
	uint64_t half = stats->unreleasable_bytes / 2;

	if (oom->busy_bytes >= oom->request->bytes)
		return GPUMEM_ADVICE_STREAMS;
	if (stats->graph_bytes > half)
		return GPUMEM_ADVICE_GRAPHS;
	if (!gm_space_has_pages(&oom->pool->heap))
		return GPUMEM_ADVICE_SEGMENTS;
	return stats->handle_part_bytes > half ? GPUMEM_ADVICE_HANDLES
					       : GPUMEM_ADVICE_PAGES;
}

/* Would there be enough, here or in other pools, if all of it could be had? */
static bool has_unused(struct gm_oom *oom)
{
	return oom->stats.free_bytes + oom->stats.pending_bytes >=
		       oom->request->bytes ||
	       others_have_it(oom);
}

static gpumem_advice of_state(struct gm_oom *oom)
{
	const struct gpumem_stats *stats = &oom->stats;
	uint64_t bytes = oom->request->bytes;

	if (oom->captured && has_unused(oom))
		return GPUMEM_ADVICE_CAPTURE;
	if (stats->quarantined_bytes >= bytes)
		return GPUMEM_ADVICE_VIEWS;
	if (stats->pending_bytes >= bytes)
		return GPUMEM_ADVICE_STREAMS;
	if (stats->free_bytes >= bytes)
		return of_scattered(oom);
	if (others_have_it(oom))
		return GPUMEM_ADVICE_POOLS;
	if (oom->memory.outside_bytes >= bytes)
		return GPUMEM_ADVICE_OUTSIDE;
	return GPUMEM_ADVICE_LESS;
}

/* A limit of the pool or the device, and nothing below it could serve. */
static bool is_limit(struct gm_oom *oom)
{
	const struct gpumem_stats *stats = &oom->stats;
	uint64_t bytes = oom->request->bytes;

	return oom->status == GPUMEM_LIMIT &&
	       (oom->need_bytes > oom->limit_bytes ||
		(stats->quarantined_bytes < bytes &&
		 stats->pending_bytes < bytes && stats->free_bytes < bytes &&
		 !others_have_it(oom)));
}

void gm_oom_advise(struct gm_oom *oom)
{
	if (oom->request->bytes > oom->memory.total_bytes)
		oom->advice = GPUMEM_ADVICE_TOO_LARGE;
	else if (oom->request->over->tag)
		oom->advice = GPUMEM_ADVICE_TAG_LIMIT;
	else if (is_limit(oom))
		oom->advice = GPUMEM_ADVICE_LIMIT;
	else if (is_other_cause(oom))
		oom->advice = oom->request->flags & (GPUMEM_ALLOC_NO_WAIT |
						     GPUMEM_ALLOC_NO_GROW)
				      ? GPUMEM_ADVICE_FLAGS
				      : GPUMEM_ADVICE_DRIVER;
	else
		oom->advice = of_state(oom);
}

/* ---- in words ---- */

static void say_limit(const struct gm_oom *oom, struct gm_text *text)
{
	const char *whose = oom->device_limit ? "device" : "pool";

	if (oom->need_bytes <= oom->limit_bytes) {
		gm_text_say(text, "free blocks%s, or raise the %s's limit",
			    oom->device_limit ? ", of this or other pools" : "",
			    whose);
		return;
	}
	gm_text_say_bytes(text, "the request takes ", oom->need_bytes);
	gm_text_say(text, " in whole %s, more than the %s's limit: raise it",
		    gm_space_has_pages(&oom->pool->heap) ? "pages" : "segments",
		    whose);
}

static void say_tag_limit(const struct gm_oom *oom, struct gm_text *text)
{
	const struct gm_tag_over *over = oom->request->over;

	gm_text_say(text, "tag \"%s\" holds", gm_tag_path(over->tag));
	gm_text_say_bytes(text, " ", over->held_bytes);
	gm_text_say_bytes(text, " of its limit of ", over->limit_bytes);
	gm_text_say(text, ": free blocks of it or of tags inside it, or raise "
			  "its limit (gpumem_tag_set_limit)");
}

static void say_cause(const struct gm_oom *oom, struct gm_text *text)
{
	gm_text_say(text, "%s%s",
		    oom->known ? "the device has enough, but: " : "",
		    oom->cause.text);
}

static const char *streams_text(const struct gm_oom *oom)
{
	return oom->stats.pending_bytes >= oom->request->bytes
		       ? "much is freed but still in use by other streams: "
			 "synchronise them, or free later"
		       : "enough is free but in use by streams: synchronise "
			 "them, or let the allocation wait";
}

static const char *segments_text(const struct gm_heap *heap)
{
	if (heap->driver.kind == GPUMEM_KIND_DEVICE &&
	    heap->share != GPUMEM_SHARE_IPC &&
	    gm_device_has(heap->driver.device, GPUMEM_CAP_VM))
		return "enough is free but not in one piece: turn virtual "
		       "memory on (option `vm`), or allocate large blocks "
		       "first";
	return "enough is free but not in one piece: allocate large blocks "
	       "first";
}

static void say_pools(const struct gm_oom *oom, struct gm_text *text)
{
	gm_text_say_bytes(text, "other pools of this program have ",
			  oom->others_bytes);
	gm_text_say(text,
		    " free, pool \"%s\" most of it: synchronise their streams "
		    "and trim them (gpumem_device_trim)",
		    oom->others_most);
}

/* Of what needs no figures. */
static const char *const texts[] = {
	[GPUMEM_ADVICE_LESS] =
		"free blocks, or make the model or the batch smaller",
	[GPUMEM_ADVICE_VIEWS] =
		"much is freed, but the program still holds views of it: "
		"release them (gpumem_view)",
	[GPUMEM_ADVICE_GRAPHS] =
		"enough is free but not in one piece, or kept for captured "
		"graphs: destroy graphs that are not needed "
		"(gpumem_graph_destroy)",
	[GPUMEM_ADVICE_HANDLES] =
		"enough is free but in handles that also hold live blocks: "
		"free those, or take smaller handles (option `handle_max`)",
	[GPUMEM_ADVICE_PAGES] =
		"enough is free but in pages that also hold live blocks: free "
		"those, or take smaller pages (options `page`, `handle_max`)",
	[GPUMEM_ADVICE_CAPTURE] =
		"enough is free, but a stream is being captured, and until "
		"that ends this device gives nothing back and moves nothing: "
		"trim the pool (gpumem_pool_trim), or allocate what the "
		"capture needs, before it begins",
	[GPUMEM_ADVICE_OUTSIDE] =
		"other programs or allocators hold enough of the device for "
		"this request: gpumem-probe shows how much",
};

void gm_oom_say_advice(const struct gm_oom *oom, struct gm_text *text)
{
	const struct gm_heap *heap = &oom->pool->heap;

	switch (oom->advice) {
	case GPUMEM_ADVICE_TOO_LARGE:
		gm_text_say(text, "the %s is too small for this request",
			    heap->driver.kind == GPUMEM_KIND_DEVICE
				    ? "device"
				    : "machine");
		break;
	case GPUMEM_ADVICE_LIMIT:
		say_limit(oom, text);
		break;
	case GPUMEM_ADVICE_TAG_LIMIT:
		say_tag_limit(oom, text);
		break;
	case GPUMEM_ADVICE_FLAGS:
	case GPUMEM_ADVICE_DRIVER:
		say_cause(oom, text);
		break;
	case GPUMEM_ADVICE_STREAMS:
		gm_text_say(text, "%s", streams_text(oom));
		break;
	case GPUMEM_ADVICE_SEGMENTS:
		gm_text_say(text, "%s", segments_text(heap));
		break;
	case GPUMEM_ADVICE_POOLS:
		say_pools(oom, text);
		break;
	default:
		gm_text_say(text, "%s", texts[oom->advice]);
		break;
	}
}
