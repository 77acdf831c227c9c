/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of memory that passes from stream to stream share: the arena
 * that gets it. Beside fixture.h. One thread, so no lock.
 */
#ifndef HEAP_TRANSFER_H
#define HEAP_TRANSFER_H

#include "fixture.h"

static struct gm_arena *receiver;

/* The receiver exists before the others, or after them. */
HEAP_USE void restart(void)
{
	if (receiver)
		heap_end();
	heap_start();
	receiver = arena_of(NULL);
}

#endif
