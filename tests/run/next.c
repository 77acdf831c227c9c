/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Another library that wraps functions, for tests/tool_run.sh: one of libc and
 * two of NVIDIA's driver. It asks dlsym() for the next of each.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int puts_function(const char *);
typedef int alloc_function(unsigned long long *, size_t);

int puts(const char *text)
{
	puts_function *first = (puts_function *)dlsym(RTLD_NEXT, "puts");
	puts_function *next = (puts_function *)dlsym(RTLD_NEXT, "puts");

	if (next == puts || next != first)
		_exit(42);
	return next(strcmp(text, "done") ? text : "done, and seen");
}

int cuMemAlloc_v2(unsigned long long *block, size_t bytes)
{
	alloc_function *next =
		(alloc_function *)dlsym(RTLD_NEXT, "cuMemAlloc_v2");

	if (next == cuMemAlloc_v2)
		_exit(43);
	return next ? next(block, bytes) : 500;
}

int cuStreamCreate(void **stream, unsigned flags)
{
	int (*next)(void **, unsigned) =
		(int (*)(void **, unsigned))dlsym(RTLD_NEXT, "cuStreamCreate");

	return next ? next(stream, flags) : 500;
}
