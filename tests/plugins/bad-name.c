/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* A plugin with another name than its file. */
#include "bad.h"

const struct gpumem_backend *gpumem_plugin(void)
{
	static struct gpumem_backend table;

	table = bad_table("other");
	return &table;
}
