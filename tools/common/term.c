/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See term.h.
 */
#include "term.h"

#include "clean.h"
#include "tool.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL = 80, LEAST = 40 };

static int columns_of_environment(void)
{
	const char *text = getenv("COLUMNS");
	uint64_t columns;

	if (!text || !tool_parse_count(text, USHRT_MAX, &columns))
		return 0;
	return (int)columns;
}

int term_columns(void)
{
	struct winsize size = {0};
	int columns = 0;

	if (isatty(STDOUT_FILENO) != 1)
		return USUAL;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		columns = size.ws_col;
	if (!columns)
		columns = columns_of_environment();
	if (!columns)
		columns = USUAL;
	return columns < LEAST ? LEAST : columns;
}

static bool has_colours(void)
{
	const char *no = getenv("NO_COLOR"), *kind = getenv("TERM");

	return isatty(STDOUT_FILENO) == 1 && !(no && *no) && kind && *kind &&
	       strcmp(kind, "dumb");
}

void term_put(enum term_style style, const char *line)
{
	static const char *const codes[] = {
		[TERM_PLAIN] = "",   [TERM_TITLE] = "1", [TERM_GOOD] = "32",
		[TERM_BAD] = "1;31", [TERM_DIM] = "2",
	};

	if (style == TERM_PLAIN || !*line || !has_colours())
		fputs(line, stdout);
	else
		printf("\033[%sm%s\033[0m", codes[style], line);
}

void term_wrap(const char *line, int at, int indent)
{
	int edge = term_columns();
	bool begun = false;

	while (*line) {
		size_t blanks = strspn(line, " ");
		size_t bytes = strcspn(line + blanks, " ");
		int columns = (int)clean_columns(line + blanks, bytes);

		if (begun && at + (int)blanks + columns > edge) {
			printf("\n%*s", indent, "");
			at = indent;
			line += blanks;
			blanks = 0;
		}
		printf("%.*s", (int)(blanks + bytes), line);
		at += (int)blanks + columns;
		line += blanks + bytes;
		begun = true;
	}
	putchar('\n');
}

bool term_say(const char *format, ...)
{
	va_list args;
	char *line;

	va_start(args, format);
	line = clean_format(format, args);
	va_end(args);
	if (!line)
		return false;
	term_wrap(line, 0, 0);
	free(line);
	return true;
}
