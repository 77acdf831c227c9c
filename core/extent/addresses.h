/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How many of the process's addresses pools take, before anybody needs them:
 * for their pages (pages/range.c) and for their bookkeeping (extent.c). All
 * together have a budget, a quarter of what a process has (47 bits) or may have
 * (RLIMIT_AS). What a request needs is taken beyond it.
 *
 *     the sum == what was told to gm_addresses_add()
 *
 * It is atomic, and only a hint: two that begin at one time may get the same
 * part.
 */
#ifndef GM_EXTENT_ADDRESSES_H
#define GM_EXTENT_ADDRESSES_H

#include <stdint.h>

/* RLIMIT_AS; UINT64_MAX: none. */
uint64_t gm_addresses_limit(void);
/* What the next may take at once; 0: the budget is used up. */
uint64_t gm_addresses_share(void);
void gm_addresses_add(uint64_t bytes);
void gm_addresses_sub(uint64_t bytes);

#endif
