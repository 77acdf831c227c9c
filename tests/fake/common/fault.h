/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which call of a double is to fail, and how often each function was called.
 * Calls are numbered as the double's table has them.
 */
#ifndef GPUMEM_TESTS_FAKE_FAULT_H
#define GPUMEM_TESTS_FAKE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

struct fake_function {
	const char *name;
	uint64_t calls;
};

/* Of the double: all its functions, and then one without a name. */
extern struct fake_function fake_functions[];

/* A function by its name, with or without its _vN. -1: there is none. */
int fake_call_named(const char *name);

/* These take the mutex. The nth call of `name` from now on, and with `onwards`
 * all later ones, return `code`. False: no such function, the 0th call, the
 * code of success, or too many rules. */
bool fake_fault_add(const char *name, unsigned nth, bool onwards, int code);
/* Forgets the rules. */
void fake_fault_heal(void);
/* How often a function was called; NULL: all together. */
uint64_t fake_fault_calls(const char *name);

/* These are called with the mutex. NAME:NTH[+]:CODE,... of a variable. */
void fake_fault_configure(const char *variable);
/* Counts the call. What it is to return at once; 0: it may do its work. */
int fake_fault_next(int call);

#endif
