/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The report of an out of memory that a recording has: the JSON of
 * gpumem_oom(3). It is not trusted: members of another type are as if they were
 * missing. No locks.
 */
#ifndef GPUMEM_TOOLS_REPORT_OOM_H
#define GPUMEM_TOOLS_REPORT_OOM_H

#include "model.h"

#include "common/json.h"

/* The object; NULL: there is none, or it is not JSON. json_decref() it. */
json_t *oom_report_read(const struct model_oom *oom);
/* A text of it; "": there is none. */
const char *oom_report_text(const json_t *report, const char *key);

/* A row of the device's table, of what a pool, or nobody, has of it. */
struct oom_report_row {
	const char *what, *pool, *tag; /* "": none */
	uint64_t bytes;
};

/* How many rows there are, and which. */
size_t oom_report_rows(const json_t *report);
struct oom_report_row oom_report_row(const json_t *report, size_t at);

/* oom_print.c: the sentences of the first `most`. False: out of memory. */
bool oom_report_print(const struct model *model, size_t most);
/* All of them, each with the table of its device. */
struct page;
void oom_report_page(struct page *page);

#endif
