/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The report as a page for a browser.
 */
#ifndef GPUMEM_TOOLS_REPORT_PAGE_H
#define GPUMEM_TOOLS_REPORT_PAGE_H

#include "devices.h"

struct page {
	FILE *out;
	const struct model *model;
	const struct curves *curves; /* of all together */
	const struct groups *groups;
	const struct devices *devices;
	bool ok; /* memory did not run out so far */
};

/* Lists that many of the largest blocks. False: out of memory. That it was
 * written is looked at later. */
bool page_write(struct page page, size_t blocks);

/* What every page begins with, up to its body. */
void page_head(FILE *out);
/* What is not in the file, as sentences. */
void page_missing(FILE *out, const struct trace_source *source);

/* ---- between page.c, page_map.c, page_tables.c and page_zoom.c ---- */

/* A string of JSON, within a script. */
void page_string(struct page *page, const char *text);
void page_zoom(struct page *page);
void page_map(struct page *page);
void page_tables(struct page *page, size_t blocks);
/* A table, up to the cells of its head; and its end. */
void page_begin_table(struct page *page);
void page_end_table(struct page *page);
/* The table of tags under "TITLE OF", which are freed. */
void page_tags(struct page *page, const char *title, const char *of,
	       struct model_tag *tags, size_t count, uint64_t requested);
/* groups_print.c: nothing where there is one pool only. */
void groups_page(struct page *page);
/* served.c: nothing where it is not known. */
void served_page(struct page *page);

#endif
