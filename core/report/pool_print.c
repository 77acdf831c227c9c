/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A pool's summary, as text and as JSON: sections, one after the other, each of
 * which takes its numbers first. The program's function is called between them,
 * and with no lock held.
 */
#include "report.h"
#include "base/name.h"
#include "base/print.h"

static void print_identity(struct gm_print *print, struct gpumem_pool *pool)
{
	gm_print_text(print, "pool", pool->name);
	gm_print_text(print, "device", pool->device->info.name);
	gm_print_text(print, "kind", gm_kind_name(pool->heap.driver.kind));
}

static void print_gauge(struct gm_print *print, const char *name,
			const struct gpumem_gauge *gauge,
			enum gm_print_unit unit)
{
	gm_print_open(print, name, true);
	gm_print_number(print, "current", gauge->current, unit);
	gm_print_number(print, "peak", gauge->peak, unit);
	gm_print_number(print, "total", gauge->total, unit);
	gm_print_close(print);
}

#define PRINT_GAUGE(name, unit)                                                \
	print_gauge(print, #name, &stats->name, GM_PRINT_##unit);
#define PRINT_COUNTER(name, unit)                                              \
	gm_print_number(print, #name, stats->name, GM_PRINT_##unit);
#define PRINT_VALUE(name, unit) PRINT_COUNTER(name, unit)
#define PRINT_RATIO(name, unit) gm_print_fraction(print, #name, stats->name);
#define PRINT(name, type, unit) PRINT_##type(name, unit)

void gm_stats_print(struct gm_print *print, const struct gpumem_stats *stats)
{
	GPUMEM_STATS_LIST(PRINT)
}

static void print_stats(struct gm_print *print, struct gpumem_pool *pool)
{
	struct gpumem_stats stats;

	gm_pool_stats(pool, &stats);
	gm_stats_print(print, &stats);
}

static void print_call(struct gm_print *print, struct gpumem_pool *pool,
		       const char *name, unsigned call)
{
	struct gpumem_call_stats stats;

	gm_pool_calls(pool, call, &stats);
	gm_print_open(print, name, true);
	gm_print_number(print, "count", stats.count, GM_PRINT_COUNT);
	gm_print_number(print, "failed", stats.failed, GM_PRINT_COUNT);
	gm_print_number(print, "ns", stats.ns, GM_PRINT_NS);
	gm_print_close(print);
}

static void print_calls(struct gm_print *print, struct gpumem_pool *pool)
{
	gm_print_open(print, "calls", false);
#define PRINT_CALL(upper, name)                                                \
	print_call(print, pool, #name, GPUMEM_CALL_##upper);
	GPUMEM_CALL_LIST(PRINT_CALL)
	gm_print_close(print);
}

static void (*const sections[])(struct gm_print *, struct gpumem_pool *) = {
	print_identity,
	print_stats,
	print_calls,
};

void gm_pool_print(struct gpumem_pool *pool, bool json,
		   void (*write)(const char *text, void *user), void *user)
{
	struct gm_print print;

	gm_print_begin(&print, json, write, user);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		sections[i](&print, pool);
	gm_print_end(&print);
}
