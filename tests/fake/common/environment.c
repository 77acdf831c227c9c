/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Reads the variables that configure a double.
 */
#include "environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fake_parse_amount(const char *text, uint64_t *amount_out)
{
	static const struct {
		const char *name;
		uint64_t factor;
	} units[] = {
		{"", 1},
		{"KiB", 1ull << 10},
		{"MiB", 1ull << 20},
		{"GiB", 1ull << 30},
		{"TiB", 1ull << 40},
		{"ns", 1},
		{"us", 1000},
		{"ms", 1000000},
		{"s", 1000000000},
	};
	char *end;
	unsigned long long number = strtoull(text, &end, 10);

	if (end == text)
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].name))
			continue;
		*amount_out = number * units[i].factor;
		return true;
	}
	return false;
}

uint64_t fake_amount(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);
	uint64_t value;

	return text && fake_parse_amount(text, &value) ? value : otherwise;
}

void fake_each(const char *variable, bool (*take)(char *piece))
{
	const char *text = getenv(variable);
	char copy[1024], shown[256], *save = NULL;

	if (!text)
		return;
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *piece = strtok_r(copy, ",", &save); piece;
	     piece = strtok_r(NULL, ",", &save)) {
		snprintf(shown, sizeof(shown), "%s", piece);
		if (take(piece))
			continue;
		fprintf(stderr, "%s: \"%s\" makes no sense\n", variable, shown);
		abort();
	}
}
