/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The model's results, as text and as JSON. Calls that were not measured are
 * shown with a dash, and are in no sum.
 */
#include "replay.h"

#include "common/human.h"
#include "common/table.h"
#include "common/tool.h"

#include <math.h>

static double per_event(const struct replay *replay, double ns)
{
	return ns / (double)replay->totals.events;
}

static void number(struct table *table, uint64_t value)
{
	table_cell(table, "%llu", (unsigned long long)value);
}

static void call_row(const struct replay *replay, struct table *table,
		     enum gpumem_call call, double total)
{
	const struct model *model = replay->config->model;
	const struct count *count = &replay->counts.call[call];
	double ns = model_call_ns(model, call, &replay->counts);
	char text[HUMAN_BYTES];

	if (!count->calls)
		return;
	table_cell(table, "%s", gpumem_call_name(call));
	number(table, count->calls);
	number(table, count->pages);
	table_cell(table, "%s", human_bytes(text, count->bytes));
	table_cell(table, "%s", isnan(ns) ? "-" : human_ns(text, ns));
	if (!isnan(ns) && total > 0.0)
		table_cell(table, "%.1f %%", ns * 100.0 / total);
	table_end_row(table);
}

static void call_table(const struct replay *replay, struct table *table)
{
	double total = model_ns(replay->config->model, &replay->counts);
	uint64_t calls = 0;
	char text[HUMAN_BYTES];

	table_init(table, "lrrrrr");
	table_cell(table, "%s", replay->config->model->name);
	table_cell(table, "calls");
	table_cell(table, "pages");
	table_cell(table, "size");
	table_cell(table, "time");
	table_cell(table, "share");
	for (unsigned i = 0; i < GPUMEM_CALL_COUNT; i++) {
		call_row(replay, table, (enum gpumem_call)i, total);
		calls += replay->counts.call[i].calls;
	}
	table_cell(table, "total");
	number(table, calls);
	table_cell(table, "%s", "");
	table_cell(table, "%s", "");
	table_cell(table, "%s", human_ns(text, total));
	table_end_row(table);
}

static void pass_row(const struct replay *replay, struct table *table,
		     double ns, double native)
{
	char text[HUMAN_BYTES];

	table_cell(table, "%s", human_ns(text, ns));
	table_cell(table, "%s", human_ns(text, per_event(replay, ns)));
	if (native > 0.0)
		table_cell(table, "%.4f", ns / native);
	table_end_row(table);
}

static void pass_table(const struct replay *replay, struct table *table)
{
	double native = model_ns(replay->config->model, &replay->native);

	table_init(table, "lrrr");
	table_cell(table, "%s", replay->config->model->name);
	table_cell(table, "time");
	table_cell(table, "per event");
	table_cell(table, "of native");
	for (uint64_t i = 0; i < replay->config->passes; i++) {
		table_cell(table, "pass %llu", (unsigned long long)i + 1);
		pass_row(replay, table, replay->passes[i].model_ns, native);
	}
	table_cell(table, "native: a call for every event");
	pass_row(replay, table, native, native);
}

bool replay_model_text(const struct replay *replay)
{
	struct table calls, passes;
	bool ok;

	call_table(replay, &calls);
	pass_table(replay, &passes);
	putchar('\n');
	term_say("The driver calls alone, as priced on: %s",
		 replay->config->model->text);
	ok = table_print(&calls, 0);
	putchar('\n');
	ok = table_print(&passes, 0) && ok;
	table_free(&calls);
	table_free(&passes);
	return ok;
}

/* Sets *unpriced_out to how many calls have no price. */
static json_t *calls_json(const struct replay *replay, uint64_t *unpriced_out,
			  bool *ok)
{
	json_t *all = json_object();

	*unpriced_out = 0;
	for (unsigned i = 0; i < GPUMEM_CALL_COUNT; i++) {
		const struct count *count = &replay->counts.call[i];
		double ns = model_call_ns(replay->config->model,
					  (enum gpumem_call)i, &replay->counts);
		json_t *call = json_object();

		json_put(call, "count", json_u64(count->calls), ok);
		json_put(call, "pages", json_u64(count->pages), ok);
		json_put(call, "bytes", json_u64(count->bytes), ok);
		json_put(call, "ns", json_number(ns), ok);
		json_put(all, gpumem_call_name(i), call, ok);
		*unpriced_out += isnan(ns) ? count->calls : 0;
	}
	return all;
}

static json_t *pass_json(const struct replay *replay, double ns, bool *ok)
{
	json_t *object = json_object();

	json_put(object, "ns", json_number(ns), ok);
	json_put(object, "ns_per_op", json_number(per_event(replay, ns)), ok);
	return object;
}

static json_t *native_json(const struct replay *replay, bool *ok)
{
	const struct count *call = replay->native.call;
	double ns = model_ns(replay->config->model, &replay->native);
	json_t *native = pass_json(replay, ns, ok);

	json_put(native, "driver_calls",
		 json_u64(call[GPUMEM_CALL_ALLOC].calls +
			  call[GPUMEM_CALL_FREE].calls),
		 ok);
	return native;
}

json_t *replay_model_json(const struct replay *replay, bool *ok)
{
	const struct model *model = replay->config->model;
	json_t *object = json_object(), *passes = json_array();
	uint64_t unpriced;

	for (uint64_t i = 0; i < replay->config->passes; i++)
		json_put(passes, NULL,
			 pass_json(replay, replay->passes[i].model_ns, ok), ok);
	json_put(object, "name", json_text(model->name), ok);
	json_put(object, "measured_on", json_text(model->text), ok);
	json_put(object, "ns", json_number(model_ns(model, &replay->counts)),
		 ok);
	json_put(object, "calls", calls_json(replay, &unpriced, ok), ok);
	json_put(object, "unpriced_calls", json_u64(unpriced), ok);
	json_put(object, "pass", passes, ok);
	json_put(object, "native", native_json(replay, ok), ok);
	return object;
}
