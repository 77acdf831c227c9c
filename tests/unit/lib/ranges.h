/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A table of ranges, as a hook of ranges fills it: pieces of addresses that
 * have memory. What cannot be is counted. Whoever fills it locks.
 */
#ifndef LIB_RANGES_H
#define LIB_RANGES_H

#include "fixture.h"

enum { PIECES = 4096 };

struct piece {
	uintptr_t from, to;
};

/* Apart from each other, by addresses. */
struct table {
	struct piece of[PIECES];
	size_t count;
	unsigned wrong;
	const char *how;
};

LIB_USE void wrong(struct table *table, const char *how)
{
	table->wrong++;
	table->how = how;
}

/* The first piece that ends behind an address. */
LIB_USE size_t find(const struct table *table, uintptr_t at)
{
	size_t i = 0;

	while (i < table->count && table->of[i].to <= at)
		i++;
	return i;
}

LIB_USE bool has(const struct table *table, uintptr_t from, uintptr_t to)
{
	size_t i = find(table, from);

	return i < table->count && table->of[i].from <= from &&
	       to <= table->of[i].to;
}

LIB_USE void put_piece(struct table *table, size_t at, struct piece piece)
{
	if (table->count == PIECES)
		bail("too many pieces");
	memmove(&table->of[at + 1], &table->of[at],
		(table->count++ - at) * sizeof(piece));
	table->of[at] = piece;
}

LIB_USE void take_piece(struct table *table, size_t at)
{
	memmove(&table->of[at], &table->of[at + 1],
		(--table->count - at) * sizeof(table->of[0]));
}

LIB_USE void add(struct table *table, uintptr_t from, uintptr_t to)
{
	size_t i = find(table, from);

	if (i < table->count && table->of[i].from < to) {
		wrong(table, "mapped twice");
		return;
	}
	put_piece(table, i, (struct piece){from, to});
	if (i + 1 < table->count && table->of[i + 1].from == to) {
		table->of[i].to = table->of[i + 1].to;
		take_piece(table, i + 1);
	}
	if (i && table->of[i - 1].to == from) {
		table->of[i - 1].to = table->of[i].to;
		take_piece(table, i);
	}
}

LIB_USE void take(struct table *table, uintptr_t from, uintptr_t to)
{
	size_t i = find(table, from);
	struct piece *piece = &table->of[i], before;

	if (!has(table, from, to)) {
		wrong(table, "unmapped untold");
		return;
	}
	before = *piece;
	take_piece(table, i);
	if (before.to > to)
		put_piece(table, i, (struct piece){to, before.to});
	if (before.from < from)
		put_piece(table, i, (struct piece){before.from, from});
}

/* Memory is there at least so often. */
#define RANGE_STEP (2 * MIB)

/* A fault would end the test. What streams write meanwhile is nobody's
 * concern: it is read to see that it can be. */
LIB_USE __attribute__((no_sanitize("thread"))) void
touch(const struct gpumem_range *range)
{
	const volatile char *at = range->ptr;
	char seen = 0;

	for (uint64_t i = 0; i < range->bytes; i += RANGE_STEP)
		seen = (char)(seen + at[i]);
	(void)seen;
}

#endif
