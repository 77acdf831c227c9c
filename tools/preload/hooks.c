/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See hooks.h.
 */
#include "hooks.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static bool is_named(const char *file, const char *begin)
{
	const char *slash = strrchr(file, '/');

	return !strncmp(slash ? slash + 1 : file, begin, strlen(begin));
}

/* ---- the library ------------------------------------------------------------
 */

/* Looks all of them up in one library. */
static void bind_to(const struct hook_table *table, void *library)
{
	for (int i = 0; i < table->count; i++) {
		struct hook *hook = &table->hooks[i];
		uintptr_t real = (uintptr_t)preload_dlsym(library, hook->name);

		if (real && real != hook->wrapper)
			atomic_store(&hook->real, real);
	}
	(void)dlerror(); /* the program has seen no error */
}

/* A library that is loaded already. The handle is kept: what has been handed
 * out must stay. */
static void bind_loaded(const struct hook_table *table, const char *file)
{
	void *library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);

	if (library)
		bind_to(table, library);
	else
		(void)dlerror();
}

struct search {
	const char *begin;
	int skip;	     /* of those that are named so */
	char path[PATH_MAX]; /* "": not found */
};

static int look_at(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct search *search = context;

	(void)bytes;
	if (!info->dlpi_name || !is_named(info->dlpi_name, search->begin) ||
	    search->skip--)
		return 0;
	snprintf(search->path, sizeof(search->path), "%s", info->dlpi_name);
	return 1;
}

bool hook_file_is_loaded(const char *begin)
{
	struct search search = {.begin = begin};

	return dl_iterate_phdr(look_at, &search);
}

void *hook_file_open(const char *begin, int index)
{
	struct search search = {.begin = begin, .skip = index};
	void *library = NULL;

	if (dl_iterate_phdr(look_at, &search))
		library = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		(void)dlerror(); /* the program has seen no error */
	return library;
}

/* By the name of its file: packages give it a version of their own, and some
 * another soname. */
static void bind_some(const struct hook_table *table)
{
	void *library = hook_file_open(table->file, 0);

	if (library)
		bind_to(table, library);
}

uintptr_t hook_real(const struct hook_table *table, int hook)
{
	uintptr_t real = atomic_load(&table->hooks[hook].real);

	if (!real) {
		if (table->soname)
			bind_loaded(table, table->soname);
		else
			bind_some(table);
		real = atomic_load(&table->hooks[hook].real);
	}
	return real ? real : table->absent;
}

static const char *file_of(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

bool hook_is_inside(const struct hook_table *table, const void *address)
{
	const char *file = file_of(address);

	return is_named(file, table->file) ||
	       (table->inside && is_named(file, table->inside));
}

/* ---- what a program gets ----------------------------------------------------
 */

int hook_named(const struct hook_table *table, const char *name)
{
	for (int i = 0; i < table->wrapped; i++)
		if (!strcmp(table->hooks[i].name, name))
			return i;
	return -1;
}

/* The program got a function of the library that has no wrapper, but the name
 * of one that has. */
static void unhooked(const struct hook_table *table, int hook)
{
	preload_note(table->api, LEDGER_UNHOOKED);
	if (hook < table->decisive)
		preload_stop(table->hooks[hook].name);
}

void *hook_swap(const struct hook_table *table, int hook, void *found)
{
	uintptr_t address = (uintptr_t)found;
	struct hook *hooks = table->hooks;

	if (address == hooks[hook].wrapper) {
		/* In the scope of all libraries ours comes first. */
		if (hook_real(table, hook) != table->absent)
			return found;
		return preload_dlsym(RTLD_NEXT, hooks[hook].name);
	}
	if (!atomic_load(&hooks[hook].real)) {
		const char *file = file_of(found);

		if (is_named(file, table->file))
			bind_loaded(table, file);
	}
	if (atomic_load(&hooks[hook].real) == address)
		return (void *)hooks[hook].wrapper;
	unhooked(table, hook);
	return found;
}

/* Whether the hook's name is that one with a suffix: _v2, _ptsz, _v2_ptsz. */
static bool has_base(const struct hook *hook, const char *base)
{
	size_t length = strlen(base);

	return !strncmp(hook->name, base, length) &&
	       (!hook->name[length] || hook->name[length] == '_');
}

void *hook_swap_base(const struct hook_table *table, const char *symbol,
		     void *found)
{
	struct hook *hooks = table->hooks;
	int known = -1;

	for (int i = 0; i < table->wrapped; i++) {
		if ((uintptr_t)found == hooks[i].wrapper ||
		    (uintptr_t)found == atomic_load(&hooks[i].real))
			return (void *)hooks[i].wrapper;
		if (known < 0 && symbol && has_base(&hooks[i], symbol))
			known = i;
	}
	if (known >= 0)
		unhooked(table, known);
	return found;
}
