/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What --limit said: bytes, or a part of each device's memory, which becomes
 * bytes where the device is known. Not what is used of it. Needs no lock.
 */
#ifndef GPUMEM_PRELOAD_LIMIT_VALUE_H
#define GPUMEM_PRELOAD_LIMIT_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define LIMIT_WHOLE 1000000000 /* billionths */
#define LIMIT_PART 'n'	       /* behind their number in LIMIT_VARIABLE */

/* One of them is 0; both: there is no limit. */
struct limit_value {
	uint64_t bytes, billionths;
};

/* LIMIT_VARIABLE's, or NULL. */
static inline struct limit_value limit_value_read(const char *text)
{
	struct limit_value value = {0, 0};
	char *end;
	uint64_t number = text ? strtoull(text, &end, 10) : 0;

	if (text && *end == LIMIT_PART)
		value.billionths = number;
	else
		value.bytes = number;
	return value;
}

static inline bool limit_value_is(struct limit_value value)
{
	return value.bytes || value.billionths;
}

/* Of a device of that size, 0 if that is not known: then a part is no limit.
 * Never 0. There is a limit. */
static inline uint64_t limit_value_of(struct limit_value value, uint64_t total)
{
	uint64_t bytes;

	if (value.bytes)
		return value.bytes;
	if (!total)
		return UINT64_MAX;
	bytes = total / LIMIT_WHOLE * value.billionths +
		total % LIMIT_WHOLE * value.billionths / LIMIT_WHOLE;
	return bytes ? bytes : 1;
}

#endif
