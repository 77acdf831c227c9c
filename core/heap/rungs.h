/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What the two tables of the ladder share; see ladder.h. */
#ifndef GM_HEAP_RUNGS_H
#define GM_HEAP_RUNGS_H

#include "heap.h"

/* Which flags of an allocation leave a row out. */
enum {
	NEVER = 0,
	NO_WAIT = GPUMEM_ALLOC_NO_WAIT,
	NO_GROW = GPUMEM_ALLOC_NO_GROW
};

/* A row goes to the log, and which flags leave it out. */
void gm_rung_tell(const struct gm_heap *heap, const char *table,
		  unsigned number, const char *name, uint32_t left_out);

void gm_sources_tell(const struct gm_heap *heap);
void gm_helps_tell(const struct gm_heap *heap);

#endif
