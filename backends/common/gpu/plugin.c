/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The table, and the one function that is exported. */
#include "plugin.h"

static const struct gpumem_backend backend = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(struct gpumem_backend),
	.name = GPU_BACKEND,
	.options = gpu_options,
	GPU_SLOT_LIST(GPU_ENTRY)};

/* With hidden visibility this one is seen all the same. */
GPUMEM_API const struct gpumem_backend *gpumem_plugin(void);

const struct gpumem_backend *gpumem_plugin(void)
{
	return &backend;
}
