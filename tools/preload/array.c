/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See array.h.
 */
#include "array.h"

uint64_t array_channel_bytes(int format)
{
	switch (format) {
	case 0x01: /* unsigned and signed of 8 bits */
	case 0x08:
		return 1;
	case 0x02: /* of 16 bits, and half */
	case 0x09:
	case 0x10:
		return 2;
	case 0x03: /* of 32 bits, and float */
	case 0x0a:
	case 0x20:
		return 4;
	default:
		return 0;
	}
}

static uint64_t extent(uint64_t elements, unsigned level)
{
	return elements >> level ? elements >> level : 1;
}

static uint64_t product(uint64_t a, uint64_t b)
{
	uint64_t bytes;

	return __builtin_mul_overflow(a, b, &bytes) ? UINT64_MAX : bytes;
}

static uint64_t level_bytes(const struct array *array, unsigned level)
{
	uint64_t bytes =
		product(array->element_bytes, extent(array->width, level));

	bytes = product(bytes, extent(array->height, level));
	return product(bytes, extent(array->depth, array->layered ? 0 : level));
}

/* There are no more levels than halve it to a single element. */
uint64_t array_bytes(const struct array *array)
{
	uint64_t largest = array->width | array->height |
			   (array->layered ? 0 : array->depth);
	uint64_t bytes = level_bytes(array, 0);

	for (unsigned i = 1; i < array->levels && i < 64 && largest >> i; i++)
		if (__builtin_add_overflow(bytes, level_bytes(array, i),
					   &bytes))
			bytes = UINT64_MAX;
	return bytes;
}
