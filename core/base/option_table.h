/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the files of the option table share: option.c (the table and its mutex),
 * option_set.c (by name), option_parse.c (values; pure), option_conf.c (the
 * environment). Private to these files.
 */
#ifndef GM_BASE_OPTION_TABLE_H
#define GM_BASE_OPTION_TABLE_H

#include "option.h"

#define GM_OPTION_KEY_BYTES 64
#define GM_OPTION_VALUE_BYTES 512

enum gm_option_source {
	GM_SOURCE_DEFAULT,
	GM_SOURCE_ENVIRONMENT,
	GM_SOURCE_PROGRAM
};

/*
 * One row with its present value. Rows are appended and never leave. The value
 * has a fixed place, so that a reader who ignores "valid until set again" reads
 * a wrong text, but never freed memory.
 *
 *     value is valid for row->kind            at every instant
 *     source == DEFAULT  =>  value == row->default_value
 *     source == PROGRAM  =>  decided
 */
struct gm_option {
	const struct gpumem_option_row *row;
	struct gm_option *next;
	enum gm_option_source source;
	bool decided; /* by the program, whatever the environment says */
	char value[GM_OPTION_VALUE_BYTES];
};

/* ---- option_parse.c: pure ---- */

bool gm_parse_bool(const char *text, bool *value_out);
bool gm_parse_count(const char *text, uint64_t *count_out);
/* What gm_parse_bytes() takes, or a percentage of total_bytes, "80%": above 0,
 * at most 100, and at least one byte. */
bool gm_parse_memory(const char *text, uint64_t total_bytes,
		     uint64_t *bytes_out);
/* "1%", "1 %" and "1" give 0.01. */
bool gm_parse_percent(const char *text, double *fraction_out);
/* NULL when `text` is a value for the row, else what it should have been:
 * "is not on or off". */
const char *gm_option_fault(const struct gpumem_option_row *row,
			    const char *text);

/* ---- option.c ---- */

/* The first lock of a process reads the environment. */
void gm_option_lock(void);
void gm_option_unlock(void);
/* The rest under the mutex. The core's options come first. */
struct gm_option *gm_option_first(void);
/* NULL: none. */
struct gm_option *gm_option_find(struct gm_option *first, const char *key);
/* The value has been found valid. */
void gm_option_assign(struct gm_option *option, const char *value,
		      enum gm_option_source source);

/* ---- option_set.c ---- */

/* Takes the mutex. OK, or why key and value cannot be set, as a sentence. */
gpumem_status gm_option_judge(const char *key, const char *value,
			      char *sentence, size_t bytes);
/* Without the mutex: whether the file that the option names, if it names one,
 * can be written; if not, why as a sentence. */
bool gm_option_try(const char *key, const char *value, char *sentence,
		   size_t bytes);
/* Takes the mutex: the program has set it, or set it back. */
bool gm_option_decided(const char *key);

/* ---- option_conf.c ---- */

struct gm_pair {
	char key[GM_OPTION_KEY_BYTES];
	char value[GM_OPTION_VALUE_BYTES];
	const char *fault; /* "has no key"; NULL: it has a key and a value */
};

/* The next pair of the text at *at, which moves on; false at the end. Empty
 * ones, as after a last comma, are passed over. Pure. */
bool gm_conf_next(const char **at, struct gm_pair *pair);

/* Written once, by gm_conf_read(); the marks are under the mutex. */
extern struct gm_conf {
	char *text;  /* the copy; NULL: there is none */
	char *told;  /* as long: at a pair's first byte, whether it was told */
	bool unread; /* there was no memory for them */
} gm_conf;

/* Keeps a copy of GPUMEM_CONF; once, under the mutex. */
void gm_conf_read(void);
/* Gives the rows from `first` on what GPUMEM_CONF says; under the mutex. */
void gm_conf_apply(struct gm_option *first);

#endif
