/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the state keeps for whole.h. The mutex of the state guards it.
 */
#ifndef GPUMEM_PRELOAD_WHOLES_H
#define GPUMEM_PRELOAD_WHOLES_H

#include <cuda.h>
#include <stdbool.h>

#define WHOLE_KINDS 16

/* Wholes of one kind can stand for each other, if they are of one size. */
struct whole_kind {
	CUmemAllocationProp prop;
	size_t alignment;
	bool aligned; /* `alignment` is known */
};

/* Wholes are kept <=> learned && !off */
struct wholes {
	struct whole_kind kinds[WHOLE_KINDS];
	unsigned kind_count;
	bool learned; /* the program took one apart to the end */
	bool off;     /* and does otherwise too */
};

#endif
