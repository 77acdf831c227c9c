/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See oom.h: the sentence of each out of memory, and in the page the table of
 * its device. */
#include "oom.h"
#include "page.h"

#include "common/human.h"
#include "common/term.h"
#include "trace/print.h"

#include <inttypes.h>

bool oom_report_print(const struct model *model, size_t most)
{
	bool ok = true;

	for (size_t i = 0; i < model->oom_count && i < most; i++) {
		json_t *report = oom_report_read(&model->ooms[i]);

		if (*oom_report_text(report, "text")) {
			putchar('\n');
			ok = term_say("At second %.6f: %s",
				      print_seconds(model->ooms[i].moment.ns),
				      oom_report_text(report, "text")) &&
			     ok;
		}
		json_decref(report);
	}
	return ok;
}

static void put_text(struct page *page, const char *text)
{
	fputs("<td>", page->out);
	page->ok = draw_text(page->out, *text ? text : "-") && page->ok;
	fputs("</td>", page->out);
}

static void put_row(struct page *page, const struct oom_report_row *row)
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

static void put_report(struct page *page, const json_t *report)
{
	size_t rows = oom_report_rows(report);

	fputs("<details><summary>", page->out);
	page->ok = draw_text(page->out, oom_report_text(report, "text")) &&
		   page->ok;
	fputs("</summary>\n", page->out);
	if (rows)
		fputs("<table><thead><tr><th>of the device</th><th>size</th>"
		      "<th>bytes</th><th>pool</th><th>tag</th></tr></thead>"
		      "<tbody>\n",
		      page->out);
	for (size_t i = 0; i < rows; i++) {
		const struct oom_report_row row = oom_report_row(report, i);

		put_row(page, &row);
	}
	if (rows)
		fputs("</tbody></table>\n", page->out);
	fputs("</details>\n", page->out);
}

void oom_report_page(struct page *page)
{
	for (size_t i = 0; i < page->model->oom_count; i++) {
		json_t *report = oom_report_read(&page->model->ooms[i]);

		if (*oom_report_text(report, "text"))
			put_report(page, report);
		json_decref(report);
	}
}
