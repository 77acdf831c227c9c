/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The ladder in words, for the log; see ladder.h. */
#include "rungs.h"

void gm_ladder_tell(const struct gm_heap *heap)
{
	gm_sources_tell(heap);
	gm_helps_tell(heap);
}
