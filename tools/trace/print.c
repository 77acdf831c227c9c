/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The summary for people.
 */
#include "print.h"

#include "common/clean.h"
#include "common/human.h"
#include "common/table.h"
#include "common/tool.h"

#include <stdlib.h>
#include <time.h>

double print_seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

double print_duration(const struct trace_source *source,
		      const struct summary *summary)
{
	const struct gpumem_record_header *header = &source->recording.header;

	if (header->end_ns > header->begin_ns)
		return print_seconds(header->end_ns - header->begin_ns);
	return print_seconds(summary->last_ns);
}

void print_date(const struct trace_source *source, char when_out[PRINT_DATE])
{
	uint64_t ns = source->recording.header.begin_real_ns;
	time_t begin = (time_t)(ns / 1000000000u);
	struct tm utc;

	when_out[0] = '\0';
	if (begin && gmtime_r(&begin, &utc))
		strftime(when_out, PRINT_DATE, "%Y-%m-%d %H:%M:%S UTC", &utc);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* ---- what it is ---- */

/* A trace says nothing of its program. */
static void print_trace(const struct trace_source *source,
			const struct summary *summary)
{
	term_say("%s: trace: %llu event%s, %llu stream%s", source->config->file,
		 (unsigned long long)summary->all.events,
		 plural(summary->all.events),
		 (unsigned long long)summary->streams.count,
		 plural(summary->streams.count));
}

static void print_torch(const struct trace_source *source,
			const struct summary *summary, const char *when)
{
	char text[HUMAN_BYTES];

	term_say("%s: %s, %s%s%s: %llu event%s, %llu stream%s",
		 source->config->file, source->torch.what, when,
		 *when ? ", " : "",
		 human_ns(text, print_duration(source, summary) * 1e9),
		 (unsigned long long)summary->all.events,
		 plural(summary->all.events),
		 (unsigned long long)summary->streams.count,
		 plural(summary->streams.count));
}

static void print_head(const struct trace_source *source,
		       const struct summary *summary)
{
	const struct gpumem_record_header *header = &source->recording.header;
	char when[PRINT_DATE], text[HUMAN_BYTES];

	if (source->is_text) {
		print_trace(source, summary);
		return;
	}
	print_date(source, when);
	if (source->is_torch) {
		print_torch(source, summary, when);
		return;
	}
	term_say("%s: %s, process %u, gpumem %s, %s%s%s: %llu event%s, %llu "
		 "thread%s, %llu stream%s",
		 source->config->file, header->program, header->pid,
		 header->library, when, *when ? ", " : "",
		 human_ns(text, print_duration(source, summary) * 1e9),
		 (unsigned long long)summary->all.events,
		 plural(summary->all.events),
		 (unsigned long long)summary->threads.count,
		 plural(summary->threads.count),
		 (unsigned long long)summary->streams.count,
		 plural(summary->streams.count));
	if (!header->end_ns)
		term_say("It was not ended: the program is running, has "
			 "exited, or was killed.");
}

static void warn(uint64_t count, const char *one, const char *many)
{
	if (count)
		term_say("%llu %s", (unsigned long long)count,
			 count == 1 ? one : many);
}

static void print_warnings(const struct trace_source *source)
{
	const struct gpumem_record_header *header = &source->recording.header;

	warn(header->overwritten_events,
	     "event was overwritten: the recording begins late.",
	     "events were overwritten: the recording begins late.");
	warn(header->lost_events, "event was lost: there was no place for it.",
	     "events were lost: there was no place for them.");
	warn(header->lost_definitions,
	     "name was lost: there was no place for it.",
	     "names were lost: there was no place for them.");
	warn(source->unknown,
	     "event is of a block whose beginning is not here.",
	     "events are of blocks whose beginning is not here.");
	warn(source->unended,
	     "block has no end, but its memory was used again or is free.",
	     "blocks have no end, but their memory was used again or is free.");
	warn(source->recording.damaged, "event is damaged, and was left out.",
	     "events are damaged, and were left out.");
}

/* What is new in a snapshot, in one line. */
static void print_unknown(const struct trace_source *source)
{
	const struct tag_names *unknown = &source->torch.unknown;

	char *line = NULL, *clean;
	size_t bytes;
	FILE *text;

	if (!unknown->count)
		return;
	text = open_memstream(&line, &bytes);
	if (!text)
		return;
	for (size_t i = 0; i < unknown->count; i++)
		fprintf(text, "%s%s", i ? ", " : "", unknown->path[i]);
	fclose(text);
	clean = clean_copy(line ? line : "");
	term_say("Not known, and left out: %s.", clean ? clean : "");
	free(clean);
	free(line);
}

void print_about(const struct trace_source *source,
		 const struct summary *summary)
{
	print_head(source, summary);
	print_warnings(source);
	print_unknown(source);
}

/* ---- tables ---- */

static void memory_row(struct table *table, const char *name, uint64_t bytes,
		       const uint64_t *ns)
{
	char text[HUMAN_BYTES];

	table_cell(table, "%s", name);
	table_cell(table, "%s", human_bytes(text, bytes));
	table_cell(table, "%llu", (unsigned long long)bytes);
	if (ns)
		table_cell(table, "%.6f", print_seconds(*ns));
	table_end_row(table);
}

/* A file of no pool says nothing of what was reserved. */
static bool has_reserved(const struct summary_usage *usage)
{
	return usage->peak_reserved_bytes > 0;
}

static void memory_table(const struct summary *summary, struct table *table)
{
	const struct summary_usage *all = &summary->all;

	table_init(table, "lrrr");
	table_cell(table, "memory");
	table_cell(table, "size");
	table_cell(table, "bytes");
	table_cell(table, "at second");
	memory_row(table, "peak requested", all->peak_requested_bytes,
		   &all->peak_requested_ns);
	if (has_reserved(all))
		memory_row(table, "peak reserved", all->peak_reserved_bytes,
			   &all->peak_reserved_ns);
	memory_row(table, "live at the end", all->requested_bytes, NULL);
	if (has_reserved(all))
		memory_row(table, "reserved at the end", all->reserved_bytes,
			   NULL);
}

static const char *or_none(const char *text)
{
	return text && *text ? text : "-";
}

static void pool_row(const struct trace_source *source, struct table *table,
		     uint16_t number, const struct summary_usage *usage)
{
	struct recording_pool pool = trace_pool(source, number);
	char text[HUMAN_BYTES];

	table_cell(table, "%u", number);
	table_cell(table, "%s", or_none(pool.name));
	if (source->is_torch && number <= TORCH_DEVICES)
		table_cell(table, "device %u", trace_device(source, number));
	else
		table_cell(table, "%s", or_none(pool.device));
	table_cell(table, "%s", or_none(pool.kind));
	table_cell(table, "%llu", (unsigned long long)usage->allocs);
	table_cell(table, "%s", human_bytes(text, usage->peak_requested_bytes));
	table_cell(table, "%.6f", print_seconds(usage->peak_requested_ns));
	table_cell(table, "%s",
		   has_reserved(usage)
			   ? human_bytes(text, usage->peak_reserved_bytes)
			   : "-");
	table_cell(table, "%s", human_bytes(text, usage->requested_bytes));
}

static void pool_table(const struct trace_source *source,
		       const struct summary *summary, struct table *table)
{
	static const char *const head[] = {
		"pool",	     "name",	      "device",
		"kind",	     "allocated",     "peak requested",
		"at second", "peak reserved", "live at the end"};

	table_init(table, "rlllrrrrr");
	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		table_cell(table, "%s", head[i]);
	for (unsigned i = 0; i < SUMMARY_POOLS; i++)
		if (summary->pools[i].events)
			pool_row(source, table, (uint16_t)i,
				 &summary->pools[i]);
}

static void kind_table(const struct summary *summary, struct table *table)
{
	table_init(table, "rl");
	table_cell(table, "events");
	table_cell(table, "of");
#define ROW(name, words)                                                       \
	if (summary->kinds[GPUMEM_RECORD_##name]) {                            \
		table_cell(table, "%llu",                                      \
			   (unsigned long long)                                \
				   summary->kinds[GPUMEM_RECORD_##name]);      \
		table_cell(table, "%s", words);                                \
	}
	PRINT_KIND_LIST(ROW)
#undef ROW
}

bool print_text(const struct trace_source *source,
		const struct summary *summary)
{
	struct table memory, pools, kinds;
	bool ok;

	memory_table(summary, &memory);
	pool_table(source, summary, &pools);
	kind_table(summary, &kinds);
	print_about(source, summary);
	putchar('\n');
	ok = table_print(&memory, 0);
	putchar('\n');
	ok = table_print(&pools, 0) && ok;
	putchar('\n');
	ok = table_print(&kinds, 0) && ok;
	if (!ok)
		tool_error("out of memory");
	table_free(&memory);
	table_free(&pools);
	table_free(&kinds);
	return ok;
}
