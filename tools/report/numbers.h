/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Numbers for the scripts of a page: 7 bits a byte, low ones first, the high
 * bit set in all but the last, and that in base64. No locks.
 */
#ifndef GPUMEM_TOOLS_REPORT_NUMBERS_H
#define GPUMEM_TOOLS_REPORT_NUMBERS_H

#include <stdint.h>
#include <stdio.h>

/* {.out = FILE} begins. That it was written is looked at later. */
struct numbers {
	FILE *out;
	uint32_t three; /* bytes that are not written yet */
	unsigned waiting;
};

void numbers_put(struct numbers *numbers, uint64_t number);
/* How much more than before, or less, modulo 2^64: twice that, or twice less
 * one. */
void numbers_put_change(struct numbers *numbers, uint64_t before,
			uint64_t after);
void numbers_end(struct numbers *numbers);

#endif
