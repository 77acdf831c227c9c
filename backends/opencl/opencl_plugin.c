/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The table, and the one function that is exported. OpenCL has no pages, no
 * captures and no sharing that could be built upon. Kinds of memory are left
 * out since all devices of a backend could have to use them, and here each has
 * a context of its own.
 */
#include "opencl_plugin.h"

#define ENTRY(slot, ...) GPUMEM_SLOT_ENTRY(gm_opencl_, slot)

static const struct gpumem_backend backend = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(struct gpumem_backend),
	.name = "opencl",
	.options = gm_opencl_options,
	OPENCL_SLOTS(ENTRY)};

/* With hidden visibility this one is seen all the same. */
GPUMEM_API const struct gpumem_backend *gpumem_plugin(void);

const struct gpumem_backend *gpumem_plugin(void)
{
	return &backend;
}
