/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What docs/examples/arrayfire_manager.c needs of ArrayFire's header of this
 * name: see memory.h beside it. */
#ifndef AF_BACKEND_STAND_IN_H
#define AF_BACKEND_STAND_IN_H

#include "memory.h"

typedef enum {
	AF_BACKEND_CPU = 1,
	AF_BACKEND_CUDA = 2,
	AF_BACKEND_OPENCL = 4
} af_backend;

af_err af_get_active_backend(af_backend *backend);

#endif
