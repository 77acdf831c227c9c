/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Text from outside: nothing but one line of printable UTF-8 comes through, and
 * neither a character nor an escape is ever cut. */
#include "base/line.h"
#include "../../tap.h"
#include <unistd.h>

static const char *copied(const char *from)
{
	static char to[256];

	memset(to, 'z', sizeof(to));
	gm_line_copy(to, sizeof(to), from);
	return to;
}

static void test_rule(void)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{"", ""},
		{"NVIDIA H200 (139 GiB)", "NVIDIA H200 (139 GiB)"},
		{"C:\\new \\x1b", "C:\\new \\x1b"},
		{"\033[31mred\033]0;title\007",
		 "\\x1b[31mred\\x1b]0;title\\x07"},
		{"del\177 bell\a back\b\b",
		 "del\\x7f bell\\x07 back\\x08\\x08"},
		{"two\nlines\r\n", "two lines"},
		{"a\tb\vc\fd  ", "a b c d"},
		{"\n\r\t", ""},
		/* Two, three and four bytes. */
		{"M\303\274ller \342\202\254 \360\237\230\200",
		 "M\303\274ller \342\202\254 \360\237\230\200"},
		{"\302\240\337\277\340\240\200\357\277\275",
		 "\302\240\337\277\340\240\200\357\277\275"},
		/* C1: 8-bit CSI, alone and in UTF-8. */
		{"\23331m", "\\x9b31m"},
		{"\302\23331m\302\205", "\\xc2\\x9b31m\\xc2\\x85"},
		/* What is no UTF-8: alone, cut, too long, a surrogate, beyond.
		 */
		{"\200 \377", "\\x80 \\xff"},
		{"\303", "\\xc3"},
		{"\342\202", "\\xe2\\x82"},
		{"\360\237\230z", "\\xf0\\x9f\\x98z"},
		{"\300\257 \301\277", "\\xc0\\xaf \\xc1\\xbf"},
		{"\340\237\277", "\\xe0\\x9f\\xbf"},
		{"\360\217\277\277", "\\xf0\\x8f\\xbf\\xbf"},
		{"\355\240\200", "\\xed\\xa0\\x80"},
		{"\364\220\200\200", "\\xf4\\x90\\x80\\x80"},
		{"\365\200\200\200", "\\xf5\\x80\\x80\\x80"},
		/* Reversal and isolates, separators, the byte order mark. */
		{"a\342\200\256b", "a\\xe2\\x80\\xaeb"},
		{"a\342\201\246b", "a\\xe2\\x81\\xa6b"},
		{"a\342\200\250b", "a\\xe2\\x80\\xa8b"},
		{"\330\234\342\200\216", "\\xd8\\x9c\\xe2\\x80\\x8e"},
		{"\357\273\277x", "\\xef\\xbb\\xbfx"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char once[256];

		is_str(copied(cases[i].from), cases[i].to, "case %zu", i);
		snprintf(once, sizeof(once), "%s", cases[i].to);
		is_str(copied(once), cases[i].to, "and copied again");
	}
}

static void test_every_byte(void)
{
	int bad = 0;

	for (int byte = 1; byte < 256; byte++) {
		char text[2] = {(char)byte, '\0'};

		for (const char *c = copied(text); *c; c++)
			bad += *c < ' ' || *c > '~';
	}
	is_int(bad, 0, "a byte alone gives printable ASCII, whatever it is");
}

/* Each room, from one byte on: what fits is a beginning of the whole, and no
 * character is cut. */
static void test_room(void)
{
	static const char from[] = "ab\033cd\342\202\254e";
	static const char *const want[] = {
		"",
		"a",
		"ab",
		"ab",
		"ab",
		"ab",
		"ab\\x1b",
		"ab\\x1bc",
		"ab\\x1bcd",
		"ab\\x1bcd",
		"ab\\x1bcd",
		"ab\\x1bcd\342\202\254",
	};

	for (size_t room = 1; room <= sizeof(want) / sizeof(*want); room++) {
		char to[16];

		memset(to, 'z', sizeof(to));
		gm_line_copy(to, room, from);
		is_str(to, want[room - 1], "room for %zu bytes", room);
		is_int(to[room], 'z', "and nothing behind it");
	}
}

int main(void)
{
	alarm(60);
	test_rule();
	test_every_byte();
	test_room();
	return done_testing();
}
