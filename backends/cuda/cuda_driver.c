/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Which library is the driver's, and its version. Only init writes gpu. */
#include "plugin.h"

#include <dlfcn.h>
#include <stdio.h>

struct gpu_driver gpu;

const struct gpumem_option_row gpu_options[] = {
	{"cuda.library", "libcuda.so.1", GPUMEM_OPTION_TEXT,
	 "the driver's library, by name or path"},
	{"cuda.nvml", "libnvidia-ml.so.1", GPUMEM_OPTION_TEXT,
	 "the library that tells which processes use a device, by name or "
	 "path"},
	{NULL, NULL, GPUMEM_OPTION_TEXT, NULL},
};

void *gpu_open_library(char *path_out, size_t bytes)
{
	gpu.services->option("cuda.library", path_out, bytes);
	return dlopen(path_out, RTLD_NOW | RTLD_LOCAL);
}

void gpu_read_version(int version)
{
	snprintf(gpu.version, sizeof(gpu.version), "%d.%d", GPU_MAJOR(version),
		 GPU_MINOR(version));
}
