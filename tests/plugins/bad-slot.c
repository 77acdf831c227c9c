/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* A table without a required slot. */
#include "bad.h"

const struct gpumem_backend *gpumem_plugin(void)
{
	static struct gpumem_backend table;

	table = bad_table("bad-slot");
	table.free = NULL;
	return &table;
}
