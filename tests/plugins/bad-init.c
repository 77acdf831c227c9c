/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* A plugin whose driver is not there. */
#include "bad.h"

static gpumem_status init(const struct gpumem_services *services)
{
	services->error(100, "FAKE_ERROR_NO_LIBRARY",
			"libfake.so.1 cannot be loaded: no such file");
	return GPUMEM_NO_DRIVER;
}

const struct gpumem_backend *gpumem_plugin(void)
{
	static struct gpumem_backend table;

	table = bad_table("bad-init");
	table.init = init;
	return &table;
}
