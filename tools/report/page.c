/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The report as one page that needs nothing else: the picture, what is behind
 * it for the cursor and for parts of it, and the tables. Without scripts it
 * lacks these two only.
 */
#include "page.h"

#include "common/human.h"
#include "common/json.h"
#include "page_text.h"
#include "trace/print.h"

#include <inttypes.h>
#include <stdlib.h>

static void put_lines(FILE *out, const char *const *lines)
{
	for (; *lines; lines++)
		fputs(*lines, out);
}

/* ---- what is behind the picture ---- */

void page_string(struct page *page, const char *text)
{
	json_t *value = json_text(text);
	char *string =
		value ? json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII)
		      : NULL;

	page->ok = page->ok && string;
	/* "</script>" in a name would end the script. */
	for (const char *at = string; at && *at; at++)
		if (*at == '<')
			fputs("\\u003c", page->out);
		else
			fputc(*at, page->out);
	free(string);
	json_decref(value);
}

static void put_names(struct page *page, const struct curves *curves,
		      unsigned count)
{
	char buffer[MODEL_TAG];

	for (unsigned i = 0; i < count; i++) {
		page_string(page, draw_name(page->model, curves, i, buffer));
		fputs(i + 1 < count ? "," : "", page->out);
	}
}

static void put_bins(struct page *page, const struct curves *curves,
		     unsigned count)
{
	for (unsigned i = 0; i < CURVES_BINS; i++) {
		const struct curves_bin *bin = &curves->bins[i];

		fprintf(page->out, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64,
			i ? ",\n" : "", bin->requested, bin->reserved,
			bin->page_bytes);
		for (unsigned j = 0; j < count; j++)
			fprintf(page->out, ",%" PRIu64,
				bin->tag[j < curves->tag_count ? j
							       : CURVES_TAGS]);
		fputs("]", page->out);
	}
	fputs("],\"events\":[", page->out);
	for (unsigned i = 0; i < CURVES_BINS; i++)
		fprintf(page->out, "%s%" PRIu64, i ? "," : "",
			curves->bins[i].event);
}

static double x_of(const struct model *model, const struct model_moment *moment)
{
	return model->has_times ? (double)moment->ns / 1e9
				: (double)moment->event;
}

/* Of each mark where it is: the time and the bin. */
static void put_ooms(struct page *page, const struct curves *curves)
{
	const struct model *model = page->model;

	fputs("\"ooms\":[", page->out);
	for (size_t i = 0; i < model->oom_count && i < DRAW_OOMS; i++)
		fprintf(page->out, "%s[%.9f,%u]", i ? "," : "",
			x_of(model, &model->ooms[i].moment),
			curves_bin(curves, model, &model->ooms[i].moment));
	fputs("],", page->out);
}

static void put_data(struct page *page)
{
	const struct model *model = page->model;
	const struct curves *curves = page->curves;
	unsigned count = curves->tag_count + curves->has_others;
	double last = (double)curves->last;

	fprintf(page->out,
		"<script type=\"application/json\" id=\"data\">{\"left\":%d,"
		"\"top\":%d,\"width\":%d,\"height\":%d,\"peak\":%u,"
		"\"peak_event\":%" PRIu64 ",\"peak_x\":%.9f,"
		"\"max\":%" PRIu64 ",\"page\":%llu,"
		"\"unit\":\"%s\",\"last\":%.9f,\"reserved\":%s,\"pages\":%s,",
		DRAW_LEFT, DRAW_TOP, DRAW_LEFT + DRAW_WIDTH + DRAW_RIGHT,
		DRAW_HEIGHT, curves_bin(curves, model, &model->peak),
		model->peak.event, x_of(model, &model->peak), curves->top,
		(unsigned long long)PAGES_BYTES,
		model->has_times ? "second" : "event",
		model->has_times ? last / 1e9 : last,
		model->summary.all.peak_reserved_bytes ? "true" : "false",
		model->has_pages ? "true" : "false");
	put_ooms(page, curves);
	fputs("\"names\":[", page->out);
	put_names(page, curves, count);
	fputs("],\"bins\":[", page->out);
	put_bins(page, curves, count);
	fputs("]}</script>\n", page->out);
}

