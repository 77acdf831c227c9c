/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A report in pieces, through a function of the program's: as text for people,
 * or as one JSON object. Who writes a report names its members once, for both.
 * It keeps no memory but a line, and asks nothing of the locale. The caller
 * owns the struct; nothing is locked.
 */
#ifndef GM_BASE_PRINT_H
#define GM_BASE_PRINT_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gm_print {
	void (*write)(const char *text, void *user);
	void *user;
	bool json;
	bool inside;	/* text: the members of a row share a line */
	bool first;	/* nothing stands before the next member */
	unsigned depth; /* of objects that are open */
	size_t used;
	char buffer[512];
};

/* What a number counts: in text "1.50 GiB", "12.00 ms"; in JSON digits. */
enum gm_print_unit { GM_PRINT_COUNT, GM_PRINT_BYTES, GM_PRINT_NS };

/* One report: everything else comes between these two. */
void gm_print_begin(struct gm_print *print, bool json,
		    void (*write)(const char *text, void *user), void *user);
void gm_print_end(struct gm_print *print);

/* An object of the last one that is open; key NULL: of an array. `row`: it has
 * no objects, and is one line of text. */
void gm_print_open(struct gm_print *print, const char *key, bool row);
void gm_print_close(struct gm_print *print);

/* JSON only: an array; its members are objects, which have no keys. */
void gm_print_list(struct gm_print *print, const char *key);
void gm_print_list_end(struct gm_print *print);

/* Members. `text` may be any bytes: it becomes printable, see line.h, and is
 * cut off where it has too many bytes. Of a fraction six digits are shown; it
 * is from 0 to 1. */
enum { GM_PRINT_TEXT_BYTES = 1024 };
void gm_print_text(struct gm_print *print, const char *key, const char *text);
void gm_print_number(struct gm_print *print, const char *key, uint64_t number,
		     enum gm_print_unit unit);
void gm_print_fraction(struct gm_print *print, const char *key,
		       double fraction);

/* A report that is lines of its own: what is written is one, printable and
 * ended. Cut off where it has too many bytes. */
struct gm_lines {
	void (*write)(const char *text, void *user);
	void *user;
};
enum { GM_LINE_BYTES = 5000 };
void gm_print_line(const struct gm_lines *lines, const char *format, ...)
	GPUMEM_PRINTF(2, 3);

/* "1.50 GiB", as text has it. */
enum { GM_PRINT_BYTES_TEXT = 32 };
const char *gm_print_bytes(char to[GM_PRINT_BYTES_TEXT], uint64_t bytes);

#endif
