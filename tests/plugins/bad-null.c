/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* A plugin that has no table to give. */
#include "bad.h"

const struct gpumem_backend *gpumem_plugin(void)
{
	return NULL;
}
