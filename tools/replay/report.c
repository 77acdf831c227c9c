/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a replay prints, for people and for programs.
 */
#include "replay.h"

#include "common/human.h"
#include "common/json.h"
#include "common/table.h"
#include "common/tool.h"

static double total_seconds(const struct replay *replay)
{
	uint64_t ns = 0;

	for (uint64_t i = 0; i < replay->config->passes; i++)
		ns += replay->passes[i].ns;
	return (double)ns / 1e9;
}

static double ns_per_op(const struct replay *replay, double seconds)
{
	double events = (double)replay->totals.events;

	return seconds * 1e9 / (events * (double)replay->config->passes);
}

/* NaN when the trace asks for no byte. */
static double reserved_ratio(const struct replay *replay)
{
	return (double)replay->end.peak_reserved_bytes /
	       (double)replay->totals.peak_live_bytes;
}

static void row(struct table *table, const char *name, uint64_t bytes,
		uint64_t requested)
{
	char text[HUMAN_BYTES];

	table_cell(table, "%s", name);
	table_cell(table, "%s", human_bytes(text, bytes));
	table_cell(table, "%llu", (unsigned long long)bytes);
	if (requested)
		table_cell(table, "%.4f", (double)bytes / (double)requested);
	table_end_row(table);
}

static void memory_table(const struct replay *replay, struct table *table)
{
	const struct replay_usage *end = &replay->end;
	uint64_t peak = replay->totals.peak_live_bytes;

	table_init(table, "lrrr");
	table_cell(table, "memory");
	table_cell(table, "size");
	table_cell(table, "bytes");
	table_cell(table, "ratio");
	row(table, "peak requested", peak, peak);
	row(table, "peak allocated", end->peak_allocated_bytes, peak);
	row(table, "peak reserved", end->peak_reserved_bytes, peak);
	row(table, "live at the end", replay->totals.live_bytes, 0);
	row(table, "allocated at the end", end->allocated_bytes, 0);
	row(table, "reserved at the end", end->reserved_bytes, 0);
	row(table, "reserved after a trim", replay->trimmed_reserved, 0);
	if (end->stats.size)
		row(table, "bookkeeping", end->stats.host_bytes, 0);
}

