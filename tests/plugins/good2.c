/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A plugin from the future, where slots have been appended that this library
 * does not know: they are ignored. Its device gives out nothing.
 */
#include "bad.h"

struct future {
	struct gpumem_backend now;
	void (*unknown[3])(void);
};

/* Nobody may call it. */
static void unknown(void)
{
	__builtin_trap();
}

const struct gpumem_backend *gpumem_plugin(void)
{
	static struct future table;

	table.now = bad_table("good2");
	table.now.size = sizeof(table);
	table.unknown[0] = table.unknown[1] = table.unknown[2] = unknown;
	return &table.now;
}
