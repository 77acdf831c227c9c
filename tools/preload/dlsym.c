/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * dlsym(), for programs that open the library of their GPU themselves, as the
 * CUDA runtime does. The real one looks at its return address to know for whom
 * RTLD_NEXT and RTLD_DEFAULT are, so it is jumped to, never called: a call
 * would make this library the asker, and whoever asks for the next function
 * would get his own.
 */
#include "hooks.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

/* A jump at every level of optimisation. */
#if defined(__clang__)
#define JUMPS
#define JUMP __attribute__((musttail)) return
#else
#define JUMPS __attribute__((optimize("O2", "optimize-sibling-calls")))
#define JUMP return
#endif

typedef void *dlsym_function(void *handle, const char *name);

static dlsym_function *_Atomic real_dlsym;

/* ISO C has no cast for it. */
static dlsym_function *function_of(void *found)
{
	dlsym_function *function;

	memcpy(&function, &found, sizeof(function));
	return function;
}

/* The versions under which the platforms of glibc have it. dlsym() itself may
 * not be asked: that is us. */
static dlsym_function *find_glibc(void)
{
	static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5",
					       "GLIBC_2.17", "GLIBC_2.27",
					       "GLIBC_2.36", "GLIBC_2.0"};
	void *found = NULL;

	for (size_t i = 0; !found && i < sizeof(versions) / sizeof(*versions);
	     i++)
		found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	return function_of(found);
}

/* Another preloaded library may have one without a version, as those have that
 * share a GPU among containers: it is between this one and glibc's. A second
 * copy of this library is not, whose wrappers would be taken for these. */
static dlsym_function *find_real(void)
{
	dlsym_function *real = find_glibc();
	void *next = real(RTLD_NEXT, "dlsym");
	Dl_info info;

	if (next && dladdr(next, &info) && info.dli_fname &&
	    !strstr(info.dli_fname, "libgpumem-preload"))
		real = function_of(next);
	atomic_store(&real_dlsym, real);
	return real;
}

static inline dlsym_function *get_real(void)
{
	dlsym_function *real =
		atomic_load_explicit(&real_dlsym, memory_order_relaxed);

	return real ? real : find_real();
}

void *preload_dlsym(void *handle, const char *name)
{
	void *found = get_real()(handle, name);

	__asm__ volatile("" : "+r"(found)); /* a call, not a jump */
	return found;
}

static const struct hook_table *const tables[] = {
#ifdef PRELOAD_CUDA
	&cuda_hooks,
#endif
#ifdef PRELOAD_HIP
	&hip_hooks,
#endif
};

static __attribute__((noinline)) void *look_up(void *handle, const char *name,
					       const struct hook_table *table,
					       int hook, const void *caller)
{
	void *found = preload_dlsym(handle, name);

	if (!found || hook_is_inside(table, caller))
		return found;
	return hook_swap(table, hook, found);
}

/* NULL: no wrapper can have that name. */
static const struct hook_table *table_of(const char *name)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		size_t length = strlen(tables[i]->prefix);

		if (!strncmp(name, tables[i]->prefix, length) &&
		    name[length] >= 'A' && name[length] <= 'Z')
			return preload_follows(tables[i]->api) ? tables[i]
							       : NULL;
	}
	return NULL;
}

extern __attribute__((visibility("default")))
dlsym_function wrap_dlsym __asm__("dlsym");

JUMPS void *wrap_dlsym(void *handle, const char *name)
{
	const struct hook_table *table =
		handle != RTLD_NEXT && name ? table_of(name) : NULL;
	int hook = table ? hook_named(table, name) : -1;

	if (hook >= 0)
		return look_up(handle, name, table, hook,
			       __builtin_return_address(0));
	JUMP get_real()(handle, name);
}
