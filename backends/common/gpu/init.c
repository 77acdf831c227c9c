/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The table, and its first slot, which finds the driver's library, checks its
 * version and starts it. The library is never closed: it has threads of its
 * own. Only init writes `gpu`.
 */
#include "plugin.h"
#include "../symbols.h"

static const struct symbol symbols[] = {
#define ROW(symbol, name, ...)                                                 \
	{#symbol, GPU_SINCE(__VA_ARGS__), offsetof(__typeof__(gpu), name)},
	GPU_SYMBOL_LIST(ROW)
#undef ROW
};

/* The call that tells the version needs no init, which a driver that is too old
 * may not survive on a new device. */
static gpumem_status check_version(const char *path, const char *missing)
{
	gpu_result result = GPU_SUCCESS;
	int version = GPU_VERSION_MIN;

	if (gpu.DriverGetVersion)
		result = gpu.DriverGetVersion(&version);
	if (result == GPU_SUCCESS && version < GPU_VERSION_MIN)
		return gpu_fail(GPUMEM_NO_DRIVER, GPU_SUCCESS, IS_TOO_OLD, path,
				GPU_MAJOR(version), GPU_MINOR(version));
	if (missing)
		return gpu_fail(GPUMEM_NO_DRIVER, GPU_SUCCESS, IS_NO_DRIVER,
				path, missing);
	gpu_read_version(version);
	return gpu_check(result, "%s: " GET_VERSION, path);
}

gpumem_status GPU(init)(const struct gpumem_services *services)
{
	gpumem_status status;
	char path[512] = "";
	const char *missing;
	void *library;

	gpu.services = services;
	library = gpu_open_library(path, sizeof(path));
	if (!library)
		return gpu_fail(GPUMEM_NO_DRIVER, GPU_SUCCESS,
				IS_NOT_INSTALLED " (%s)", dlerror());
	missing = symbols_find(library, &gpu, symbols,
			       sizeof(symbols) / sizeof(symbols[0]),
			       GPU_VERSION_MIN);
	status = check_version(path, missing);
	return status == GPUMEM_OK
		       ? gpu_check(gpu.Init(0), "%s: " PREFIX "Init", path)
		       : status;
}

const char *GPU(driver_version)(void)
{
	return gpu.version;
}

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
