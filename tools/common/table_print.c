/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Prints a table within the terminal's width. See table.h.
 */
#include "table.h"

#include "clean.h"

#include <string.h>

enum { GAP = 2, BELOW = 4 };

/* How a table is printed: the columns `from` to `to`, not `to` itself. The
 * first column comes before them. */
struct layout {
	const struct table *table;
	int width[TABLE_COLUMNS];
	int indent, edge;
	size_t from, to;
};

static int columns_of(const struct table_cell *cell)
{
	return (int)clean_columns(cell->text, strlen(cell->text));
}

/* Cells that are wider than `most` are left out, unless they are the last of
 * their row. */
static void measure(struct layout *layout, int most)
{
	const struct table *table = layout->table;

	memset(layout->width, 0, sizeof(layout->width));
	for (size_t i = 0; i < table->count; i++) {
		size_t column = i % table->columns;
		int columns = columns_of(&table->cells[i]);

		if (columns > most && column + 1 < table->columns)
			continue;
		if (columns > layout->width[column])
			layout->width[column] = columns;
	}
}

/* Where column `to` begins when `from` and those between stand before it. */
static int start_of(const struct layout *layout, size_t to)
{
	int start = layout->indent;

	if (to)
		start += layout->width[0] + GAP;
	for (size_t i = layout->from; i < to; i++)
		start += layout->width[i] + GAP;
	return start;
}

/* The columns of the row that are not empty, so that no line ends in blanks. */
static size_t used_columns(const struct layout *layout, size_t row)
{
	size_t used = layout->to;

	while (used > layout->from &&
	       !*layout->table->cells[row + used - 1].text)
		used--;
	return used;
}

/* A cell that is too wide for its column has the rest of the line. */
static void put_cell(const struct layout *layout, size_t row, size_t column,
		     bool last)
{
	const struct table_cell *cell = &layout->table->cells[row + column];
	int pad = layout->width[column] - columns_of(cell);

	if (layout->table->align[column] == 'r')
		printf("%*s", pad > 0 ? pad : 0, "");
	term_put(cell->style, cell->text);
	if (last)
		return;
	if (pad < 0)
		printf("\n%*s", start_of(layout, column + 1), "");
	else if (layout->table->align[column] == 'l')
		printf("%*s", pad + GAP, "");
	else
		printf("%*s", GAP, "");
}

/* The first cell and those from `from` on, not `used` itself. `more`: something
 * follows on the same line. */
static void put_row(const struct layout *layout, size_t row, size_t used,
		    bool more)
{
	if (used > layout->from || *layout->table->cells[row].text)
		printf("%*s", layout->indent, "");
	put_cell(layout, row, 0, used == layout->from && !more);
	for (size_t i = layout->from; i < used; i++)
		put_cell(layout, row, i, i + 1 == used && !more);
}

static void put_part(const struct layout *layout)
{
	const struct table *table = layout->table;

	for (size_t row = 0; row + table->columns <= table->count;
	     row += table->columns) {
		size_t used = used_columns(layout, row);

		if (used == layout->from && layout->from > 1)
			continue;
		put_row(layout, row, used, false);
		putchar('\n');
	}
}

/* As many columns at a time as fit, one at least. */
static void put_parts(struct layout *layout)
{
	size_t columns = layout->table->columns;

	for (layout->from = 1; layout->from < columns;
	     layout->from = layout->to) {
		layout->to = layout->from + 1;
		while (layout->to < columns &&
		       start_of(layout, layout->to + 1) - GAP <= layout->edge)
			layout->to++;
		if (layout->from > 1)
			putchar('\n');
		put_part(layout);
	}
}

/* The last column is wrapped beside the others, or below them. */
static void put_text(struct layout *layout)
{
	const struct table *table = layout->table;
	size_t last = table->columns - 1;
	int start = start_of(layout, last);
	bool below = start + TABLE_TEXT > layout->edge;

	layout->to = last;
	if (below)
		start = layout->indent + BELOW;
	for (size_t row = 0; row + table->columns <= table->count;
	     row += table->columns) {
		const char *text = table->cells[row + last].text;
		bool beside = *text && !below;

		put_row(layout, row, beside ? last : used_columns(layout, row),
			beside);
		if (*text && below)
			printf("\n%*s", start, "");
		term_wrap(text, start, start);
	}
}

bool table_print(const struct table *table, int indent)
{
	struct layout layout = {
		.table = table,
		.indent = indent,
		.edge = term_columns(),
		.from = 1,
		.to = table->columns,
	};
	bool text = table->align[table->columns - 1] == 'l';

	if (table->failed)
		return false;
	measure(&layout, layout.edge);
	if (start_of(&layout, table->columns) - GAP <= layout.edge) {
		put_part(&layout);
	} else if (text) {
		measure(&layout, TABLE_TEXT);
		put_text(&layout);
	} else {
		put_parts(&layout);
	}
	return true;
}
