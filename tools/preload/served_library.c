/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Of served.h: libgpumem, which gpumem-run names. It is opened once in a
 * process, when it is needed, and stays. Where the program has one of its own,
 * there are two, or it is the same file and one.
 */
#include "served.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct served_library served_gpumem;
static char file[PATH_MAX]; /* "": there is none */

void served_init(void)
{
	const char *path = getenv(LIBRARY_VARIABLE);

	snprintf(file, sizeof(file), "%s", path ? path : "");
}

bool served_open_library(const char **why_out)
{
	void *library = *file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;

	if (!library) {
		*why_out = *file ? dlerror() : NULL;
		if (!*why_out)
			*why_out = "gpumem-run has no shared libgpumem";
		return false;
	}
#define FIND(name)                                                             \
	*(void **)&served_gpumem.name = preload_dlsym(library, #name);         \
	if (!served_gpumem.name) {                                             \
		*why_out = "libgpumem has no " #name "()";                     \
		return false;                                                  \
	}
	SERVED_FUNCTIONS(FIND)
#undef FIND
	return true;
}
