/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The loader's library found, and through it the platforms, or the reason why
 * not. It is opened here and never closed: implementations have threads of
 * their own. Only init writes gm_opencl.
 */
#include "opencl_plugin.h"

#include <dlfcn.h>
#include <string.h>

struct opencl_driver gm_opencl;

const struct gpumem_option_row gm_opencl_options[] = {
	{"opencl.capacity", "0", GPUMEM_OPTION_BYTES,
	 "the most that is taken of one device; 0: all that it says it has"},
	{"opencl.library", "libOpenCL.so.1", GPUMEM_OPTION_TEXT,
	 "the loader's library, by name or path"},
	{"opencl.memory", "auto", GPUMEM_OPTION_TEXT,
	 "what blocks are made of: auto, svm, usm or buffer"},
	{NULL, NULL, GPUMEM_OPTION_TEXT, NULL},
};

static const struct symbol {
	const char *name;
	int since;
	size_t offset;
} symbols[] = {
#define OPENCL_ROW(symbol, since)                                              \
	{#symbol, since, offsetof(struct opencl_driver, symbol)},
	OPENCL_SYMBOL_LIST(OPENCL_ROW)
#undef OPENCL_ROW
};

#define SYMBOL_COUNT (sizeof(symbols) / sizeof(symbols[0]))

/* Fills gm_opencl; the name of the first required function that is missing. */
static const char *look_up(void *library)
{
	const char *missing = NULL;
	size_t i;

	for (i = 0; i < SYMBOL_COUNT; i++) {
		void *address = dlsym(library, symbols[i].name);

		memcpy((char *)&gm_opencl + symbols[i].offset, &address,
		       sizeof(address));
		if (!address && !missing && symbols[i].since <= OPENCL_MIN)
			missing = symbols[i].name;
	}
	return missing;
}

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
			"the OpenCL loader is not installed (ocl-icd or the "
			"vendor's): %s",
			dlerror());
	missing = look_up(library);
	if (missing)
		return gm_opencl_fail(GPUMEM_NO_DRIVER, CL_SUCCESS,
				      "%s has no function %s, so it is no "
				      "OpenCL loader, or one older than 1.1",
				      path, missing);
	gm_opencl_fill_init();
	return gm_opencl_list_make();
}
