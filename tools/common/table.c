/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Fills a table; table_print.c prints it. See table.h.
 */
#include "table.h"

#include "clean.h"

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
	struct table_cell *cells;

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
	if (make_room(table))
		text = clean_format(format, args);
	va_end(args);
	if (text)
		table->cells[table->count++] =
			(struct table_cell){.text = text};
	else
		table->failed = true;
}

void table_paint(struct table *table, enum term_style style)
{
	if (table->count)
		table->cells[table->count - 1].style = style;
}

void table_end_row(struct table *table)
{
	while (!table->failed && table->count % table->columns)
		table_cell(table, "%s", "");
}

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i].text);
	free(table->cells);
	*table = (struct table){0};
}
