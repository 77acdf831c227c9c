/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* A library that is no plugin: it has a table, but under another name. */
#include "bad.h"

GPUMEM_API const struct gpumem_backend *gpumem_plugin_of_another_library(void);

const struct gpumem_backend *gpumem_plugin_of_another_library(void)
{
	static struct gpumem_backend table;

	table = bad_table("bad-nosymbol");
	return &table;
}
