/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Numbers as people read them. Each writes into the caller's buffer and gives
 * it back, so that calls fit into an argument list.
 */
#ifndef GPUMEM_TOOLS_HUMAN_H
#define GPUMEM_TOOLS_HUMAN_H

#include <stdint.h>

#define HUMAN_BYTES 32

/* "4 KiB", "1.5 GiB", "513 B": at most two decimals. */
const char *human_bytes(char buffer[HUMAN_BYTES], uint64_t bytes);

/* "12.3 ns", "4.51 us", "1.20 ms", "3.40 s". */
const char *human_ns(char buffer[HUMAN_BYTES], double ns);

#endif
