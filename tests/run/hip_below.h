/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the files of the runtime hip_below share: its blocks, the device that is
 * current, and the last error. Of it below_used() and the like are exported
 * (hip_below.map). The mutex is in hip_below.c, where each function takes it.
 */
#ifndef GPUMEM_TESTS_RUN_HIP_BELOW_H
#define GPUMEM_TESTS_RUN_HIP_BELOW_H

#include <stddef.h>

#define DEVICES 2
#define TOTAL ((size_t)1 << 30)

enum { OK, INVALID = 1, NO_MEMORY = 2, NOT_FOUND = 500 };
enum kind { NOTHING, DEVICE, HOST, REGISTERED, HANDLE };

extern __thread int current;

/* The end of each function of the runtime: its result is the last error. */
int leave(int result);
/* The last error, which is forgotten. */
int take_last(void);
/* As hipRuntimeGetVersion() says it. */
int below_version(void);

int take(void **out, size_t bytes, int device, enum kind kind);
int give(void *address, enum kind kind);
/* So many bytes of a device are no block's; less, if it is negative. */
int charge(int device, long bytes);
/* Memory of the caller's is a block of the current device, REGISTERED. */
void know(void *address, size_t bytes);
/* A handle has so many more users; without any it ends. */
int refer(void *handle, int change);
/* What a device has of DEVICE ends. */
void end_all(int device);
size_t below_used(int device);

#endif
