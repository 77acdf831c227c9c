/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See human.h. Pure.
 */
#include "human.h"

#include <stdio.h>
#include <string.h>

/* "1.50" -> "1.5", "4.00" -> "4". */
static void strip_zeros(char *number)
{
	size_t length = strlen(number);

	if (!strchr(number, '.'))
		return;
	while (number[length - 1] == '0')
		number[--length] = '\0';
	if (number[length - 1] == '.')
		number[length - 1] = '\0';
}

const char *human_bytes(char buffer[HUMAN_BYTES], uint64_t bytes)
{
	static const char *const units[] = {"B",   "KiB", "MiB", "GiB",
					    "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	char number[24];
	int unit = 0;

	/* 1023.995 would be shown as 1024. */
	while (value >= (unit ? 1023.995 : 1024.0) && unit < 6) {
		value /= 1024.0;
		unit++;
	}
	snprintf(number, sizeof(number), "%.*f", unit ? 2 : 0, value);
	strip_zeros(number);
	snprintf(buffer, HUMAN_BYTES, "%s %s", number, units[unit]);
	return buffer;
}

const char *human_ns(char buffer[HUMAN_BYTES], double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	int unit = 0;

	while (ns >= 999.5 && unit < 3) {
		ns /= 1000.0;
		unit++;
	}
	snprintf(buffer, HUMAN_BYTES, "%.*f %s",
		 ns >= 99.95 ? 0 : (ns >= 9.995 ? 1 : 2), ns, units[unit]);
	return buffer;
}
