/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See print.h. */
#include "print.h"
#include "line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void flush(struct gm_print *print)
{
	print->buffer[print->used] = '\0';
	if (print->used)
		print->write(print->buffer, print->user);
	print->used = 0;
}

/* A text that is longer than the buffer goes in pieces. */
static void add(struct gm_print *print, const char *text)
{
	size_t length = strlen(text), most = sizeof(print->buffer) - 1;

	if (print->used + length > most)
		flush(print);
	for (; length > most; length -= most, text += most) {
		memcpy(print->buffer, text, most);
		print->used = most;
		flush(print);
	}
	memcpy(print->buffer + print->used, text, length);
	print->used += length;
}

static void add_line_end(struct gm_print *print)
{
	add(print, "\n");
	flush(print);
}

/* What has to stand before a member, and its key. */
static void add_key(struct gm_print *print, const char *key)
{
	if (print->json) {
		add(print, print->first ? "" : ", ");
		if (key) {
			add(print, "\"");
			add(print, key);
			add(print, "\": ");
		}
	} else if (print->inside) {
		add(print, print->first ? " " : ", ");
		add(print, key);
	} else {
		for (unsigned i = 1; i < print->depth; i++)
			add(print, "  ");
		add(print, key);
		add(print, ":");
	}
	print->first = false;
}

static void add_value(struct gm_print *print, const char *value)
{
	if (!print->json)
		add(print, " ");
	add(print, value);
}

static void end_member(struct gm_print *print)
{
	if (!print->json && !print->inside)
		add_line_end(print);
}

void gm_print_begin(struct gm_print *print, bool json,
		    void (*write)(const char *text, void *user), void *user)
{
	*print = (struct gm_print){.write = write,
				   .user = user,
				   .json = json,
				   .first = true,
				   .depth = 1};
	if (json)
		add(print, "{");
}

void gm_print_end(struct gm_print *print)
{
	if (print->json) {
		add(print, "}");
		add_line_end(print);
	}
	flush(print);
}

void gm_print_open(struct gm_print *print, const char *key, bool row)
{
	add_key(print, key);
	if (print->json)
		add(print, "{");
	else if (!row)
		add_line_end(print);
	print->inside = row;
	print->first = true;
	print->depth++;
}

void gm_print_close(struct gm_print *print)
{
	if (print->json)
		add(print, "}");
	else if (print->inside)
		add_line_end(print);
	print->inside = false;
	print->first = false;
	print->depth--;
}

void gm_print_list(struct gm_print *print, const char *key)
{
	add_key(print, key);
	add(print, "[");
	print->first = true;
}

void gm_print_list_end(struct gm_print *print)
{
	add(print, "]");
	print->first = false;
}

/* A line of gm_line_copy() has no control characters. */
static void add_quoted(struct gm_print *print, const char *line)
{
	for (; *line; line++) {
		char one[3] = {'\\', *line, '\0'};

		add(print, *line == '"' || *line == '\\' ? one : one + 1);
	}
}

void gm_print_text(struct gm_print *print, const char *key, const char *text)
{
	char line[GM_PRINT_TEXT_BYTES];

	gm_line_copy(line, sizeof(line), text);
	add_key(print, key);
	if (print->json) {
		add(print, "\"");
		add_quoted(print, line);
		add(print, "\"");
	} else {
		add_value(print, line);
	}
	end_member(print);
}

/* "12 bytes", "1.50 GiB": two digits after the point, but of the first unit. */
static void scale(char *to, size_t bytes, uint64_t number, uint64_t step,
		  const char *const unit[], unsigned units)
{
	uint64_t whole = number, one = 1;
	unsigned i = 0;

	for (; i + 1 < units && whole >= step; i++) {
		whole /= step;
		one *= step;
	}
	if (!i) {
		snprintf(to, bytes, "%llu %s", (unsigned long long)number,
			 unit[0]);
		return;
	}
	snprintf(to, bytes, "%llu.%02llu %s", (unsigned long long)whole,
		 (unsigned long long)(number % one * 100 / one), unit[i]);
}

static void shown(char *to, size_t bytes, uint64_t number,
		  enum gm_print_unit unit)
{
	static const char *const sizes[] = {"bytes", "KiB", "MiB", "GiB",
					    "TiB"};
	static const char *const times[] = {"ns", "us", "ms", "s"};

	switch (unit) {
	case GM_PRINT_BYTES:
		scale(to, bytes, number, 1024, sizes, 5);
		return;
	case GM_PRINT_NS:
		scale(to, bytes, number, 1000, times, 4);
		return;
	case GM_PRINT_COUNT:
		break;
	}
	snprintf(to, bytes, "%llu", (unsigned long long)number);
}

void gm_print_number(struct gm_print *print, const char *key, uint64_t number,
		     enum gm_print_unit unit)
{
	char text[40];

	shown(text, sizeof(text), number, print->json ? GM_PRINT_COUNT : unit);
	add_key(print, key);
	add_value(print, text);
	end_member(print);
}

void gm_print_fraction(struct gm_print *print, const char *key, double fraction)
{
	unsigned long long millionths =
		(unsigned long long)(fraction * 1000000 + 0.5);
	char text[40];

	snprintf(text, sizeof(text), "%llu.%06llu", millionths / 1000000,
		 millionths % 1000000);
	add_key(print, key);
	add_value(print, text);
	end_member(print);
}

const char *gm_print_bytes(char to[GM_PRINT_BYTES_TEXT], uint64_t bytes)
{
	shown(to, GM_PRINT_BYTES_TEXT, bytes, GM_PRINT_BYTES);
	return to;
}

void gm_print_line(const struct gm_lines *lines, const char *format, ...)
{
	char raw[GM_LINE_BYTES], clean[GM_LINE_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	gm_line_copy(clean, sizeof(clean), raw);
	lines->write(clean, lines->user);
	lines->write("\n", lines->user);
}
