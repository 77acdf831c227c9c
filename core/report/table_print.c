/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The rows of a table as text and as JSON: both have the same facts. See
 * table.h. */
#include "table.h"
#include "base/name.h"

#include <stdio.h>

static const char *const names[] = {
#define NAME(name, text) [GM_PLACE_##name] = #name,
	GM_PLACE_LIST(NAME)
#undef NAME
};

static const char *const texts[] = {
#define TEXT(name, text) [GM_PLACE_##name] = (text),
	GM_PLACE_LIST(TEXT)
#undef TEXT
};

/* ---- JSON ---- */

static void json_row(struct gm_print *print, const struct gm_row *row)
{
	char stream[24];

	gm_print_open(print, NULL, true);
	gm_print_text(print, "what", names[row->place]);
	if (row->number) {
		gm_print_text(print, "pool", row->pool);
		gm_print_text(print, "kind", gm_kind_name(row->kind));
	}
	if (row->place == GM_PLACE_live) {
		gm_print_text(print, "tag",
			      row->tag ? gm_tag_path(row->tag) : "");
		gm_print_number(print, "blocks", row->blocks, GM_PRINT_COUNT);
	}
	if (row->limit_bytes) {
		gm_print_number(print, "limit_bytes", row->limit_bytes,
				GM_PRINT_BYTES);
		gm_print_number(print, "held_bytes", row->held_bytes,
				GM_PRINT_BYTES);
	}
	if (row->has_stream) {
		snprintf(stream, sizeof(stream), "%#llx",
			 (unsigned long long)(uintptr_t)row->stream);
		gm_print_text(print, "stream", stream);
	}
	gm_print_number(print, "bytes", row->bytes, GM_PRINT_BYTES);
	gm_print_close(print);
}

static void json_rows(struct gm_print *print, const char *key,
		      const struct gm_table *table, bool beside)
{
	gm_print_list(print, key);
	for (size_t i = 0; i < table->count; i++)
		if (table->row[i].beside == beside)
			json_row(print, &table->row[i]);
	gm_print_list_end(print);
}

static void json_process(struct gm_print *print,
			 const struct gpumem_process *process)
{
	gm_print_open(print, NULL, true);
	gm_print_number(print, "pid", process->pid, GM_PRINT_COUNT);
	gm_print_text(print, "name", process->name);
	if (process->bytes != UINT64_MAX)
		gm_print_number(print, "bytes", process->bytes, GM_PRINT_BYTES);
	gm_print_close(print);
}

void gm_table_print_json(const struct gm_table *table,
			 const struct gm_processes *processes,
			 const struct gpumem_device *device,
			 struct gm_print *print)
{
	gm_print_text(print, "device", device->info.name);
	gm_print_number(print, "total_bytes", table->total_bytes,
			GM_PRINT_BYTES);
	json_rows(print, "rows", table, false);
	json_rows(print, "beside", table, true);
	if (processes->known) {
		gm_print_list(print, "processes");
		for (size_t i = 0; i < processes->count; i++)
			json_process(print, &processes->list[i]);
		gm_print_list_end(print);
	}
}

/* ---- text ---- */

struct text {
	struct gm_lines lines;
	uint64_t total_bytes;
};

/* "live, 3 blocks, tag "model/layer3"", and its limit, if it has one. */
static void describe_live(char *to, size_t bytes, const struct gm_row *row)
{
	char limit[GM_PRINT_BYTES_TEXT], held[GM_PRINT_BYTES_TEXT];
	int length = snprintf(
		to, bytes, "%s, %llu block%s%s%s%s", texts[row->place],
		(unsigned long long)row->blocks, row->blocks == 1 ? "" : "s",
		row->tag ? ", tag \"" : ", no tag",
		row->tag ? gm_tag_path(row->tag) : "", row->tag ? "\"" : "");

	if (row->limit_bytes && length > 0 && (size_t)length < bytes)
		snprintf(to + length, bytes - (size_t)length,
			 ", limit %s, %s held",
			 gm_print_bytes(limit, row->limit_bytes),
			 gm_print_bytes(held, row->held_bytes));
}

static void describe(char *to, size_t bytes, const struct gm_row *row)
{
	if (row->place == GM_PLACE_live)
		describe_live(to, bytes, row);
	else if (row->has_stream)
		snprintf(to, bytes, "%s, until stream %#llx has finished",
			 texts[row->place],
			 (unsigned long long)(uintptr_t)row->stream);
	else if (row->place == GM_PLACE_pending)
		snprintf(to, bytes, "%s, until an event is over",
			 texts[row->place]);
	else
		snprintf(to, bytes, "%s", texts[row->place]);
}

/* "  4.7 %": no fraction of the locale's. */
static void share_of(char *to, size_t bytes, uint64_t part, uint64_t all)
{
	unsigned tenths = (unsigned)(1000 * ((double)part / (double)all) + 0.5);

	snprintf(to, bytes, "%3u.%u %%", tenths / 10, tenths % 10);
}

static void text_row(const struct text *text, const struct gm_row *row)
{
	char size[GM_PRINT_BYTES_TEXT], share[24] = "", what[400];

	describe(what, sizeof(what), row);
	if (!row->beside)
		share_of(share, sizeof(share), row->bytes, text->total_bytes);
	gm_print_line(&text->lines, "%14s  %7s  %s",
		      gm_print_bytes(size, row->bytes), share, what);
}

/* Rows of one pool follow each other. */
static void text_heading(const struct text *text, const struct gm_row *row)
{
	if (!row->number)
		gm_print_line(&text->lines, "outside the pools");
	else if (row->kind == GPUMEM_KIND_DEVICE)
		gm_print_line(&text->lines, "pool \"%s\"", row->pool);
	else
		gm_print_line(
			&text->lines,
			"pool \"%s\" of %s memory, no part of the device's",
			row->pool, gm_kind_name(row->kind));
}

static void text_processes(const struct text *text,
			   const struct gm_processes *processes)
{
	char size[GM_PRINT_BYTES_TEXT];

	gm_print_line(&text->lines, processes->known
					    ? "processes that use the device"
					    : "the driver lists no processes");
	for (size_t i = 0; i < processes->count; i++) {
		const struct gpumem_process *process = &processes->list[i];

		gm_print_line(&text->lines, "%14s  %7s  %llu %s",
			      process->bytes == UINT64_MAX
				      ? "unknown"
				      : gm_print_bytes(size, process->bytes),
			      "", (unsigned long long)process->pid,
			      process->name);
	}
}

void gm_table_print_text(const struct gm_table *table,
			 const struct gm_processes *processes,
			 const struct gpumem_device *device,
			 void (*write)(const char *text, void *user),
			 void *user)
{
	const struct text text = {{write, user}, table->total_bytes};
	char size[GM_PRINT_BYTES_TEXT];

	gm_print_line(&text.lines, "%s: %s", device->info.name,
		      gm_print_bytes(size, table->total_bytes));
	for (size_t i = 0; i < table->count; i++) {
		const struct gm_row *row = &table->row[i];

		if (!i || row->number != row[-1].number)
			text_heading(&text, row);
		text_row(&text, row);
	}
	text_processes(&text, processes);
}
