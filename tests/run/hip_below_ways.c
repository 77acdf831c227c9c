/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The ways to the functions of the runtime hip_below that are not its symbols.
 * No state, so no lock.
 */
#define _GNU_SOURCE
#include "hip_below.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

/* As AMD's does it: a variant for the default stream of each thread, if there
 * is one. */
static int look_up(const char *symbol, void **out, int threads)
{
	void *own = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD);
	char name[128];

	if (!symbol || !out)
		return leave(INVALID);
	snprintf(name, sizeof(name), "%s_spt", symbol);
	*out = threads ? dlsym(own, name) : NULL;
	if (!*out)
		*out = dlsym(own, symbol);
	return leave(*out ? OK : NOT_FOUND);
}

int hipGetProcAddress(const char *symbol, void **out, int version,
		      uint64_t flags, int *status)
{
	return look_up(symbol, out, flags == 2);
}

int hipGetProcAddress_spt(const char *symbol, void **out, int version,
			  uint64_t flags, int *status)
{
	return look_up(symbol, out, 1);
}

int hipGetDriverEntryPoint(const char *symbol, void **out,
			   unsigned long long flags, int *status)
{
	return look_up(symbol, out, flags == 2);
}

int hipGetDriverEntryPoint_spt(const char *symbol, void **out,
			       unsigned long long flags, int *status)
{
	return look_up(symbol, out, 1);
}
