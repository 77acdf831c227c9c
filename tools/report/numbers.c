/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See numbers.h.
 */
#include "numbers.h"

static void put_three(struct numbers *numbers, unsigned bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";

	for (unsigned i = 0; i < 4; i++)
		putc(i <= bytes ? digits[numbers->three >> (18 - 6 * i) & 63]
				: '=',
		     numbers->out);
	numbers->three = 0;
	numbers->waiting = 0;
}

static void put_byte(struct numbers *numbers, unsigned byte)
{
	numbers->three |= byte << (16 - 8 * numbers->waiting);
	if (++numbers->waiting == 3)
		put_three(numbers, 3);
}

void numbers_put(struct numbers *numbers, uint64_t number)
{
	for (; number > 127; number >>= 7)
		put_byte(numbers, 128 | (number & 127));
	put_byte(numbers, (unsigned)number);
}

void numbers_put_change(struct numbers *numbers, uint64_t before,
			uint64_t after)
{
	numbers_put(numbers, after >= before ? (after - before) * 2
					     : (before - after) * 2 - 1);
}

void numbers_end(struct numbers *numbers)
{
	if (numbers->waiting)
		put_three(numbers, numbers->waiting);
}
