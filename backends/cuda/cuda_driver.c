/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Which library is the driver's, and its version. Only init writes gm_cuda. */
#include "plugin.h"

#include <dlfcn.h>
#include <stdio.h>

struct cuda_driver gm_cuda;

const struct gpumem_option_row gm_cuda_options[] = {
	{"cuda.library", "libcuda.so.1", GPUMEM_OPTION_TEXT,
	 "the driver's library, by name or path"},
	{"cuda.nvml", "libnvidia-ml.so.1", GPUMEM_OPTION_TEXT,
	 "the library that tells which processes use a device, by name or "
	 "path"},
	{NULL, NULL, GPUMEM_OPTION_TEXT, NULL},
};

void *gm_cuda_open_library(char *path_out, size_t bytes)
{
	gm_cuda.services->option("cuda.library", path_out, bytes);
	return dlopen(path_out, RTLD_NOW | RTLD_LOCAL);
}

void gm_cuda_read_version(int version)
{
	snprintf(gm_cuda.version, sizeof(gm_cuda.version), "%d.%d",
		 GPU_MAJOR(version), GPU_MINOR(version));
}
