/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Tables and JSON. See bench.h.
 */
#include "bench.h"

#include "common/human.h"
#include "common/json.h"
#include "common/table.h"
#include "common/tool.h"

#include <math.h>
#include <string.h>

static void head(const struct bench *bench, const struct bench_row *row,
		 struct table *table)
{
	char align[TABLE_COLUMNS + 1] = "l";
	size_t columns =
		2u * (size_t)bench->peer_count + 1u + (size_t)row->extra_count;

	memset(align + 1, 'r', columns - 1);
	table_init(table, align);
	table_cell(table, "%s", row->bench);
	for (int i = 0; i < bench->peer_count; i++) {
		table_cell(table, "%s", bench->peers[i].name);
		if (i)
			table_cell(table, "x");
	}
	table_cell(table, "driver calls");
	for (int i = 0; i < row->extra_count; i++)
		table_cell(table, "%s", row->extra[i].name);
}

/* A peer's time, and how many times as long the pool takes. */
static void peer_cells(struct table *table, const struct bench_row *row, int i)
{
	char text[HUMAN_BYTES];

	table_cell(table, "%s",
		   isnan(row->ns[i]) ? "-" : human_ns(text, row->ns[i]));
	if (!i)
		return;
	if (isnan(row->ns[i]))
		table_cell(table, "-");
	else
		table_cell(table, "%.2f", row->ns[0] / row->ns[i]);
}

static void number_cell(struct table *table, double value)
{
	if (value >= 1000.0)
		table_cell(table, "%.0f", value);
	else
		table_cell(table, "%.3g", value);
}

/* The first row says which extras there are; others may have none. */
bool bench_print_table(const struct bench *bench, int first)
{
	struct table table;
	bool ok;

	if (first == bench->row_count)
		return true;
	head(bench, &bench->rows[first], &table);
	for (int i = first; i < bench->row_count; i++) {
		const struct bench_row *row = &bench->rows[i];

		table_cell(&table, "%s", row->name);
		for (int peer = 0; peer < bench->peer_count; peer++)
			peer_cells(&table, row, peer);
		number_cell(&table, row->driver_calls);
		for (int j = 0; j < row->extra_count; j++)
			number_cell(&table, row->extra[j].value);
		table_end_row(&table);
	}
	ok = table_print(&table, 0);
	putchar('\n');
	fflush(stdout);
	if (!ok)
		tool_error("out of memory");
	table_free(&table);
	return ok;
}

static json_t *peers_json(const struct bench *bench,
			  const struct bench_row *row, bool *ok)
{
	json_t *peers = json_object();

	for (int i = 1; i < bench->peer_count; i++) {
		json_t *peer = json_object();

		json_put(peer, "ns", json_number(row->ns[i]), ok);
		json_put(peer, "ratio", json_number(row->ns[0] / row->ns[i]),
			 ok);
		json_put(peers, bench->peers[i].name, peer, ok);
	}
	return peers;
}

/* "vs 1 thread" -> "vs_1_thread" */
static void put_extra(json_t *object, const struct bench_extra *extra, bool *ok)
{
	char key[48];
	size_t i = 0;

	for (; extra->name[i] && i < sizeof(key) - 1; i++)
		key[i] = extra->name[i] == ' ' ? '_' : extra->name[i];
	key[i] = '\0';
	json_put(object, key, json_number(extra->value), ok);
}

static json_t *row_json(const struct bench *bench, const struct bench_row *row,
			bool *ok)
{
	json_t *object = json_object();

	json_put(object, "bench", json_text(row->bench), ok);
	json_put(object, "case", json_text(row->name), ok);
	if (row->series)
		json_put(object, "series", json_text(row->series), ok);
	if (row->axis)
		json_put(object, row->axis, json_u64(row->at), ok);
	json_put(object, "unit", json_text(row->unit), ok);
	json_put(object, "ns", json_number(row->ns[0]), ok);
	json_put(object, "peers", peers_json(bench, row, ok), ok);
	json_put(object, "driver_calls", json_number(row->driver_calls), ok);
	json_put(object, "live_blocks", json_u64(row->live_blocks), ok);
	json_put(object, "host_bytes", json_u64(row->host_bytes), ok);
	for (int i = 0; i < row->extra_count; i++)
		put_extra(object, &row->extra[i], ok);
	return object;
}

bool bench_print_json(const struct bench *bench)
{
	const struct bench_config *config = bench->config;
	json_t *root = json_object();
	json_t *rows = json_array();
	bool ok = true;

	for (int i = 0; i < bench->row_count; i++)
		json_put(rows, NULL, row_json(bench, &bench->rows[i], &ok),
			 &ok);
	json_put(root, "version", json_text(gpumem_version()), &ok);
	json_put(root, "device", json_text(bench->info.name), &ok);
	json_put(root, "product", json_text(bench->info.product), &ok);
	json_put(root, "simulated", json_boolean(*tool_simulated(&bench->info)),
		 &ok);
	json_put(root, "rounds", json_u64(config->rounds), &ok);
	json_put(root, "missing_peers", json_text(bench->missing), &ok);
	json_put(root, "results", rows, &ok);
	return json_print(root, ok);
}
