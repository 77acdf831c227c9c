/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The doubles of drivers, loaded before the library looks for the drivers, so
 * that this process and those that it forks find them. Only the main thread
 * calls what is here.
 */
#ifndef LIB_DOUBLES_H
#define LIB_DOUBLES_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The double of the driver is loaded, and found as libcuda.so.1 from then on.
 * False: configured without cuda. */
__attribute__((unused)) static bool peer_has_cuda(void)
{
	const char *folder = getenv("top_builddir");
	char path[4096];

	folder = folder ? folder : ".";
	snprintf(path, sizeof(path), "%s/backends/.libs", folder);
	setenv("GPUMEM_PLUGIN_PATH", path, 1);
	snprintf(path, sizeof(path), "%s/backends/.libs/cuda.so", folder);
	if (access(path, F_OK))
		return false;
	snprintf(path, sizeof(path), "%s/tests/fake/cuda/.libs/libcuda.so.1",
		 folder);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL;
}

/* The same for the double of HIP's runtime, which runs over the other. */
__attribute__((unused)) static bool peer_has_hip(void)
{
	const char *folder = getenv("top_builddir");
	char path[4096];

	folder = folder ? folder : ".";
	snprintf(path, sizeof(path), "%s/backends/.libs/hip.so", folder);
	if (!peer_has_cuda() || access(path, F_OK))
		return false;
	snprintf(path, sizeof(path),
		 "%s/tests/fake/hip/7/.libs/libamdhip64.so.7", folder);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL;
}

#endif
