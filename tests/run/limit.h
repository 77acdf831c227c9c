/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the files of the program limit share: the limit it runs under, what the
 * double of NVIDIA's driver has given, and the cases of each.
 */
#ifndef GPUMEM_TESTS_RUN_LIMIT_H
#define GPUMEM_TESTS_RUN_LIMIT_H

#include "pool.h"

enum { NO_MEMORY = 2, INVALID = 1 };

#define LIMIT (64 * MIB)

extern void *context;

/* What the double has given, on all devices. */
uint64_t given(void);
/* The program is told that so much is free, of the limit. */
void see(size_t free_bytes);

/* In limit_calls.c: what calls of one thread meet. */
void kinds(void);
void pools(void);
void failures(void);
void kept(void);
void retained(void);
void devices(void);

/* In limit_threads.c: threads that allocate and free at once. */
void churning(void);
void threads(void);

#endif
