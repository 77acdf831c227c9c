/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The ways in which the program hip reaches AMD's runtime; hip.c lists them.
 * Not what it does there.
 */
#define _GNU_SOURCE
#include "hip.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int (*last_error)(void);

#ifdef LINKED
#define NAMES(X)                                                               \
	X(hipInit)                                                             \
	X(hipSetDevice)                                                        \
	X(hipGetLastError)                                                     \
	X(hipMemGetInfo)                                                       \
	X(hipDeviceReset)                                                      \
	X(hipMalloc)                                                           \
	X(hipExtMallocWithFlags)                                               \
	X(hipMallocPitch)                                                      \
	X(hipMemAllocPitch)                                                    \
	X(hipMalloc3D)                                                         \
	X(hipMallocManaged)                                                    \
	X(hipFree)                                                             \
	X(hipHostMalloc)                                                       \
	X(hipHostAlloc)                                                        \
	X(hipExtHostAlloc)                                                     \
	X(hipMallocHost)                                                       \
	X(hipMemAllocHost)                                                     \
	X(hipHostFree)                                                         \
	X(hipFreeHost)                                                         \
	X(hipHostRegister)                                                     \
	X(hipHostUnregister)                                                   \
	X(hipMallocAsync)                                                      \
	X(hipMallocFromPoolAsync)                                              \
	X(hipFreeAsync)                                                        \
	X(hipMemCreate)                                                        \
	X(hipMemRelease)                                                       \
	X(hipMemAddressReserve)                                                \
	X(hipMemAddressFree)                                                   \
	X(hipMemMap)                                                           \
	X(hipMemUnmap)                                                         \
	X(hipMemRetainAllocationHandle)

#define DECLARE(name) int name();
NAMES(DECLARE)
static const struct {
	const char *name;
	void *function;
} linked[] = {
#define LINK(name) {#name, (void *)name},
	NAMES(LINK)};

static void *look_up(const char *name)
{
	for (size_t i = 0; i < sizeof(linked) / sizeof(*linked); i++)
		if (!strcmp(linked[i].name, name))
			return linked[i].function;
	return NULL;
}
#else
static void *library;
static const char *way;
static uint64_t flags;

static void *look_up(const char *name)
{
	void *found = NULL;

	if (!strncmp(way, "get", 3))
		((int (*)(const char *, void **, int, uint64_t, int *))dlsym(
			library, way[3] ? "hipGetProcAddress_spt"
					: "hipGetProcAddress"))(
			name, &found, 60443484, flags, NULL);
	else if (!strncmp(way, "entry", 5))
		((int (*)(const char *, void **, unsigned long long, int *))
			 dlsym(library, way[5] ? "hipGetDriverEntryPoint_spt"
					       : "hipGetDriverEntryPoint"))(
			name, &found, flags, NULL);
	else
		found = dlsym(!strcmp(way, "default") ? RTLD_DEFAULT : library,
			      name);
	return found;
}
#endif

void *find(const char *name)
{
	void *found = look_up(name);

	if (!found) {
		printf("%s is not there\n", name);
		exit(3);
	}
	return found;
}

bool open_runtime(const char *which, const char *release, uint64_t stream_flags)
{
#ifndef LINKED
	char name[64];

	way = which;
	flags = stream_flags;
	snprintf(name, sizeof(name), "libamdhip64.so.%s", release);
	library = dlopen(name, !strcmp(way, "default") ? RTLD_NOW | RTLD_GLOBAL
						       : RTLD_NOW);
	if (!library)
		return false;
#endif
	last_error = (int (*)(void))find("hipGetLastError");
	return true;
}

int report(const char *name, int result)
{
	int last = last_error();

	if (result || last)
		printf("%s: %d, last %d\n", name, result, last);
	return result;
}
