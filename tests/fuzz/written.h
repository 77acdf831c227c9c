/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pictures and pages of gpumem-report are well-formed, whatever the names in
 * them.
 */
#ifndef GPUMEM_TESTS_FUZZ_WRITTEN_H
#define GPUMEM_TESTS_FUZZ_WRITTEN_H

#include "events.h"

#include "report/compare.h"
#include "report/page.h"

#include <string.h>

/* Elements end, and text has no character that begins markup. */
static void check_markup(const char *text, const char *end)
{
	long depth = 0;

	for (; text < end && *text; text++) {
		check(*text == '\n' || (unsigned char)*text >= ' ');
		if (*text == '&')
			check(!strncmp(text, "&amp;", 5) ||
			      !strncmp(text, "&lt;", 4) ||
			      !strncmp(text, "&gt;", 4) ||
			      !strncmp(text, "&quot;", 6));
		if (*text == '<')
			depth += text[1] == '/' ? -1 : 1;
		if (*text == '/' && text[1] == '>')
			depth--;
		check(depth >= 0);
	}
	check(text == end && !depth);
}

/* From there to the next script. */
static void check_part(const char *text, const char *from)
{
	const char *begin = strstr(text, from);
	const char *end = begin ? strstr(begin, "<script") : NULL;

	check(end);
	check_markup(begin, end);
}

/* The page without what stands in all of them is a place for the map, and
 * tables; both end before data. */
static void check_page(struct page page)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	page.out = out;
	check(out && page_write(page, 10));
	check(!fclose(out) && strlen(text) == bytes);
	check_part(text, "<p id=\"readout\"");
	check_part(text, "<h2>Moments</h2>");
	free(text);
}

static void check_picture(const struct page *page)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	check(out &&
	      devices_svg(out, page->devices, page->model, page->curves));
	check(!fclose(out));
	check_markup(text, text + bytes);
	free(text);
}

/* Two runs: the same one, and on the page what is between its heading and its
 * end is markup as well. */
static void check_two(const struct model *model, enum report_format format)
{
	char *text = NULL, *begin, *end;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	check(out && compare_put(out, model, model, format));
	check(!fclose(out) && strlen(text) == bytes);
	begin = format == REPORT_PAGE ? strstr(text, "<h1>") : text;
	end = format == REPORT_PAGE ? strstr(text, "</body>") : text + bytes;
	check(begin && end);
	check_markup(begin, end);
	free(text);
}

#endif
