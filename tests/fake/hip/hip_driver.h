/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * NVIDIA's driver beneath, as its double has it: the one table of it.
 */
#ifndef GPUMEM_TESTS_HIP_DRIVER_H
#define GPUMEM_TESTS_HIP_DRIVER_H

#include "../cuda/cuda_symbols.h"

#include <stdbool.h>

struct hip_driver {
#define DRIVER_FIELD(name, type, age) type name;
	FAKE_SYMBOLS(DRIVER_FIELD)
#undef DRIVER_FIELD
};

/* Filled by the first call of HIP, and never changed again. */
extern struct hip_driver cu;

/* False: there is no driver, or it lacks something, or it has no device. */
bool hip_driver_start(int *device_count_out);

#endif
