/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Host memory that a device may still write to, because waiting for the copy
 * into it failed: it must not be used for anything else until the program
 * ends. Any thread may call this.
 */
#ifndef GPUMEM_TOOLS_KEEP_H
#define GPUMEM_TOOLS_KEEP_H

#include <stdbool.h>

/* Frees memory of malloc(), or, when a copy into it may still be running, puts
 * it where it stays. */
void keep_or_free(void *ptr, bool keep);

#endif
