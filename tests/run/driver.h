/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the files of the program driver share: calls of NVIDIA's driver, found
 * in the way that the program was told, and what it does with them. One thread,
 * so no lock.
 */
#ifndef GPUMEM_TESTS_RUN_DRIVER_H
#define GPUMEM_TESTS_RUN_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

typedef unsigned long long address;

/* The way of the program's arguments. false: there is no driver. */
bool open_driver(const char *way, int flags);
void *find(const char *name);
/* Says which call failed. */
void report(const char *name, int result);

#define CALL(name, types, ...)                                                 \
	report(#name, ((int(*) types)find(#name))__VA_ARGS__)

address alloc(size_t bytes);
void release(address block);

/* In driver_memory.c: addresses of a new handle, which lives until they are
 * unmapped; and memory of each kind. */
address map_handle(size_t bytes);
void use_all(void);

#endif
