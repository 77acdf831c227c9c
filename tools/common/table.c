/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See table.h. Widths are counted in bytes: cells are ASCII.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* vasprintf */
#endif
#include "table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void table_init(struct table *table, const char *align)
{
	*table = (struct table){.columns = strlen(align)};
	memcpy(table->align, align, table->columns);
}

static bool make_room(struct table *table)
{
	size_t room = table->room ? table->room * 2 : 64;
	char **cells;

	if (table->count < table->room)
		return true;
	cells = realloc(table->cells, room * sizeof(*cells));
	if (!cells)
		return false;
	table->cells = cells;
	table->room = room;
	return true;
}

void table_cell(struct table *table, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (!make_room(table) || vasprintf(&text, format, args) < 0)
		table->failed = true;
	else
		table->cells[table->count++] = text;
	va_end(args);
}

void table_end_row(struct table *table)
{
	while (!table->failed && table->count % table->columns)
		table_cell(table, "%s", "");
}

static void widths(const struct table *table, int width[TABLE_COLUMNS])
{
	memset(width, 0, TABLE_COLUMNS * sizeof(*width));
	for (size_t i = 0; i < table->count; i++) {
		int length = (int)strlen(table->cells[i]);

		if (length > width[i % table->columns])
			width[i % table->columns] = length;
	}
}

/* Columns of the row that are not empty, so that no line ends in blanks. */
static size_t used_columns(const struct table *table, size_t row)
{
	size_t used = table->columns;

	while (used && !*table->cells[row + used - 1])
		used--;
	return used;
}

bool table_print(const struct table *table, int indent, FILE *file)
{
	int width[TABLE_COLUMNS];

	if (table->failed)
		return false;
	widths(table, width);
	for (size_t row = 0; row + table->columns <= table->count;
	     row += table->columns) {
		size_t used = used_columns(table, row);

		fprintf(file, "%*s", used ? indent : 0, "");
		for (size_t i = 0; i < used; i++) {
			bool last = i + 1 == used;
			bool left = table->align[i] == 'l';
			int pad = left && last ? 0 : width[i];

			fprintf(file, "%*s%s", left ? -pad : pad,
				table->cells[row + i], last ? "" : "  ");
		}
		fputc('\n', file);
	}
	return true;
}

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i]);
	free(table->cells);
	*table = (struct table){0};
}
