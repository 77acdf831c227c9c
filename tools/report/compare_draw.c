/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Two runs side by side as pictures, and the page that has them. Both have the
 * same scale of bytes, a tag has the same colour in both, and time has the same
 * scale unless one run is more than twice as long: a replay takes a fraction of
 * the time of the program, and would be a line.
 */
#include "compare.h"

#include "common/tool.h"
#include "page.h"

#include <inttypes.h>
#include <stdlib.h>

struct pair {
	const struct model *model[2];
	struct compare compare;
	struct curves_like like;
	struct curves curves[2];
	bool same_time;
};

/* ---- what they have in common ---- */

static bool prepare_tags(struct pair *pair)
{
	struct curves_like *like = &pair->like;

	if (!compare_tags(&pair->compare, pair->model[0], pair->model[1]))
		return false;
	while (like->count < CURVES_TAGS && like->count < pair->compare.count) {
		like->paths[like->count] = pair->compare.tags[like->count].path;
		like->count++;
	}
	return true;
}

static void prepare_time(struct pair *pair)
{
	uint64_t last[2] = {curves_last(pair->model[0]),
			    curves_last(pair->model[1])};
	unsigned longer = last[1] > last[0];

	pair->same_time =
		pair->model[0]->has_times == pair->model[1]->has_times &&
		last[!longer] >= last[longer] / 2;
	pair->like.last = pair->same_time ? last[longer] : 0;
}

static bool prepare(struct pair *pair)
{
	uint64_t *top[2] = {&pair->curves[0].top, &pair->curves[1].top};

	if (!prepare_tags(pair))
		return false;
	prepare_time(pair);
	for (unsigned i = 0; i < 2; i++)
		if (!curves_read(&pair->curves[i], pair->model[i], &pair->like))
			return false;
	*top[0] = *top[1] = *top[0] > *top[1] ? *top[0] : *top[1];
	return true;
}

static const char *file_of(const struct pair *pair, unsigned i)
{
	return pair->model[i]->source->config->file;
}

/* ---- the picture ---- */

static bool write_svg(const struct pair *pair, FILE *out)
{
	struct draw_one list[2];

	for (unsigned i = 0; i < 2; i++)
		list[i] = (struct draw_one){file_of(pair, i), pair->model[i],
					    &pair->curves[i]};
	return draw_all(out, "two runs", list, 2);
}

/* ---- the page ---- */

static void begin_table(FILE *out, const char *title, const char *what)
{
	fprintf(out,
		"<h2>%s</h2>\n<table><thead><tr><th>first</th>"
		"<th>second</th><th>difference</th><th>ratio</th><th>%s</th>"
		"</tr></thead><tbody>\n",
		title, what);
}

static void put_cells(FILE *out, const uint64_t value[2], const bool known[2],
		      bool is_bytes)
{
	struct compare_cells cells;

	compare_cells(&cells, value, known, is_bytes);
	fputs("<tr>", out);
	for (unsigned i = 0; i < COMPARE_CELLS; i++)
		fprintf(out, "<td>%s</td>", cells.text[i]);
}

static void put_figures(const struct pair *pair, FILE *out)
{
	struct compare_figure figures[COMPARE_FIGURES];

	compare_figures(pair->model[0], pair->model[1], figures);
	begin_table(out, "Both runs", "figure");
	for (unsigned i = 0; i < COMPARE_FIGURES; i++) {
		put_cells(out, figures[i].value, figures[i].known,
			  figures[i].is_bytes);
		fprintf(out, "<td>%s</td></tr>\n", figures[i].words);
	}
	fputs("</tbody></table>\n", out);
}

static bool put_tags(const struct pair *pair, FILE *out)
{
	static const bool known[2] = {true, true};
	bool ok = true;

	begin_table(out, "Live at the peak of each, by tag", "tag");
	for (size_t i = 0; i < pair->compare.count; i++) {
		const char *path = pair->compare.tags[i].path;

		put_cells(out, pair->compare.tags[i].bytes, known, true);
		fputs("<td>", out);
		ok = draw_text(out, *path ? path : "-") && ok;
		fputs("</td></tr>\n", out);
	}
	fputs("</tbody></table>\n", out);
	return ok;
}

static bool write_page(const struct pair *pair, FILE *out)
{
	static const char *const names[] = {"First", "Second"};
	bool ok = true;

	page_head(out);
	fputs("<h1>Two runs</h1>\n", out);
	put_figures(pair, out);
	for (unsigned i = 0; i < 2; i++) {
		fprintf(out, "<h2>%s: ", names[i]);
		ok = draw_text(out, file_of(pair, i)) && ok;
		fprintf(out, "</h2>\n<p>%" PRIu64 " events.",
			pair->model[i]->summary.all.events);
		page_missing(out, pair->model[i]->source);
		fputs("</p>\n<figure>\n", out);
		ok = draw_svg(out, pair->model[i], &pair->curves[i]) && ok;
		fputs("</figure>\n", out);
	}
	fprintf(out,
		"<p class=\"note\">Both pictures have the same scale of "
		"bytes%s "
		"A tag has the same colour in both.</p>\n",
		pair->same_time
			? " and of time."
			: "; their scales of time differ, for one run "
			  "is more than twice as long, or has no times.");
	ok = put_tags(pair, out) && ok;
	fputs("</body></html>\n", out);
	return ok;
}

/* ---- both ---- */

bool compare_put(FILE *out, const struct model *one, const struct model *other,
		 enum report_format format)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	bool ok = pair != NULL;

	if (ok) {
		pair->model[0] = one;
		pair->model[1] = other;
		ok = prepare(pair) &&
		     (format == REPORT_PAGE ? write_page(pair, out)
					    : write_svg(pair, out));
		compare_free(&pair->compare);
	}
	free(pair);
	return ok;
}

struct drawn {
	const struct model *one, *other;
	enum report_format format;
};

static bool write_drawn(FILE *out, void *user)
{
	const struct drawn *drawn = user;
	bool ok = compare_put(out, drawn->one, drawn->other, drawn->format);

	if (!ok)
		tool_error("out of memory");
	return ok;
}

bool compare_draw(const struct model *one, const struct model *other,
		  const struct report_config *config)
{
	struct drawn drawn = {one, other, config->format};

	return report_write(config, write_drawn, &drawn);
}
