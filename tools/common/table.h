/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A table of aligned text. Cells are added left to right; the row ends by
 * itself when its last column is filled. Running out of memory is remembered
 * and told by table_print().
 */
#ifndef GPUMEM_TOOLS_TABLE_H
#define GPUMEM_TOOLS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS 16

/* 0 <= count, count % columns is the column of the next cell */
struct table {
	char align[TABLE_COLUMNS];
	size_t columns;
	char **cells;
	size_t count, room;
	bool failed;
};

/* One letter for each column: 'l' left or 'r' right. */
void table_init(struct table *table, const char *align);
void table_cell(struct table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Empty cells up to the end of the row; nothing if the row is empty. */
void table_end_row(struct table *table);
/* Each row after `indent` spaces, columns two spaces apart. False when memory
 * ran out; then nothing is printed. */
bool table_print(const struct table *table, int indent, FILE *file);
void table_free(struct table *table);

#endif
