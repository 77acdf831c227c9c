/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See clean.h. Pure, and independent of the locale.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* vasprintf */
#endif
#include "clean.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* C1 controls, marks that turn the direction of the text, line and paragraph
 * separators, and the byte order mark. */
static bool is_control(uint32_t code)
{
	return code < 0xa0 || code == 0x061c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

/* The bytes of the printable character that the text begins with; 0: it begins
 * with none. */
static size_t printable(const char *text)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t code = (unsigned char)text[0];
	size_t length;

	if (code < 0x80)
		return code >= 0x20 && code != 0x7f;
	if (code < 0xc2 || code > 0xf4)
		return 0;
	length = code < 0xe0 ? 2 : (code < 0xf0 ? 3 : 4);
	code &= 0x7fu >> length;
	for (size_t i = 1; i < length; i++) {
		unsigned char next = (unsigned char)text[i];

		if ((next & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (next & 0x3fu);
	}
	if (code < least[length] || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff) || is_control(code))
		return 0;
	return length;
}

char *clean_copy(const char *from)
{
	char *line = malloc(4 * strlen(from) + 1), *at = line;

	if (!line)
		return NULL;
	while (*from) {
		size_t length = printable(from);

		if (length)
			at = mempcpy(at, from, length);
		else if (is_blank(*from))
			*at++ = ' ';
		else
			at += sprintf(at, "\\x%02x", (unsigned char)*from);
		from += length ? length : 1;
	}
	*at = '\0';
	return line;
}

char *clean_format(const char *format, va_list args)
{
	char *raw, *line;

	if (vasprintf(&raw, format, args) < 0)
		return NULL;
	line = clean_copy(raw);
	free(raw);
	return line;
}

size_t clean_columns(const char *line, size_t bytes)
{
	size_t columns = 0;

	for (size_t i = 0; i < bytes; i++)
		columns += ((unsigned char)line[i] & 0xc0) != 0x80;
	return columns;
}
