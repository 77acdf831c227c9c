/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* A table that ends before its last required slot. */
#include "bad.h"

const struct gpumem_backend *gpumem_plugin(void)
{
	static struct gpumem_backend table;

	table = bad_table("bad-short");
	table.size = offsetof(struct gpumem_backend, free);
	return &table;
}
