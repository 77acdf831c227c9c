/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How the programs of this folder find the case that an argument names. Not
 * what the cases do, nor what a program does before and after one. No state, so
 * no lock.
 */
#ifndef GPUMEM_TESTS_RUN_CASES_H
#define GPUMEM_TESTS_RUN_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct run_case {
	const char *name;
	void (*run)(void);
};

/* Runs the case of that name, which may be NULL. false: there is none. */
static inline bool run_case(const struct run_case *cases, size_t count,
			    const char *name)
{
	for (size_t i = 0; name && i < count; i++)
		if (!strcmp(cases[i].name, name)) {
			cases[i].run();
			return true;
		}
	return false;
}

#define RUN_CASE(cases, name)                                                  \
	run_case(cases, sizeof(cases) / sizeof(*(cases)), name)

#endif
