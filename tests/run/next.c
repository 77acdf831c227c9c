/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Another preloaded library, for tests/tool_run.sh: it wraps a function of libc
 * and one of NVIDIA's driver, and asks dlsym() for the next of each, twice.
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
