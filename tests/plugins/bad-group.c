/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* A table with one slot of a group, and not the others. */
#include "bad.h"

static gpumem_status copy(void *device, uint64_t to, uint64_t from,
			  uint64_t bytes, gpumem_stream stream)
{
	(void)device;
	(void)to;
	(void)from;
	(void)bytes;
	(void)stream;
	return GPUMEM_OK;
}

const struct gpumem_backend *gpumem_plugin(void)
{
	static struct gpumem_backend table;

	table = bad_table("bad-group");
	table.copy = copy;
	return &table;
}
