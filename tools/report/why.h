/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a recording says of an out of memory, beside its numbers: the JSON of
 * gpumem_oom(3). Whatever it is, only what has the right type is taken from it.
 * No locks.
 */
#ifndef GPUMEM_TOOLS_REPORT_WHY_H
#define GPUMEM_TOOLS_REPORT_WHY_H

#include "model.h"

#include "common/json.h"

/* The object; NULL: there is none, or it is not JSON. json_decref() it. */
json_t *why_read(const struct model_oom *oom);
/* A text of it; "": there is none. */
const char *why_text(const json_t *why, const char *key);

/* A row of the device's table, of what a pool, or nobody, has of it. */
struct why_row {
	const char *what, *pool, *tag; /* "": none */
	uint64_t bytes;
};

/* How many rows there are, and which. */
size_t why_rows(const json_t *why);
struct why_row why_row(const json_t *why, size_t at);

/* why_print.c: the sentences of the first `most`. False: out of memory. */
bool why_print(const struct model *model, size_t most);
/* All of them, each with the table of its device. */
struct page;
void why_page(struct page *page);

#endif
