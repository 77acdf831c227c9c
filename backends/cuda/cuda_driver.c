/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The driver's library found and started, or the reason why not. It is opened
 * here and never closed: it has threads of its own. Only init writes gm_cuda.
 */
#include "plugin.h"
#include "../common/symbols.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct cuda_driver gm_cuda;

const struct gpumem_option_row gm_cuda_options[] = {
	{"cuda.library", "libcuda.so.1", GPUMEM_OPTION_TEXT,
	 "the driver's library, by name or path"},
	{"cuda.nvml", "libnvidia-ml.so.1", GPUMEM_OPTION_TEXT,
	 "the library that tells which processes use a device, by name or "
	 "path"},
	{NULL, NULL, GPUMEM_OPTION_TEXT, NULL},
};

static const struct symbol symbols[] = {
#define CUDA_ROW(symbol, name, since)                                          \
	{#symbol, since, offsetof(struct cuda_driver, name)},
	CUDA_SYMBOL_LIST(CUDA_ROW)
#undef CUDA_ROW
};

#define SYMBOL_COUNT (sizeof(symbols) / sizeof(symbols[0]))

/* cuDriverGetVersion() needs no cuInit(), which a driver that is too old may
 * not survive on a new device. */
static gpumem_status check_driver(const char *path, const char *missing)
{
	CUresult result = CUDA_SUCCESS;
	int version = CUDA_DRIVER_MIN;

	if (gm_cuda.DriverGetVersion)
		result = gm_cuda.DriverGetVersion(&version);
	if (result == CUDA_SUCCESS && version < CUDA_DRIVER_MIN)
		return gm_cuda_fail(GPUMEM_NO_DRIVER, CUDA_SUCCESS,
				    "the driver, %s, is made for CUDA %d.%d, "
				    "and %d.%d or later is needed: install a "
				    "newer driver",
				    path, version / 1000, version % 1000 / 10,
				    CUDA_DRIVER_MIN / 1000,
				    CUDA_DRIVER_MIN % 1000 / 10);
	if (missing)
		return gm_cuda_fail(GPUMEM_NO_DRIVER, CUDA_SUCCESS,
				    "%s has no function %s, so it is no "
				    "driver of NVIDIA, or not a whole one",
				    path, missing);
	snprintf(gm_cuda.version, sizeof(gm_cuda.version), "%d.%d",
		 version / 1000, version % 1000 / 10);
	return gm_cuda_check(result, "%s: cuDriverGetVersion", path);
}

gpumem_status gm_cuda_init(const struct gpumem_services *services)
{
	gpumem_status status;
	void *library;
	char path[512] = "";

	gm_cuda.services = services;
	services->option("cuda.library", path, sizeof(path));
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return gm_cuda_fail(
			GPUMEM_NO_DRIVER, CUDA_SUCCESS,
			"the NVIDIA driver is not installed, or the "
			"container has no GPU: %s",
			dlerror());
	status =
		check_driver(path, symbols_find(library, &gm_cuda, symbols,
						SYMBOL_COUNT, CUDA_DRIVER_MIN));
	return status == GPUMEM_OK
		       ? gm_cuda_check(gm_cuda.Init(0), "%s: cuInit", path)
		       : status;
}

const char *gm_cuda_driver_version(void)
{
	return gm_cuda.version;
}
