/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The report for people.
 */
#include "report.h"
#include "stacks.h"
#include "oom.h"

#include "common/human.h"
#include "common/table.h"
#include "common/tool.h"
#include "trace/print.h"

#include <stdlib.h>

enum { OOMS = 20 }; /* that are listed; programs get all of them */

static void head_row(struct table *table, const char *align,
		     const char *const *names)
{
	table_init(table, align);
	for (; *names; names++)
		table_cell(table, "%s", *names);
}

static void bytes_cell(struct table *table, uint64_t bytes, bool known)
{
	char text[HUMAN_BYTES];

	table_cell(table, "%s", known ? human_bytes(text, bytes) : "-");
}

static void number_cell(struct table *table, uint64_t number)
{
	table_cell(table, "%llu", (unsigned long long)number);
}

static void when_cell(struct table *table, const struct model *model,
		      uint64_t ns)
{
	if (model->has_times)
		table_cell(table, "%.6f", print_seconds(ns));
	else
		table_cell(table, "-");
}

static void tag_cell(struct table *table, const struct model *model,
		     uint16_t number)
{
	char buffer[MODEL_TAG];
	const char *path = model_tag_path(model, number, buffer);

	table_cell(table, "%s", *path ? path : "-");
}

/* Prints and frees the table. */
static bool print_table(struct table *table)
{
	bool ok = table_print(table, 0);

	table_free(table);
	return ok;
}

/* ---- moments ---- */

static void moment_row(struct table *table, const struct model *model,
		       const char *name, const struct model_moment *moment)
{
	bool reserved = model->summary.all.peak_reserved_bytes > 0;

	table_cell(table, "%s", name);
	number_cell(table, moment->event);
	when_cell(table, model, moment->ns);
	number_cell(table, moment->blocks);
	bytes_cell(table, moment->requested, true);
	bytes_cell(table, moment->reserved, reserved);
	bytes_cell(table, model_unused(moment), reserved);
	bytes_cell(table, model_stranded(moment), model->has_pages);
}

static bool print_moments(const struct model *model)
{
	static const char *const names[] = {
		"moment",   "event",  "at second",    "blocks", "requested",
		"reserved", "unused", "unreleasable", NULL};
	struct table table;

	head_row(&table, "lrrrrrrr", names);
	moment_row(&table, model, "peak", &model->peak);
	if (model->has_pages)
		moment_row(&table, model, "most unreleasable", &model->worst);
	moment_row(&table, model, "end", &model->end);
	return print_table(&table);
}

static void place_row(struct table *table, const struct model *model,
		      const char *name, const struct model_moment *moment)
{
	table_cell(table, "%s", name);
	bytes_cell(table, moment->mapped, true);
	bytes_cell(table, moment->twice, true);
	bytes_cell(table, model_holes(model, moment), true);
}

static bool print_places(const struct model *model)
{
	static const char *const names[] = {"addresses", "mapped",
					    "mapped twice", "holes", NULL};
	struct table table;

	if (!model_has_places(model))
		return true;
	putchar('\n');
	head_row(&table, "lrrr", names);
	place_row(&table, model, "peak", &model->peak);
	place_row(&table, model, "end", &model->end);
	return print_table(&table);
}

/* ---- what is live ---- */

bool text_tags(const struct model *model, struct model_tag *tags, size_t count,
	       uint64_t requested)
{
	static const char *const names[] = {"size",   "bytes",	 "share",
					    "blocks", "largest", "oldest from",
					    "tag",    NULL};
	struct table table;

	if (!tags)
		return false;
	head_row(&table, "rrrrrrl", names);
	for (size_t i = 0; i < count; i++) {
		bytes_cell(&table, tags[i].bytes, true);
		number_cell(&table, tags[i].bytes);
		table_cell(&table, "%.1f %%",
			   requested ? 100.0 * (double)tags[i].bytes /
					       (double)requested
				     : 0.0);
		number_cell(&table, tags[i].blocks);
		bytes_cell(&table, tags[i].largest_bytes, true);
		when_cell(&table, model, tags[i].oldest_ns);
		tag_cell(&table, model, tags[i].number);
	}
	free(tags);
	return print_table(&table);
}

static bool print_tags(const struct model *model,
		       const struct model_moment *moment)
{
	size_t count = 0;
	struct model_tag *tags = model_tags(model, moment->event, &count);

	return text_tags(model, tags, count, moment->requested);
}

