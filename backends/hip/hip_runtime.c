/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which library is the runtime's, and what its version means, which is decided
 * here and nowhere else. Only init writes gpu.
 */
#include "plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct gpu_driver gpu;

const struct gpumem_option_row gpu_options[] = {
	{"hip.alias", "auto", GPUMEM_OPTION_TEXT,
	 "pages of memory at two addresses: auto (if a trial shows that it "
	 "works), off"},
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

static bool has_virtual_memory(void)
{
	return gpu.MemAddressReserve && gpu.MemAddressFree && gpu.MemCreate &&
	       gpu.MemRelease && gpu.MemMap && gpu.MemUnmap &&
	       gpu.MemSetAccess && gpu.MemGetAllocationGranularity &&
	       gpu.MemExportToShareableHandle &&
	       gpu.MemImportFromShareableHandle;
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
void gpu_read_version(int version)
{
	snprintf(gpu.version, sizeof(gpu.version), "%d.%d.%d",
		 GPU_MAJOR(version), GPU_MINOR(version), version % 100000);
	gpu.old = version < HIP_RELEASE(6, 1);
	gpu.vm = !gpu.old && has_virtual_memory();
	gpu.free_true = version >= HIP_RELEASE(5, 7);
	gpu.ipc_flags = version >= HIP_RELEASE(6, 0) ? 1 : 0;
	gpu.fd_by_value = version >= HIP_RELEASE(7, 1);
}

/* One process must not have two runtimes: if the program, or a framework in it,
 * has brought one along, it is that one, whatever its version. */
static void *find_library(char *name_out, size_t bytes)
{
	static const char *const names[] = {
		"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
	static const int modes[] = {RTLD_NOLOAD, 0};

	for (size_t mode = 0; mode < 2; mode++)
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
			void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL |
								 modes[mode]);

			snprintf(name_out, bytes, "%s", names[i]);
			if (library)
				return library;
		}
	return NULL;
}

void *gpu_open_library(char *path_out, size_t bytes)
{
	gpu.services->option("hip.library", path_out, bytes);
	if (strcmp(path_out, "auto") != 0)
		return dlopen(path_out, RTLD_NOW | RTLD_LOCAL);
	return find_library(path_out, bytes);
}
