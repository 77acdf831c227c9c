/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The pool's statistics and the driver's calls, as text. report.c has them as
 * JSON.
 */
#include "replay.h"

#include "common/human.h"
#include "common/table.h"

static void count_row(struct table *table, const char *name, uint64_t count)
{
	table_cell(table, "%s", name);
	table_cell(table, "%llu", (unsigned long long)count);
}

static void bytes_row(struct table *table, const char *name, uint64_t bytes)
{
	char text[HUMAN_BYTES];

	table_cell(table, "%s", name);
	table_cell(table, "%s", human_bytes(text, bytes));
}

/* Of the list of statistics those that a replay is judged by. */
#define ROW_GAUGE(name, unit)
#define ROW_COUNTER(name, unit) ROW_##unit(#name, stats->name)
#define ROW_VALUE(name, unit)
#define ROW_RATIO(name, unit)                                                  \
	table_cell(table, #name);                                              \
	table_cell(table, "%.1f %%", stats->name * 100.0);
#define ROW_COUNT(name, number) count_row(table, name, number);
#define ROW_BYTES(name, number) bytes_row(table, name, number);
#define ROW(name, type, unit) ROW_##type(name, unit)

static void pool_table(const struct gpumem_stats *stats, struct table *table)
{
	table_init(table, "lr");
	table_cell(table, "pool");
	table_end_row(table);
	GPUMEM_STATS_LIST(ROW)
}

static void call_row(struct table *table, const char *name, uint64_t count,
		     double ns)
{
	char text[HUMAN_BYTES];

	count_row(table, name, count);
	table_cell(table, "%s", human_ns(text, ns));
}

/* The policy `direct` knows the total only. */
static void call_table(const struct replay_usage *end, struct table *table)
{
	table_init(table, "lrrr");
	table_cell(table, "driver call");
	table_cell(table, "calls");
	table_cell(table, "time");
	table_cell(table, "failed");
	for (unsigned i = 0; i < GPUMEM_CALL_COUNT; i++) {
		if (!end->calls[i].count)
			continue;
		call_row(table, gpumem_call_name(i), end->calls[i].count,
			 (double)end->calls[i].ns);
		table_cell(table, "%llu",
			   (unsigned long long)end->calls[i].failed);
	}
	call_row(table, "total", end->driver_calls, (double)end->driver_ns);
	table_end_row(table);
}

bool replay_pool_text(const struct replay *replay)
{
	const struct replay_usage *end = &replay->end;
	struct table pool = {0}, calls;
	bool ok = true;

	if (end->stats.size) {
		pool_table(&end->stats, &pool);
		putchar('\n');
		ok = table_print(&pool, 0);
	}
	call_table(end, &calls);
	putchar('\n');
	ok = table_print(&calls, 0) && ok;
	table_free(&pool);
	table_free(&calls);
	return ok;
}