static void pass_table(const struct replay *replay, struct table *table)
{
	double events = (double)replay->totals.events;
	char text[HUMAN_BYTES];

	table_init(table, "lrrrr");
	table_cell(table, "pass");
	table_cell(table, "time");
	table_cell(table, "per event");
	table_cell(table, "driver calls");
	table_cell(table, "per 1000 events");
	for (uint64_t i = 0; i < replay->config->passes; i++) {
		const struct replay_pass *pass = &replay->passes[i];

		table_cell(table, "%llu", (unsigned long long)i + 1);
		table_cell(table, "%s", human_ns(text, (double)pass->ns));
		table_cell(table, "%s",
			   human_ns(text, (double)pass->ns / events));
		table_cell(table, "%llu",
			   (unsigned long long)pass->driver_calls);
		table_cell(table, "%.2f",
			   (double)pass->driver_calls * 1000.0 / events);
	}
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void print_head(const struct replay *replay)
{
	const struct trace_totals *totals = &replay->totals;

	term_say("%s on %s, policy %s: %llu event%s, %llu block%s, at most "
		 "%llu at one time, %u stream%s",
		 replay->config->trace, replay->device_name,
		 replay->config->policy->name,
		 (unsigned long long)totals->events, plural(totals->events),
		 (unsigned long long)totals->allocs, plural(totals->allocs),
		 (unsigned long long)totals->peak_live_blocks, totals->streams,
		 plural(totals->streams));
	if (replay->config->divisor > 1)
		term_say("Each block has 1/%llu of its size.",
			 (unsigned long long)replay->config->divisor);
	if (replay->config->lag == REPLAY_LAG_INF)
		term_say("Work on the device ends when it is waited for.");
	else if (replay->config->lag)
		term_say("Work on the device ends %llu event%s later.",
			 (unsigned long long)replay->config->lag,
			 plural(replay->config->lag));
	if (*tool_simulated(&replay->info))
		term_say("%s", tool_simulated(&replay->info));
	putchar('\n');
}

bool replay_print_text(const struct replay *replay)
{
	struct table memory, passes;
	bool ok;

	memory_table(replay, &memory);
	pass_table(replay, &passes);
	print_head(replay);
	ok = table_print(&memory, 0);
	putchar('\n');
	ok = table_print(&passes, 0) && ok;
	ok = replay_pool_text(replay) && ok;
	if (replay->config->model)
		ok = replay_model_text(replay) && ok;
	if (!ok)
		tool_error("out of memory");
	table_free(&memory);
	table_free(&passes);
	return ok;
}

static json_t *passes_json(const struct replay *replay, bool *ok)
{
	json_t *array = json_array();

	for (uint64_t i = 0; i < replay->config->passes; i++) {
		const struct replay_pass *pass = &replay->passes[i];
		double ns = (double)pass->ns;
		json_t *object = json_object();

		json_put(object, "seconds", json_number(ns / 1e9), ok);
		json_put(object, "ns_per_op",
			 json_number(ns / (double)replay->totals.events), ok);
		json_put(object, "driver_calls", json_u64(pass->driver_calls),
			 ok);
		json_put(array, NULL, object, ok);
	}
	return array;
}

static json_t *calls_json(const struct replay_usage *end, bool *ok)
{
	json_t *all = json_object();

	for (unsigned i = 0; i < GPUMEM_CALL_COUNT; i++) {
		json_t *call = json_object();

		json_put(call, "count", json_u64(end->calls[i].count), ok);
		json_put(call, "failed", json_u64(end->calls[i].failed), ok);
		json_put(call, "ns", json_u64(end->calls[i].ns), ok);
		json_put(all, gpumem_call_name(i), call, ok);
	}
	return all;
}

/* What only a pool knows. Gauges are shown as what they are at the peak and at
 * the end, which every policy has. */
#define PUT_GAUGE(name)
#define PUT_COUNTER(name) json_put(root, #name, json_u64(stats->name), ok);
#define PUT_VALUE(name) PUT_COUNTER(name)
#define PUT_RATIO(name) json_put(root, #name, json_number(stats->name), ok);
#define PUT(name, type, unit) PUT_##type(name)

static void put_pool(const struct replay *replay, json_t *root, bool *ok)
{
	const struct gpumem_stats *stats = &replay->end.stats;

	GPUMEM_STATS_LIST(PUT)
	json_put(root, "calls", calls_json(&replay->end, ok), ok);
}

static void put_bytes(const struct replay *replay, json_t *root, bool *ok)
{
	const struct trace_totals *totals = &replay->totals;
	const struct replay_usage *end = &replay->end;

	json_put(root, "peak_requested_bytes",
		 json_u64(totals->peak_live_bytes), ok);
	json_put(root, "peak_allocated_bytes",
		 json_u64(end->peak_allocated_bytes), ok);
	json_put(root, "peak_reserved_bytes",
		 json_u64(end->peak_reserved_bytes), ok);
	json_put(root, "reserved_ratio", json_number(reserved_ratio(replay)),
		 ok);
	json_put(root, "final_requested_bytes", json_u64(totals->live_bytes),
		 ok);
	json_put(root, "final_allocated_bytes", json_u64(end->allocated_bytes),
		 ok);
	json_put(root, "final_reserved_bytes", json_u64(end->reserved_bytes),
		 ok);
	json_put(root, "final_reserved_bytes_after_trim",
		 json_u64(replay->trimmed_reserved), ok);
}

bool replay_print_json(const struct replay *replay)
{
	const struct trace_totals *totals = &replay->totals;
	double seconds = total_seconds(replay);
	json_t *root = json_object();
	bool ok = true;

	json_put(root, "trace", json_text(replay->config->trace), &ok);
	json_put(root, "device", json_text(replay->device_name), &ok);
	json_put(root, "simulated",
		 json_boolean(*tool_simulated(&replay->info)), &ok);
	json_put(root, "policy", json_text(replay->config->policy->name), &ok);
	json_put(root, "passes", json_u64(replay->config->passes), &ok);
	json_put(root, "lag",
		 replay->config->lag == REPLAY_LAG_INF
			 ? json_text("inf")
			 : json_u64(replay->config->lag),
		 &ok);
	json_put(root, "tags", json_u64(replay->config->tags), &ok);
	json_put(root, "divisor", json_u64(replay->config->divisor), &ok);
	json_put(root, "events", json_u64(totals->events), &ok);
	json_put(root, "blocks", json_u64(totals->allocs), &ok);
	json_put(root, "peak_blocks", json_u64(totals->peak_live_blocks), &ok);
	json_put(root, "streams", json_u64(totals->streams), &ok);
	json_put(root, "seconds", json_number(seconds), &ok);
	json_put(root, "ns_per_op", json_number(ns_per_op(replay, seconds)),
		 &ok);
	put_bytes(replay, root, &ok);
	json_put(root, "driver_calls", json_u64(replay->end.driver_calls), &ok);
	json_put(root, "driver_seconds",
		 json_number((double)replay->end.driver_ns / 1e9), &ok);
	json_put(root, "pass", passes_json(replay, &ok), &ok);
	if (replay->end.stats.size)
		put_pool(replay, root, &ok);
	if (replay->config->sample_every)
		json_put(root, "samples", replay_sample_json(replay, &ok), &ok);
	if (replay->config->model)
		json_put(root, "model", replay_model_json(replay, &ok), &ok);
	return json_print(root, ok);
}