static bool print_blocks(const struct model *model,
			 const struct model_moment *moment, size_t most)
{
	static const char *const names[] = {"size", "bytes",  "address",
					    "pool", "stream", "allocated at",
					    "tag",  NULL};
	size_t count;
	const struct model_span **live =
		model_blocks(model, moment->event, &count);
	struct table table;

	if (!live)
		return false;
	head_row(&table, "rrrrrrl", names);
	for (size_t i = 0; i < count && i < most; i++) {
		bytes_cell(&table, live[i]->bytes, true);
		number_cell(&table, live[i]->bytes);
		if (model->has_addresses)
			table_cell(&table, "0x%llx",
				   (unsigned long long)live[i]->address);
		else
			table_cell(&table, "-");
		number_cell(&table, live[i]->pool);
		number_cell(&table, live[i]->stream);
		when_cell(&table, model, live[i]->begin_ns);
		tag_cell(&table, model, live[i]->tag);
	}
	free((void *)live);
	return print_table(&table);
}

static bool print_live(const struct model *model,
		       const struct model_moment *moment,
		       const struct stacks *stacks,
		       const struct report_config *config)
{
	bool is_end = moment == &model->end;
	const char *when = is_end ? "end" : "peak";
	bool ok;

	putchar('\n');
	if (!moment->blocks) {
		term_say("Nothing is live at the %s.", when);
		return true;
	}
	term_say("Live at the %s, by tag:", when);
	ok = print_tags(model, moment);
	if (!config->blocks)
		return ok;
	putchar('\n');
	term_say("The largest blocks at the %s:", when);
	ok = print_blocks(model, moment, config->blocks) && ok;
	return stacks_print(stacks, is_end ? &stacks->end : &stacks->peak,
			    when) &&
	       ok;
}

static bool print_ages(const struct model *model)
{
	static const char *const names[] = {"first", "second", "third", "last",
					    "grows", "tag",    NULL};
	size_t count;
	struct model_tag *tags = model_tags(model, model->end.event, &count);
	struct table table;

	if (!tags)
		return false;
	putchar('\n');
	term_say("Live at the end, by the quarter of the run in which it was "
		 "allocated:");
	head_row(&table, "rrrrrl", names);
	for (size_t i = 0; i < count; i++) {
		for (unsigned j = 0; j < MODEL_QUARTERS; j++)
			bytes_cell(&table, tags[i].quarter_bytes[j], true);
		table_cell(&table, model_grows(&tags[i]) ? "yes" : "no");
		tag_cell(&table, model, tags[i].number);
	}
	free(tags);
	return print_table(&table);
}

/* ---- out of memory ---- */

static bool print_ooms(const struct model *model)
{
	static const char *const names[] = {
		"at second", "pool",   "asked for",	  "requested",
		"reserved",  "reason", "what would help", NULL};
	struct table table;

	if (!model->oom_count)
		return true;
	putchar('\n');
	term_say("%zu allocation%s failed:", model->oom_count,
		 model->oom_count == 1 ? "" : "s");
	head_row(&table, "rrrrrll", names);
	for (size_t i = 0; i < model->oom_count && i < OOMS; i++) {
		const struct model_oom *oom = &model->ooms[i];

		when_cell(&table, model, oom->moment.ns);
		number_cell(&table, oom->pool);
		bytes_cell(&table, oom->bytes, true);
		bytes_cell(&table, oom->requested, true);
		bytes_cell(&table, oom->reserved,
			   model_oom_reserved(model, oom));
		table_cell(&table, "%s",
			   gpumem_status_text(
				   (gpumem_status)(int64_t)oom->status));
		table_cell(&table, "%s", recording_advice(oom->advice));
	}
	return print_table(&table) && oom_report_print(model, OOMS);
}

bool report_text(const struct model *model, const struct report_config *config)
{
	struct stacks stacks;
	bool ok = stacks_read(&stacks, model, config->blocks, false);

	print_about(model->source, &model->summary);
	putchar('\n');
	ok = print_moments(model) && ok;
	ok = print_places(model) && ok;
	ok = groups_text(model) && ok;
	ok = served_text(model) && ok;
	ok = print_live(model, &model->peak, &stacks, config) && ok;
	ok = print_live(model, &model->end, &stacks, config) && ok;
	if (model->end.blocks)
		ok = print_ages(model) && ok;
	ok = print_ooms(model) && ok;
	stacks_free(&stacks);
	if (!ok)
		tool_error("out of memory");
	return ok;
}
