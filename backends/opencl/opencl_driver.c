/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The loader's library found, and through it the platforms, or the reason why
 * not. It is opened here and never closed: implementations have threads of
 * their own. Only init writes gm_opencl.
 */
#include "opencl_plugin.h"
#include "../common/symbols.h"

#include <dlfcn.h>
#include <string.h>

struct opencl_driver gm_opencl;

const struct gpumem_option_row gm_opencl_options[] = {
	{"opencl.capacity", "0", GPUMEM_OPTION_MEMORY,
	 "limit on what is allocated on one device; 0: all that it reports"},
	{"opencl.library", "libOpenCL.so.1", GPUMEM_OPTION_TEXT,
	 "the loader's library, by name or path"},
	{"opencl.memory", "auto", GPUMEM_OPTION_TEXT,
	 "kind of memory of blocks: auto, svm, usm or buffer"},
	{NULL, NULL, GPUMEM_OPTION_TEXT, NULL},
};

static const struct symbol symbols[] = {
#define OPENCL_ROW(symbol, since)                                              \
	{#symbol, since, offsetof(struct opencl_driver, symbol)},
	OPENCL_SYMBOL_LIST(OPENCL_ROW)
#undef OPENCL_ROW
};

#define SYMBOL_COUNT (sizeof(symbols) / sizeof(symbols[0]))

gpumem_status gm_opencl_init(const struct gpumem_services *services)
{
	const char *missing;
	void *library;
	char path[512] = "";

	gm_opencl.services = services;
	services->option("opencl.library", path, sizeof(path));
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return gm_opencl_fail(
			GPUMEM_NO_DRIVER, CL_SUCCESS,
			"the OpenCL loader is not installed: on Debian apt "
			"install ocl-icd-libopencl1 (%s)",
			dlerror());
	missing = symbols_find(library, &gm_opencl, symbols, SYMBOL_COUNT,
			       OPENCL_MIN);
	if (missing)
		return gm_opencl_fail(GPUMEM_NO_DRIVER, CL_SUCCESS,
				      "%s has no function %s, so it is no "
				      "OpenCL loader, or one older than 1.1",
				      path, missing);
	gm_opencl_fill_init();
	return gm_opencl_list_make();
}
