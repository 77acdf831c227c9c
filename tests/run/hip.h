/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the files of the program hip share: calls of AMD's runtime, found in the
 * way that the program was told, and what it does with them. One thread, so no
 * lock.
 */
#ifndef GPUMEM_TESTS_RUN_HIP_H
#define GPUMEM_TESTS_RUN_HIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The way of the program's arguments. false: there is no runtime. */
bool open_runtime(const char *way, const char *release, uint64_t flags);
void *find(const char *name);
/* Says what a call answered, and what the runtime says of it then. */
int report(const char *name, int result);

#define CALL(name, types, ...)                                                 \
	report(#name, ((int(*) types)find(#name))__VA_ARGS__)

/* In hip_memory.c. */
void *alloc(size_t bytes);
void release(void *block);
void use_memory(void);
void use_host(void);
void use_async(void);
void use_virtual(void);
void use_plain(void);
void use_rows(void);
void use_streams(void);

#endif
