/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The tables of the page: the same as those of the text.
 */
#include "page.h"
#include "stacks.h"
#include "oom.h"

#include "common/human.h"
#include "trace/print.h"

#include <gpumem/gpumem.h>
#include <inttypes.h>
#include <stdlib.h>

void page_begin_table(struct page *page)
{
	fputs("<div class=\"wide\" tabindex=\"0\"><table><thead><tr>",
	      page->out);
}

static void put_head(struct page *page, const char *const *names)
{
	for (; *names; names++)
		fprintf(page->out, "<th>%s</th>", *names);
	fputs("</tr></thead><tbody>\n", page->out);
}

static void begin_table(struct page *page, const char *title,
			const char *const *names)
{
	fprintf(page->out, "<h2>%s</h2>\n", title);
	page_begin_table(page);
	put_head(page, names);
}

void page_end_table(struct page *page)
{
	fputs("</tbody></table></div>\n", page->out);
}

static void put_bytes(struct page *page, uint64_t bytes, bool known)
{
	char text[HUMAN_BYTES];

	fprintf(page->out, "<td>%s</td>",
		known ? human_bytes(text, bytes) : "-");
}

static void put_number(struct page *page, uint64_t number)
{
	fprintf(page->out, "<td>%" PRIu64 "</td>", number);
}

static void put_when(struct page *page, uint64_t ns)
{
	if (page->model->has_times)
		fprintf(page->out, "<td>%.6f</td>", print_seconds(ns));
	else
		fputs("<td>-</td>", page->out);
}

static void put_tag(struct page *page, uint16_t number)
{
	char buffer[MODEL_TAG];
	const char *path = model_tag_path(page->model, number, buffer);

	fputs("<td>", page->out);
	page->ok = draw_text(page->out, *path ? path : "-") && page->ok;
	fputs("</td></tr>\n", page->out);
}

static void put_moment(struct page *page, const char *name,
		       const struct model_moment *moment)
{
	bool reserved = page->model->summary.all.peak_reserved_bytes > 0;

	fputs("<tr>", page->out);
	put_number(page, moment->event);
	put_when(page, moment->ns);
	put_number(page, moment->blocks);
	put_number(page, moment->requested);
	put_bytes(page, moment->requested, true);
	put_bytes(page, moment->reserved, reserved);
	put_bytes(page, model_unused(moment), reserved);
	put_bytes(page, model_stranded(moment), page->model->has_pages);
	fprintf(page->out, "<td>%s</td></tr>\n", name);
}

static void put_moments(struct page *page)
{
	static const char *const names[] = {
		"event",    "at second", "blocks",	 "bytes",  "requested",
		"reserved", "unused",	 "unreleasable", "moment", NULL};
	const struct model *model = page->model;

	begin_table(page, "Moments", names);
	put_moment(page, "peak", &model->peak);
	if (model->has_pages)
		put_moment(page, "most unreleasable", &model->worst);
	put_moment(page, "end", &model->end);
	page_end_table(page);
}

void page_tags(struct page *page, const char *title, const char *of,
	       struct model_tag *tags, size_t count, uint64_t requested)
{
	static const char *const names[] = {"size",   "bytes",	 "share",
					    "blocks", "largest", "oldest from",
					    "tag",    NULL};

	fprintf(page->out, "<h2>%s", title);
	page->ok = draw_text(page->out, of) && tags && page->ok;
	fputs(", by tag</h2>\n", page->out);
	page_begin_table(page);
	put_head(page, names);
	for (size_t i = 0; tags && i < count; i++) {
		fputs("<tr>", page->out);
		put_bytes(page, tags[i].bytes, true);
		put_number(page, tags[i].bytes);
		fprintf(page->out, "<td>%.1f %%</td>",
			requested ? 100.0 * (double)tags[i].bytes /
					    (double)requested
				  : 0.0);
		put_number(page, tags[i].blocks);
		put_bytes(page, tags[i].largest_bytes, true);
		put_when(page, tags[i].oldest_ns);
		put_tag(page, tags[i].number);
	}
	page_end_table(page);
	free(tags);
}

static void put_tags(struct page *page, const char *when,
		     const struct model_moment *moment)
{
	size_t count = 0;
	struct model_tag *tags = model_tags(page->model, moment->event, &count);

	page_tags(page, "Live at the ", when, tags, count, moment->requested);
}

