/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The ways in which the program driver reaches NVIDIA's driver; driver.c lists
 * them. Not what it does there.
 */
#define _GNU_SOURCE
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LINKED
/* X(name, parameters) */
#define FUNCTIONS(X)                                                           \
	X(cuInit, (unsigned))                                                  \
	X(cuDevicePrimaryCtxRetain, (void **, int))                            \
	X(cuDevicePrimaryCtxReset_v2, (int))                                   \
	X(cuCtxSetCurrent, (void *))                                           \
	X(cuCtxCreate_v2, (void **, unsigned, int))                            \
	X(cuCtxDestroy_v2, (void *))                                           \
	X(cuMemAlloc_v2, (address *, size_t))                                  \
	X(cuMemFree_v2, (address))                                             \
	X(cuMemAllocPitch_v2, (address *, size_t *, size_t, size_t, unsigned)) \
	X(cuMemAllocManaged, (address *, size_t, unsigned))                    \
	X(cuMemAllocHost_v2, (void **, size_t))                                \
	X(cuMemHostAlloc, (void **, size_t, unsigned))                         \
	X(cuMemFreeHost, (void *))                                             \
	X(cuMemHostRegister_v2, (void *, size_t, unsigned))                    \
	X(cuMemHostUnregister, (void *))                                       \
	X(cuMemAllocAsync, (address *, size_t, void *))                        \
	X(cuMemFreeAsync, (address, void *))                                   \
	X(cuMemCreate, (address *, size_t, const void *, unsigned long long))  \
	X(cuMemRelease, (address))                                             \
	X(cuMemAddressReserve,                                                 \
	  (address *, size_t, size_t, address, unsigned long long))            \
	X(cuMemMap, (address, size_t, size_t, address, unsigned long long))    \
	X(cuMemUnmap, (address, size_t))                                       \
	X(cuArrayCreate_v2, (void **, const void *))                           \
	X(cuArray3DCreate_v2, (void **, const void *))                         \
	X(cuArrayDestroy, (void *))                                            \
	X(cuMipmappedArrayCreate, (void **, const void *, unsigned))           \
	X(cuMipmappedArrayDestroy, (void *))

#define DECLARE(name, parameters) int name parameters;
FUNCTIONS(DECLARE)
static const struct {
	const char *name;
	void *function;
} linked[] = {
#define LINK(name, parameters) {#name, (void *)name},
	FUNCTIONS(LINK)};

bool open_driver(const char *way, int flags)
{
	(void)way;
	(void)flags;
	return true;
}

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
static int flags;

bool open_driver(const char *which, int stream_flags)
{
	way = which;
	flags = stream_flags;
	library = dlopen("libcuda.so.1", !strcmp(way, "default")
						 ? RTLD_NOW | RTLD_GLOBAL
						 : RTLD_NOW);
	return library;
}

static void *look_up(const char *name)
{
	void *found = NULL;
	char base[64];
	size_t length = strlen(name);
	void *get = dlsym(library, "cuGetProcAddress_v2");
	void *get1 = dlsym(library, "cuGetProcAddress");

	snprintf(base, sizeof(base), "%s", name);
	if (length > 3 && !strcmp(name + length - 3, "_v2"))
		base[length - 3] = 0;
	if (!strcmp(way, "get"))
		((int (*)(const char *, void **, int, unsigned long long,
			  int *))get)(base, &found, 13000, flags, NULL);
	else if (!strcmp(way, "get1"))
		((int (*)(const char *, void **, int, unsigned long long))get1)(
			base, &found, 11030, flags);
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

void report(const char *name, int result)
{
	if (result)
		printf("%s: %d\n", name, result);
}
