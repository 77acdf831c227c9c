/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * dlsym(), for programs that open the driver themselves, as the CUDA runtime
 * does. The real one looks at its return address to know for whom RTLD_NEXT and
 * RTLD_DEFAULT are, so it is jumped to, never called: a call would make this
 * library the asker, and whoever asks for the next function would get his own.
 */
#include "cuda_hooks.h"
#include "preload.h"

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

/* The versions under which the platforms of glibc have it. dlsym() itself may
 * not be asked: that is us. */
static dlsym_function *find_real(void)
{
	static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5",
					       "GLIBC_2.17", "GLIBC_2.27",
					       "GLIBC_2.36", "GLIBC_2.0"};
	dlsym_function *real;
	void *found = NULL;

	for (size_t i = 0; !found && i < sizeof(versions) / sizeof(*versions);
	     i++)
		found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	memcpy(&real, &found, sizeof(real)); /* ISO C has no cast for it */
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

static __attribute__((noinline)) void *look_up(void *handle, const char *name,
					       int hook, const void *caller)
{
	void *found = preload_dlsym(handle, name);

	if (!found || cuda_hook_is_driver(caller))
		return found;
	return cuda_hook_swap(hook, found);
}

static bool may_be_hooked(void *handle, const char *name)
{
	return handle != RTLD_NEXT && name && name[0] == 'c' &&
	       name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z' &&
	       preload_active();
}

extern __attribute__((visibility("default")))
dlsym_function wrap_dlsym __asm__("dlsym");

JUMPS void *wrap_dlsym(void *handle, const char *name)
{
	int hook = may_be_hooked(handle, name) ? cuda_hook_named(name) : -1;

	if (hook >= 0)
		return look_up(handle, name, hook, __builtin_return_address(0));
	JUMP get_real()(handle, name);
}