static void put_blocks(struct page *page, const char *title,
		       const struct model_moment *moment, size_t most)
{
	static const char *const names[] = {"size", "bytes",  "address",
					    "pool", "stream", "allocated at",
					    "tag",  NULL};
	size_t count = 0;
	const struct model_span **live =
		model_blocks(page->model, moment->event, &count);

	page->ok = page->ok && live;
	begin_table(page, title, names);
	for (size_t i = 0; i < count && i < most; i++) {
		fputs("<tr>", page->out);
		put_bytes(page, live[i]->bytes, true);
		put_number(page, live[i]->bytes);
		if (page->model->has_addresses)
			fprintf(page->out, "<td>0x%" PRIx64 "</td>",
				live[i]->address);
		else
			fputs("<td>-</td>", page->out);
		put_number(page, live[i]->pool);
		put_number(page, live[i]->stream);
		put_when(page, live[i]->begin_ns);
		put_tag(page, live[i]->tag);
	}
	page_end_table(page);
	free((void *)live);
}

/* The innermost call, and behind it all of them. */
static void put_frames(struct page *page, const struct stacks *stacks,
		       const struct recording_stack *stack)
{
	const char *const begin[] = {"<details><summary>", "<div>"};
	const char *const end[] = {"</summary>", "</div>"};
	size_t lines = 0;

	for (size_t i = 0; i < stack->count; i++) {
		const struct frame *frame = frames_find(
			&stacks->frames, recording_stack_frame(stack, i));

		for (size_t j = 0; j < frames_lines(frame); j++, lines++) {
			char *text = frames_line(frame, j);

			fputs(begin[lines > 0], page->out);
			page->ok =
				text && draw_text(page->out, text) && page->ok;
			fputs(end[lines > 0], page->out);
			free(text);
		}
	}
	fputs("</details>", page->out);
}

static void put_stacks(struct page *page, size_t most)
{
	static const char *const names[] = {"size", "bytes", "blocks",
					    "allocated at", NULL};
	struct stacks stacks;

	page->ok = stacks_read(&stacks, page->model, most, true) && page->ok;
	if (stacks.end.count)
		begin_table(page, "Live at the end, by where it was allocated",
			    names);
	for (size_t i = 0; i < stacks.end.count; i++) {
		const struct stacks_one *one = &stacks.end.of[i];

		fputs("<tr>", page->out);
		put_bytes(page, one->bytes, true);
		put_number(page, one->bytes);
		put_number(page, one->blocks);
		fputs("<td>", page->out);
		put_frames(page, &stacks, one->stack);
		fputs("</td></tr>\n", page->out);
	}
	if (stacks.end.count)
		page_end_table(page);
	stacks_free(&stacks);
}

static void put_ages(struct page *page)
{
	static const char *const names[] = {"first", "second", "third", "last",
					    "grows", "tag",    NULL};
	const struct model *model = page->model;
	size_t count = 0;
	struct model_tag *tags = model_tags(model, model->end.event, &count);

	page->ok = page->ok && tags;
	begin_table(page,
		    "Live at the end, by the quarter of the run in which it "
		    "was allocated",
		    names);
	for (size_t i = 0; i < count; i++) {
		fputs("<tr>", page->out);
		for (unsigned j = 0; j < MODEL_QUARTERS; j++)
			put_bytes(page, tags[i].quarter_bytes[j], true);
		fprintf(page->out, "<td>%s</td>",
			model_grows(&tags[i]) ? "yes" : "no");
		put_tag(page, tags[i].number);
	}
	page_end_table(page);
	free(tags);
}

static void put_ooms(struct page *page)
{
	static const char *const names[] = {
		"at second", "pool",   "asked for",	  "requested",
		"reserved",  "reason", "what would help", NULL};

	if (!page->model->oom_count)
		return;
	begin_table(page, "Out of memory", names);
	for (size_t i = 0; i < page->model->oom_count; i++) {
		const struct model_oom *oom = &page->model->ooms[i];

		fputs("<tr>", page->out);
		put_when(page, oom->moment.ns);
		put_number(page, oom->pool);
		put_bytes(page, oom->bytes, true);
		put_bytes(page, oom->requested, true);
		put_bytes(page, oom->reserved,
			  model_oom_reserved(page->model, oom));
		fprintf(page->out, "<td>%s</td><td>%s</td></tr>\n",
			gpumem_status_text((gpumem_status)(int64_t)oom->status),
			recording_advice(oom->advice));
	}
	page_end_table(page);
	oom_report_page(page);
}

void page_tables(struct page *page, size_t blocks)
{
	const struct model *model = page->model;

	put_moments(page);
	groups_page(page);
	served_page(page);
	put_tags(page, "peak", &model->peak);
	if (blocks)
		put_blocks(page, "The largest blocks at the peak", &model->peak,
			   blocks);
	if (model->end.blocks) {
		put_tags(page, "end", &model->end);
		if (blocks)
			put_blocks(page, "The largest blocks at the end",
				   &model->end, blocks);
		put_stacks(page, blocks);
		put_ages(page);
	} else {
		fputs("<p>Nothing is live at the end.</p>\n", page->out);
	}
	put_ooms(page);
}
