/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A table of aligned text. Cells are added left to right; the row ends
 * when its last column is filled. Running out of memory is reported
 * by table_print().
 *
 * No line is wider than the terminal, nor than 80 columns where there is none
 * (term.h), unless a single word is. A table whose last column is text has that
 * wrapped; where less than TABLE_TEXT columns are left for it, it stands below
 * its row. Any other table is printed in several parts, each with the first
 * column and as many of the rest as fit.
 */
#ifndef GPUMEM_TOOLS_TABLE_H
#define GPUMEM_TOOLS_TABLE_H

#include "term.h"

#include <stddef.h>

#define TABLE_COLUMNS 16
#define TABLE_TEXT 24

struct table_cell {
	char *text; /* clean */
	enum term_style style;
};

/* 0 <= count, count % columns is the column of the next cell */
struct table {
	char align[TABLE_COLUMNS];
	size_t columns;
	struct table_cell *cells;
	size_t count, room;
	bool failed;
};

/* One letter for each column: 'l' left or 'r' right. */
void table_init(struct table *table, const char *align);
/* What is not fit for a terminal is escaped (clean.h). */
void table_cell(struct table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Gives the last cell a style. */
void table_paint(struct table *table, enum term_style style);
/* Empty cells up to the end of the row; nothing if the row is empty. */
void table_end_row(struct table *table);
/* Each row on standard output after `indent` spaces, columns two spaces apart.
 * False when memory ran out; then nothing is printed. */
bool table_print(const struct table *table, int indent);
void table_free(struct table *table);

#endif
