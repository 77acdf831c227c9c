/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See line.h. Pure: no state, and no locale, since a library must not depend on
 * the one that its program has set.
 */
#include "line.h"
#include <stdbool.h>
#include <stdint.h>
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
	size_t length, i;

	if (code < 0x80)
		return code >= 0x20 && code != 0x7f;
	if (code < 0xc2 || code > 0xf4)
		return 0;
	length = code < 0xe0 ? 2 : (code < 0xf0 ? 3 : 4);
	code &= 0x7fu >> length;
	for (i = 1; i < length; i++) {
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

static void escape(char to[4], char c)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char byte = (unsigned char)c;

	to[0] = '\\';
	to[1] = 'x';
	to[2] = digits[byte >> 4];
	to[3] = digits[byte & 15];
}

void gm_line_copy(char *to, size_t room, const char *from)
{
	size_t used = 0, end = 0;

	while (*from) {
		size_t length = printable(from);
		size_t takes = length ? length : is_blank(*from) ? 1 : 4;

		if (used + takes >= room)
			break;
		if (length)
			memcpy(to + used, from, length);
		else if (takes == 1)
			to[used] = ' ';
		else
			escape(to + used, *from);
		used += takes;
		if (to[used - 1] != ' ')
			end = used;
		from += length ? length : 1;
	}
	to[end] = '\0';
}
