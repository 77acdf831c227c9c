/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The runtime's library found and started, or the reason why not; and what its
 * version means, which is decided here and nowhere else. It is opened here and
 * never closed: it has threads of its own. Only init writes gm_hip.
 */
#include "plugin.h"
#include "../common/symbols.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct hip_runtime gm_hip;

const struct gpumem_option_row gm_hip_options[] = {
	{"hip.library", "auto", GPUMEM_OPTION_TEXT,
	 "the HIP runtime's library, by name or path; auto: what the program "
	 "has already, or else libamdhip64.so.7, .6 or .5"},
	{"hip.sysfs", "/sys", GPUMEM_OPTION_TEXT,
	 "the folder where the kernel says what devices and processes hold"},
	{"hip.vm", "auto", GPUMEM_OPTION_TEXT,
	 "how far the runtime's virtual memory is trusted: auto (as far as a "
	 "trial shows), full, single, reserve, off"},
	{NULL, NULL, GPUMEM_OPTION_TEXT, NULL},
};

static const struct symbol symbols[] = {
#define HIP_ROW(symbol, name, major, minor)                                    \
	{#symbol, HIP_RELEASE(major, minor),                                   \
	 offsetof(struct hip_runtime, name)},
	HIP_SYMBOL_LIST(HIP_ROW)
#undef HIP_ROW
};

#define SYMBOL_COUNT (sizeof(symbols) / sizeof(symbols[0]))

static bool has_virtual_memory(void)
{
	return gm_hip.MemAddressReserve && gm_hip.MemAddressFree &&
	       gm_hip.MemCreate && gm_hip.MemRelease && gm_hip.MemMap &&
	       gm_hip.MemUnmap && gm_hip.MemSetAccess &&
	       gm_hip.MemGetAllocationGranularity &&
	       gm_hip.MemExportToShareableHandle &&
	       gm_hip.MemImportFromShareableHandle;
}

/*
 * 6.1  The functions of virtual memory are there from 5.1 on, and fail. Before
 *      5.7 they also take another structure.
 * 5.7  hipMemGetInfo() counts what other processes hold. Before, it knows this
 *      one's allocations only, and promises memory that is not there.
 * 6.0  The one flag that hipIpcOpenMemHandle() takes has got another number.
 * 7.1  An import takes the descriptor itself, as CUDA's does; before, a pointer
 *      to it.
 */
static void read_version(int version)
{
	snprintf(gm_hip.version, sizeof(gm_hip.version), "%d.%d.%d",
		 version / 10000000, version % 10000000 / 100000,
		 version % 100000);
	gm_hip.old = version < HIP_RELEASE(6, 1);
	gm_hip.vm = !gm_hip.old && has_virtual_memory();
	gm_hip.free_true = version >= HIP_RELEASE(5, 7);
	gm_hip.ipc_flags = version >= HIP_RELEASE(6, 0) ? 1 : 0;
	gm_hip.fd_by_value = version >= HIP_RELEASE(7, 1);
}

/* hipRuntimeGetVersion() needs no hipInit(). */
static gpumem_status check_runtime(const char *path, const char *missing)
{
	hipError_t error = hipSuccess;
	int version = HIP_RUNTIME_MIN;

	if (gm_hip.RuntimeGetVersion)
		error = gm_hip.RuntimeGetVersion(&version);
	if (error == hipSuccess && version < HIP_RUNTIME_MIN)
		return gm_hip_fail(GPUMEM_NO_DRIVER, hipSuccess,
				   "%s is of ROCm %d.%d, and 5.0 or later is "
				   "needed: install a newer one",
				   path, version / 10000000,
				   version % 10000000 / 100000);
	if (missing)
		return gm_hip_fail(GPUMEM_NO_DRIVER, hipSuccess,
				   "%s has no function %s, so it is no HIP "
				   "runtime of AMD, or not a whole one",
				   path, missing);
	read_version(version);
	return gm_hip_check(error, "%s: hipRuntimeGetVersion", path);
}

/* One process must not have two runtimes: if the program, or a framework in it,
 * has brought one along, it is that one, whatever its version. */
static void *find_library(const char **name_out)
{
	static const char *const names[] = {
		"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
	static const int modes[] = {RTLD_NOLOAD, 0};

	for (size_t mode = 0; mode < 2; mode++)
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
			void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL |
								 modes[mode]);

			*name_out = names[i];
			if (library)
				return library;
		}
	return NULL;
}

gpumem_status gm_hip_init(const struct gpumem_services *services)
{
	gpumem_status status;
	char option[512] = "";
	const char *path = option;
	void *library;

	gm_hip.services = services;
	services->option("hip.library", option, sizeof(option));
	library = !strcmp(option, "auto")
			  ? find_library(&path)
			  : dlopen(option, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return gm_hip_fail(GPUMEM_NO_DRIVER, hipSuccess,
				   "the HIP runtime of AMD's ROCm is not "
				   "installed, or not where libraries are "
				   "looked for: %s",
				   dlerror());
	status = check_runtime(path,
			       symbols_find(library, &gm_hip, symbols,
					    SYMBOL_COUNT, HIP_RUNTIME_MIN));
	return status == GPUMEM_OK
		       ? gm_hip_check(gm_hip.Init(0), "%s: hipInit", path)
		       : status;
}

const char *gm_hip_driver_version(void)
{
	return gm_hip.version;
}