/* ---- all of it ---- */

void page_missing(FILE *out, const struct trace_source *source)
{
	const struct gpumem_record_header *header = &source->recording.header;

	if (header->overwritten_events)
		fprintf(out,
			" %" PRIu64 " were overwritten: the recording begins "
			"late.",
			header->overwritten_events);
	if (header->lost_events)
		fprintf(out, " %" PRIu64 " were lost.", header->lost_events);
	if (source->unknown)
		fprintf(out,
			" %" PRIu64 " are of blocks whose beginning is not "
			"here.",
			source->unknown);
}

void page_head(FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
	      "charset=\"utf-8\">"
	      "<meta name=\"viewport\" content=\"width=device-width\">"
	      "<title>gpumem-report</title>\n<style>\n",
	      out);
	put_lines(out, page_css);
	fputs("</style></head><body>\n", out);
}

/* The same as the first lines of the text. */
static bool put_about(FILE *out, const struct model *model)
{
	const struct trace_source *source = model->source;
	const struct gpumem_record_header *header = &source->recording.header;
	char when[PRINT_DATE], text[HUMAN_BYTES];
	bool ok = true;

	fputs("<p>", out);
	if (!source->is_text) {
		ok = draw_text(out, source->is_torch ? source->torch.what
						     : header->program);
		if (!source->is_torch) {
			fprintf(out, ", process %u, gpumem ", header->pid);
			ok = draw_text(out, header->library) && ok;
		}
		print_date(source, when);
		fprintf(out, ", %s%s%s. ", when, *when ? ", " : "",
			human_ns(text, print_duration(source, &model->summary) *
					       1e9));
	}
	fprintf(out, "%" PRIu64 " events.", model->summary.all.events);
	page_missing(out, source);
	fputs("</p>\n", out);
	return ok;
}

/* The curves of each device, if there are several. */
static void put_devices(struct page *page)
{
	const struct devices *devices = page->devices;

	if (!devices->count)
		return;
	fputs("<h2>Memory over time, device by device</h2>\n<p>The picture "
	      "above is of all devices together. These have one scale of "
	      "bytes, and its times and colours.</p>\n",
	      page->out);
	for (size_t i = 0; i < devices->count; i++) {
		const struct device_run *run = &devices->runs[i];

		fputs("<h3>", page->out);
		page->ok = draw_text(page->out, run->heading) && page->ok;
		fputs("</h3>\n<figure class=\"device\">\n", page->out);
		page->ok = draw_svg(page->out, &run->model, &run->curves) &&
			   page->ok;
		fputs("</figure>\n", page->out);
	}
}

bool page_write(struct page page, size_t blocks)
{
	FILE *out = page.out;

	page_head(out);
	fputs("<h1>", out);
	page.ok = draw_text(out, page.model->source->config->file);
	fputs("</h1>\n", out);
	page.ok = put_about(out, page.model) && page.ok;
	fputs("<figure tabindex=\"0\">\n", out);
	draw_svg(out, page.model, page.curves);
	fputs("<div id=\"cursor\"></div><div id=\"chosen\" hidden></div>"
	      "</figure>\n"
	      "<p id=\"readout\" aria-live=\"polite\"></p>\n"
	      "<p id=\"zoom\" class=\"note\" hidden>Drag over the picture, or "
	      "press + and - in it, to see a part of the time. "
	      "<button id=\"whole\" disabled>Show all</button></p>\n",
	      out);
	put_devices(&page);
	page_map(&page);
	page_tables(&page, blocks);
	put_data(&page);
	page_zoom(&page);
	fputs("<script>\n", out);
	put_lines(out, page_js);
	fputs("</script></body></html>\n", out);
	return page.ok;
}
