/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What all programs of this folder have in common: calls of the library that
 * must succeed, and a clock. Nothing of a vendor's.
 */
#ifndef GPUMEM_TESTS_DEVICE_MUST_H
#define GPUMEM_TESTS_DEVICE_MUST_H

#include "../tap.h"
#include <gpumem/gpumem.h>
#include <time.h>

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

static inline void check_must(gpumem_status status, const char *what)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	if (status == GPUMEM_OK)
		return;
	gpumem_last_error(&error);
	bail("%s: %s", what, error.text);
}

#define must(call) check_must(call, #call)

static inline double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

#endif
