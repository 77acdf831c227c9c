/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What the files of the API layer that have calls of blocks share: api.c and
 * api_block.c. */
#ifndef GM_API_BLOCK_H
#define GM_API_BLOCK_H

#include "api_check.h"
#include "pool/pool.h"

static inline bool gm_alignment_fits(size_t alignment)
{
	return alignment && !(alignment & (alignment - 1)) &&
	       alignment <= (size_t)1 << 30;
}

static inline gpumem_status gm_alignment_refused(size_t alignment)
{
	return gm_fail(GPUMEM_INVALID,
		       "alignment %zu is no power of two up to 1 GiB",
		       alignment);
}

#endif
