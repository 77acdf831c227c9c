/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What gpumem.h promises of the statistics of every pool at every instant. No
 * state; any thread.
 */
#ifndef TESTS_LAW_H
#define TESTS_LAW_H

#include <gpumem/gpumem.h>
#include <stddef.h>

#define LAW_GAUGE(name)                                                        \
	if (s->name.current > s->name.peak)                                    \
		return #name ": current <= peak";
#define LAW_COUNTER(name)
#define LAW_VALUE(name)
#define LAW_RATIO(name)                                                        \
	if (!(s->name >= 0 && s->name <= 1))                                   \
		return "0 <= " #name " <= 1";
#define LAW(name, type, unit) LAW_##type(name)

#define LAW_OF_SERVED(name, number, statistic, text) +s->served_##statistic
#define LAW_SERVED GPUMEM_SERVED_LIST(LAW_OF_SERVED)

/* The first law that does not hold, or NULL. */
static inline const char *unlawful(const struct gpumem_stats *s)
{
	GPUMEM_STATS_LIST(LAW)
	if (s->requested.current > s->allocated.current)
		return "requested <= allocated";
	if (s->allocated.current > s->active.current)
		return "allocated <= active";
	if (s->active.current > s->reserved.current + s->sleeping.current)
		return "active <= reserved + sleeping";
	if (s->sleeping.current > s->allocated.current)
		return "sleeping <= allocated";
	if (s->requested.peak > s->allocated.peak ||
	    s->allocated.peak > s->active.peak ||
	    s->active.peak > s->reserved.peak + s->sleeping.peak)
		return "the same of the peaks";
	if (s->limit_bytes && s->reserved.current > s->limit_bytes)
		return "reserved <= limit";
	if (s->pending_bytes != s->active.current - s->allocated.current)
		return "pending == active - allocated";
	if (s->quarantined_bytes > s->pending_bytes)
		return "quarantined <= pending";
	if (s->free_bytes !=
	    s->reserved.current + s->sleeping.current - s->active.current)
		return "free == reserved + sleeping - active";
	if (s->cached_bytes > s->free_bytes)
		return "cached <= free";
	if (s->unreleasable_bytes > s->free_bytes - s->cached_bytes)
		return "holes <= free - cached";
	if (s->page_part_bytes + s->handle_part_bytes + s->slab_part_bytes +
		    s->graph_bytes !=
	    s->unreleasable_bytes)
		return "unreleasable == parts of pages, handles, slabs, graphs";
	if (s->slab_part_bytes > s->unreleasable_bytes)
		return "parts of slabs <= unreleasable";
	if (s->stale_bytes && !s->reserved.current)
		return "stale addresses are of reserved memory";
	if (s->largest_free_bytes > s->free_bytes)
		return "largest free <= free";
	if (LAW_SERVED != s->hits + s->misses)
		return "each allocation was served once";
	return NULL;
}

#undef LAW
#undef LAW_GAUGE
#undef LAW_COUNTER
#undef LAW_VALUE
#undef LAW_RATIO
#undef LAW_OF_SERVED
#undef LAW_SERVED

#endif
