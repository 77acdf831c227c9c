/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* A plugin with an option whose default is not of its kind. */
#include "bad.h"

static const struct gpumem_option_row rows[] = {
	{"bad-option.fine", "on", GPUMEM_OPTION_BOOL, "this one is right"},
	{"bad-option.size", "large", GPUMEM_OPTION_BYTES, "this one is wrong"},
	{NULL, NULL, GPUMEM_OPTION_TEXT, NULL},
};

const struct gpumem_backend *gpumem_plugin(void)
{
	static struct gpumem_backend table;

	table = bad_table("bad-option");
	table.options = rows;
	return &table;
}
