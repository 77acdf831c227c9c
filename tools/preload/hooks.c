/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which function of the driver has which wrapper. A wrapper is chosen by the
 * identity of the driver's function, not by the name under which it was asked
 * for: a name has several ABIs, and some mean another default stream.
 *
 * Nothing is locked: each address is found at most once more than needed, and
 * always the same.
 */
#include "cuda_hooks.h"
#include "preload.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

/* Addresses are numbers here: ISO C has no conversion between functions and
 * what dlsym() finds. */
struct hook {
	const char *name;
	uintptr_t wrapper;	/* 0: it is only called */
	_Atomic uintptr_t real; /* 0: not found yet */
};

static struct hook hooks[] = {
#define HOOK(name, type) {#name, (uintptr_t)wrap_##name, 0},
	CUDA_HOOKS(HOOK)
#undef HOOK
#define HOOK(name, type) {#name, 0, 0},
		CUDA_CALLS(HOOK)
#undef HOOK
};

static CUresult absent(void)
{
	return CUDA_ERROR_NOT_FOUND;
}

/* Looks all of them up in one library. */
static void bind_to(void *library)
{
	for (int i = 0; i < CUDA_HOOK_COUNT; i++) {
		uintptr_t real =
			(uintptr_t)preload_dlsym(library, hooks[i].name);

		if (real && real != hooks[i].wrapper)
			atomic_store(&hooks[i].real, real);
	}
	(void)dlerror(); /* the program has seen no error */
}

/* The driver that is loaded already, if one is. The handle is kept: what has
 * been handed out must stay. */
static void bind_loaded(const char *file)
{
	void *library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);

	if (library)
		bind_to(library);
	else
		(void)dlerror();
}

void (*cuda_real(enum cuda_hook hook))(void)
{
	uintptr_t real = atomic_load(&hooks[hook].real);

	if (!real) {
		bind_loaded("libcuda.so.1");
		real = atomic_load(&hooks[hook].real);
	}
	return real ? (void (*)(void))real : (void (*)(void))absent;
}

static const char *file_of(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

static bool is_named(const char *file, const char *begin)
{
	const char *slash = strrchr(file, '/');

	return !strncmp(slash ? slash + 1 : file, begin, strlen(begin));
}

bool cuda_hook_is_driver(const void *address)
{
	const char *file = file_of(address);

	return is_named(file, "libcuda.so") || is_named(file, "libnvidia-");
}

int cuda_hook_named(const char *name)
{
	for (int i = 0; i < CUDA_HOOK_COUNT && hooks[i].wrapper; i++)
		if (!strcmp(hooks[i].name, name))
			return i;
	return -1;
}

/* The program got a function of the driver that has no wrapper, but the name of
 * one that has. */
static void unhooked(int hook)
{
	preload_note(LEDGER_UNHOOKED);
	if (hook < CUDA_DECISIVE_COUNT)
		preload_stop(hooks[hook].name);
}

void *cuda_hook_swap(int hook, void *found)
{
	uintptr_t address = (uintptr_t)found;

	if (address == hooks[hook].wrapper) {
		/* In the scope of all libraries ours comes first. */
		if (cuda_real((enum cuda_hook)hook) != (void (*)(void))absent)
			return found;
		return preload_dlsym(RTLD_NEXT, hooks[hook].name);
	}
	if (!atomic_load(&hooks[hook].real)) {
		const char *file = file_of(found);

		if (is_named(file, "libcuda.so"))
			bind_loaded(file);
	}
	if (atomic_load(&hooks[hook].real) == address)
		return (void *)hooks[hook].wrapper;
	unhooked(hook);
	return found;
}

/* Whether the hook's name is that one with a suffix: _v2, _ptsz, _v2_ptsz. */
static bool has_base(const struct hook *hook, const char *base)
{
	size_t length = strlen(base);

	return !strncmp(hook->name, base, length) &&
	       (!hook->name[length] || hook->name[length] == '_');
}

void *cuda_hook_swap_base(const char *symbol, void *found)
{
	int known = -1;

	for (int i = 0; i < CUDA_HOOK_COUNT && hooks[i].wrapper; i++) {
		if ((uintptr_t)found == hooks[i].wrapper ||
		    (uintptr_t)found == atomic_load(&hooks[i].real))
			return (void *)hooks[i].wrapper;
		if (known < 0 && symbol && has_base(&hooks[i], symbol))
			known = i;
	}
	if (known >= 0)
		unhooked(known);
	return found;
}
