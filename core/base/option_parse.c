/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Texts to values and back to what is wrong with them. Pure: no state, no
 * locale (a program may have set one where 1.5 is written 1,5).
 */
#include "option_table.h"
#include "name.h"
#include <string.h>
#include <strings.h>

/* whole + part / scale; part < scale */
struct decimal {
	uint64_t whole, part, scale;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool append_digit(uint64_t *number, char c)
{
	return !__builtin_mul_overflow(*number, 10u, number) &&
	       !__builtin_add_overflow(*number, (uint64_t)(c - '0'), number);
}

/* Digits, and perhaps a point and at most six more: then part and unit of any
 * quantity here multiply within 64 bits. Gives what follows, or NULL. */
static const char *parse_decimal(const char *at, struct decimal *decimal)
{
	*decimal = (struct decimal){.scale = 1};
	if (!is_digit(*at))
		return NULL;
	for (; is_digit(*at); at++)
		if (!append_digit(&decimal->whole, *at))
			return NULL;
	if (*at != '.')
		return at;
	if (!is_digit(*++at))
		return NULL;
	for (; is_digit(*at); at++) {
		decimal->scale *= 10;
		if (decimal->scale > 1000000)
			return NULL;
		append_digit(&decimal->part, *at);
	}
	return at;
}

/* The factor of a unit, which may stand after a blank; 0: it is none. Memory is
 * counted in powers of 1024, however the unit is written: see decision 22. */
static uint64_t unit_bytes(const char *text)
{
	static const char *const endings[] = {"", "B", "i", "iB"};
	static const char letters[] = "KMGT";
	const char *letter;
	size_t i;

	if (*text == ' ' && text[1])
		text++;
	if (!*text || strcasecmp(text, "B") == 0)
		return 1;
	letter = strchr(letters, *text & ~0x20);
	if (!letter || !*letter)
		return 0;
	for (i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (strcasecmp(text + 1, endings[i]) == 0)
			return UINT64_C(1024) << (10 * (letter - letters));
	return 0;
}

bool gm_parse_bytes(const char *text, uint64_t *bytes_out)
{
	struct decimal decimal;
	uint64_t unit, bytes;

	text = parse_decimal(text, &decimal);
	if (!text)
		return false;
	unit = unit_bytes(text);
	if (!unit || (unit == 1 && decimal.scale > 1))
		return false;
	if (__builtin_mul_overflow(decimal.whole, unit, &bytes) ||
	    __builtin_add_overflow(bytes, decimal.part * unit / decimal.scale,
				   &bytes))
		return false;
	*bytes_out = bytes;
	return true;
}

bool gm_parse_memory(const char *text, uint64_t total_bytes,
		     uint64_t *bytes_out)
{
	size_t length = strlen(text);
	double fraction, bytes;

	if (!length || text[length - 1] != '%')
		return gm_parse_bytes(text, bytes_out);
	if (!gm_parse_percent(text, &fraction) || fraction <= 0 || fraction > 1)
		return false;
	/* Never 0, which would be no limit at all. */
	bytes = (double)total_bytes * fraction;
	*bytes_out = bytes < 1 ? 1 : (uint64_t)bytes;
	return true;
}

bool gm_parse_count(const char *text, uint64_t *count_out)
{
	struct decimal decimal;

	text = parse_decimal(text, &decimal);
	if (!text || *text || decimal.scale > 1)
		return false;
	*count_out = decimal.whole;
	return true;
}

bool gm_parse_percent(const char *text, double *fraction_out)
{
	struct decimal decimal;

	text = parse_decimal(text, &decimal);
	if (!text || decimal.whole > 10000)
		return false;
	if (strcmp(text, "%") == 0 || strcmp(text, " %") == 0)
		text = "";
	if (*text)
		return false;
	*fraction_out = ((double)decimal.whole +
			 (double)decimal.part / (double)decimal.scale) /
			100.0;
	return true;
}

bool gm_parse_bool(const char *text, bool *value_out)
{
	static const char *const words[2][4] = {{"off", "no", "false", "0"},
						{"on", "yes", "true", "1"}};
	size_t value, word;

	for (value = 0; value < 2; value++) {
		for (word = 0; word < 4; word++) {
			if (strcasecmp(text, words[value][word]) != 0)
				continue;
			*value_out = value == 1;
			return true;
		}
	}
	return false;
}

static const char *text_fault(const struct gpumem_option_row *row,
			      const char *text)
{
	gpumem_log_level level;

	/* The one option of the core whose text is of a list. */
	if (strcmp(row->key, "log") == 0 && !gm_log_level_parse(text, &level))
		return "is not none, error, warn, info or debug";
	return NULL;
}

const char *gm_option_fault(const struct gpumem_option_row *row,
			    const char *text)
{
	uint64_t number;
	double fraction;
	bool flag;

	if (strlen(text) >= GM_OPTION_VALUE_BYTES)
		return "is too long";
	switch (row->kind) {
	case GPUMEM_OPTION_TEXT:
		return text_fault(row, text);
	case GPUMEM_OPTION_BOOL:
		return gm_parse_bool(text, &flag) ? NULL : "is not on or off";
	case GPUMEM_OPTION_COUNT:
		return gm_parse_count(text, &number) ? NULL
						     : "is no whole number";
	case GPUMEM_OPTION_BYTES:
		return gm_parse_bytes(text, &number)
			       ? NULL
			       : "is no size such as 4096, 64KiB or 1.5GiB";
	case GPUMEM_OPTION_MEMORY:
		return gm_parse_memory(text, 0, &number)
			       ? NULL
			       : "is no size such as 4096, 64KiB or 1.5GiB, "
				 "nor a part of the device's memory such as "
				 "80%";
	case GPUMEM_OPTION_PERCENT:
		return gm_parse_percent(text, &fraction)
			       ? NULL
			       : "is no percentage such as 2% or 0.5%";
	}
	return "cannot be checked: the option is of an unknown kind";
}

/* Levenshtein's distance, one line of the table at a time. */
unsigned gm_option_distance(const char *left, const char *right)
{
	unsigned line[GM_OPTION_KEY_BYTES + 1];
	size_t columns = strnlen(right, GM_OPTION_KEY_BYTES), i, j;

	for (j = 0; j <= columns; j++)
		line[j] = (unsigned)j;
	for (i = 0; left[i]; i++) {
		unsigned diagonal = line[0]++;

		for (j = 0; j < columns; j++) {
			unsigned best = diagonal + (left[i] != right[j]);

			diagonal = line[j + 1];
			best = best < line[j] + 1 ? best : line[j] + 1;
			line[j + 1] = best < diagonal + 1 ? best : diagonal + 1;
		}
	}
	return line[columns];
}
