/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A block of the soak test, its bytes, and the way from one thread to another.
 * Only the thread that holds a block touches its struct.
 */
#ifndef SOAK_BLOCK_H
#define SOAK_BLOCK_H

#include "soak.h"

struct block {
	unsigned char *ptr;
	uint64_t bytes;
	gpumem_stream stream;
	bool shared; /* its stream is one that no thread destroys */
	bool filled;
	uint8_t value;
};

/* Both ends of it become `value`, on its stream. */
void block_fill(struct block *block, uint8_t value);
/* Work on its stream looks whether they still are. */
void block_look(const struct block *block);
/* Leaves it for whoever comes next; who comes when there is one may get it
 * instead, and ends it. Its ptr is NULL: none. */
struct block block_trade(struct random *random, const struct block *block);

#endif
