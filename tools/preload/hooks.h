/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which function of a library of GPUs has which wrapper: a table for each such
 * library. A wrapper is chosen by the identity of the library's function, not
 * by the name under which it was asked for: a name may have several ABIs, and
 * some mean another default stream.
 *
 * Nothing is locked: each address is found at most once more than needed, and
 * always the same.
 */
#ifndef GPUMEM_PRELOAD_HOOKS_H
#define GPUMEM_PRELOAD_HOOKS_H

#include "preload.h"

/* Addresses are numbers here: ISO C has no conversion between functions and
 * what dlsym() finds. */
struct hook {
	const char *name;
	uintptr_t wrapper;	/* 0: it is only called */
	_Atomic uintptr_t real; /* 0: not found yet */
};

struct hook_table {
	struct hook *hooks; /* those with wrappers first */
	int count, wrapped;
	int decisive; /* of the first ones: without them nothing is kept */
	enum ledger_api api;
	const char *prefix; /* of their names; a capital letter follows */
	const char *file;   /* how the name of the library's file begins */
	const char *soname; /* what it is opened as; NULL: whatever is there */
	const char *inside; /* another file of it; NULL: there is none */
	uintptr_t absent;   /* what is called in place of what it has not */
};

/* The library's own function, or `absent`. */
uintptr_t hook_real(const struct hook_table *table, int hook);

/* Which hook has a wrapper of that exported name; -1: none. */
int hook_named(const struct hook_table *table, const char *name);
/* What a program is to get that looked up a hook's name and found this. */
void *hook_swap(const struct hook_table *table, int hook, void *found);
/* The same of what the library's own look-up found for a name that may lack a
 * suffix. */
void *hook_swap_base(const struct hook_table *table, const char *symbol,
		     void *found);
/* Whether a file is loaded whose name begins so. Not with the mutex: a library
 * that is being loaded may call a wrapper. */
bool hook_file_is_loaded(const char *begin);
/* The handle of the index-th such file; NULL: there are fewer. */
void *hook_file_open(const char *begin, int index);
/* Whether an address lies in the library. */
bool hook_is_inside(const struct hook_table *table, const void *address);

extern const struct hook_table cuda_hooks, hip_hooks;

#endif
