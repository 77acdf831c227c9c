/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Loads NVIDIA's driver. Never closes it: the process may have it from
 * elsewhere. The caller locks.
 */
#include "hip_driver.h"

#include <dlfcn.h>
#include <string.h>

struct hip_driver cu;

static bool find(void *library, const char *name, void *function_out)
{
	void *symbol = dlsym(library, name);

	memcpy(function_out, &symbol, sizeof(symbol));
	return symbol;
}

static bool load(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	bool whole = library;

#define DRIVER_FIND(name, type, age)                                           \
	whole = whole && find(library, #name, &cu.name);
	FAKE_SYMBOLS(DRIVER_FIND)
#undef DRIVER_FIND
	return whole;
}

bool hip_driver_start(int *device_count_out)
{
	return load() && cu.cuInit(0) == CUDA_SUCCESS &&
	       cu.cuDeviceGetCount(device_count_out) == CUDA_SUCCESS &&
	       *device_count_out > 0;
}
