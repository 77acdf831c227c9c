/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See why.h: the sentence of each out of memory, and in the page the table of
 * its device. */
#include "why.h"
#include "page.h"

#include "common/human.h"
#include "common/term.h"
#include "trace/print.h"

#include <inttypes.h>

bool why_print(const struct model *model, size_t most)
{
	bool ok = true;

	for (size_t i = 0; i < model->oom_count && i < most; i++) {
		json_t *why = why_read(&model->ooms[i]);

		if (*why_text(why, "text")) {
			putchar('\n');
			ok = term_say("At second %.6f: %s",
				      print_seconds(model->ooms[i].moment.ns),
				      why_text(why, "text")) &&
			     ok;
		}
		json_decref(why);
	}
	return ok;
}

static void put_text(struct page *page, const char *text)
{
	fputs("<td>", page->out);
	page->ok = draw_text(page->out, *text ? text : "-") && page->ok;
	fputs("</td>", page->out);
}

static void put_row(struct page *page, const struct why_row *row)
{
	char text[HUMAN_BYTES];

	fputs("<tr>", page->out);
	put_text(page, row->what);
	fprintf(page->out, "<td>%s</td><td>%" PRIu64 "</td>",
		human_bytes(text, row->bytes), row->bytes);
	put_text(page, row->pool);
	put_text(page, row->tag);
	fputs("</tr>\n", page->out);
}

static void put_why(struct page *page, const json_t *why)
{
	size_t rows = why_rows(why);

	fputs("<details><summary>", page->out);
	page->ok = draw_text(page->out, why_text(why, "text")) && page->ok;
	fputs("</summary>\n", page->out);
	if (rows)
		fputs("<table><thead><tr><th>of the device</th><th>size</th>"
		      "<th>bytes</th><th>pool</th><th>tag</th></tr></thead>"
		      "<tbody>\n",
		      page->out);
	for (size_t i = 0; i < rows; i++) {
		const struct why_row row = why_row(why, i);

		put_row(page, &row);
	}
	if (rows)
		fputs("</tbody></table>\n", page->out);
	fputs("</details>\n", page->out);
}

void why_page(struct page *page)
{
	for (size_t i = 0; i < page->model->oom_count; i++) {
		json_t *why = why_read(&page->model->ooms[i]);

		if (*why_text(why, "text"))
			put_why(page, why);
		json_decref(why);
	}
}
