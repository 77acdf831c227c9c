/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See draw.h. Areas lie upon each other: each reaches down to zero, and the
 * lower ones are drawn later.
 */
#include "draw.h"

#include "common/clean.h"
#include "common/human.h"

#include <stdlib.h>

enum { LEGEND_ROW = 18 };

static const char style[] =
	"<style>.gm{color-scheme:light dark;font:12px sans-serif;"
	"color:#222;background:#fff}"
	".gm text{fill:currentColor}.gm .grid{stroke:currentColor;"
	"stroke-opacity:.15}.gm .reserved{fill:none;stroke:currentColor;"
	"stroke-width:1.5;stroke-dasharray:5 3}.gm .pages{fill:none;"
	"stroke:currentColor;stroke-dasharray:1 2}.gm .oom{fill:#d00;"
	"stroke:#fff}"
	".c0{fill:#0072b2}.c1{fill:#e69f00}.c2{fill:#009e73}"
	".c3{fill:#cc79a7}.c4{fill:#56b4e9}.c5{fill:#d55e00}"
	".c6{fill:#f0e442}.c7{fill:#999}"
	"@media(prefers-color-scheme:dark){.gm{color:#ddd;"
	"background:#181a1b}}@media print{.gm{color:#000;"
	"background:#fff}}</style>";

bool draw_text(FILE *out, const char *text)
{
	char *clean = clean_copy(text);

	if (!clean)
		return false;
	for (const char *at = clean; *at; at++)
		switch (*at) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*at, out);
		}
	free(clean);
	return true;
}

const char *draw_name(const struct model *model, const struct curves *curves,
		      unsigned i, char buffer[MODEL_TAG])
{
	const char *path;

	if (i >= curves->tag_count)
		return "all other tags";
	path = curves->like ? curves->like->paths[i]
			    : model_tag_path(model, curves->tags[i], buffer);
	return *path ? path : "without a tag";
}

/* ---- axes ---- */

static double y_of(const struct curves *curves, uint64_t bytes)
{
	double top = curves->top ? (double)curves->top : 1;

	return DRAW_TOP + DRAW_HEIGHT * (1 - (double)bytes / top);
}

static void draw_y_axis(FILE *out, const struct curves *curves)
{
	uint64_t step = 1;
	char text[HUMAN_BYTES];

	while (curves->top / step > 6)
		step *= 2;
	for (uint64_t i = 0; i <= curves->top / step; i++)
		fprintf(out,
			"<path class=\"grid\" d=\"M%d %.1fh%d\"/>"
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s"
			"</text>\n",
			DRAW_LEFT, y_of(curves, i * step), DRAW_WIDTH,
			DRAW_LEFT - 6, y_of(curves, i * step) + 4,
			human_bytes(text, i * step));
}

static void draw_x_axis(FILE *out, const struct model *model,
			const struct curves *curves)
{
	static const double steps[] = {2, 2.5, 2};
	double step = 1, last = (double)curves->last, x;
	double unit = model->has_times ? 1e9 : 1;
	int bottom = DRAW_TOP + DRAW_HEIGHT;

	for (unsigned i = 0; last / step > 8; i++)
		step *= steps[i % 3];
	fputs("<g class=\"x\">", out);
	for (unsigned i = 0; i * step <= last; i++) {
		x = DRAW_LEFT + (last > 0 ? DRAW_WIDTH * i * step / last : 0);
		fprintf(out,
			"<path class=\"grid\" d=\"M%.1f %dv5\"/>"
			"<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g"
			"</text>\n",
			x, bottom, x, bottom + 18, i * step / unit);
	}
	fprintf(out,
		"</g><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n",
		DRAW_LEFT + DRAW_WIDTH, bottom + 34,
		model->has_times ? "seconds" : "events");
}

/* ---- curves ---- */

/* What a line is drawn through. */
typedef uint64_t (*level_fn)(const struct curves_bin *bin, unsigned count);

/* The sum of the first `count` curves. */
static uint64_t sum_of(const struct curves_bin *bin, unsigned count)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += bin->tag[i];
	return sum;
}

static uint64_t reserved_of(const struct curves_bin *bin, unsigned count)
{
	(void)count;
	return bin->reserved;
}

static uint64_t pages_of(const struct curves_bin *bin, unsigned count)
{
	(void)count;
	return bin->page_bytes;
}

/* Goes on from a point on the left edge. */
static void draw_line(FILE *out, const struct curves *curves, level_fn level,
		      unsigned count)
{
	uint64_t last = UINT64_MAX;

	for (unsigned i = 0; i < CURVES_BINS; i++) {
		uint64_t bytes = level(&curves->bins[i], count);

		if (bytes != last)
			fprintf(out, "H%uV%.1f", DRAW_LEFT + i,
				y_of(curves, bytes));
		last = bytes;
	}
	fprintf(out, "H%d", DRAW_LEFT + DRAW_WIDTH);
}

static void draw_area(FILE *out, const struct curves *curves, unsigned i)
{
	int bottom = DRAW_TOP + DRAW_HEIGHT;

	fprintf(out, "<path class=\"c%u\" d=\"M%d %d", i, DRAW_LEFT, bottom);
	draw_line(out, curves, sum_of, i + 1);
	fprintf(out, "V%dz\"/>\n", bottom);
}

static void draw_level(FILE *out, const struct curves *curves, const char *name,
		       level_fn level)
{
	fprintf(out, "<path class=\"%s\" d=\"M%d %.1f", name, DRAW_LEFT,
		y_of(curves, level(&curves->bins[0], 0)));
	draw_line(out, curves, level, 0);
	fputs("\"/>\n", out);
}

/* ---- marks ---- */

static void draw_peak(FILE *out, const struct model *model,
		      const struct curves *curves)
{
	int x = DRAW_LEFT + (int)curves_bin(curves, model, &model->peak);
	bool right = x > DRAW_LEFT + DRAW_WIDTH / 2;
	double y = y_of(curves, model->peak.requested);
	char text[HUMAN_BYTES];

	fprintf(out,
		"<g class=\"peak\"><circle cx=\"%d\" cy=\"%.1f\" r=\"3.5\" "
		"fill=\"none\" "
		"stroke=\"currentColor\"/><text x=\"%d\" y=\"%d\" "
		"text-anchor=\"%s\">peak %s</text></g>\n",
		x, y, x + (right ? 4 : -4), DRAW_TOP - 8,
		right ? "end" : "start",
		human_bytes(text, model->peak.requested));
}

static void draw_ooms(FILE *out, const struct model *model,
		      const struct curves *curves)
{
	char text[HUMAN_BYTES];

	for (size_t i = 0; i < model->oom_count && i < DRAW_OOMS; i++) {
		const struct model_oom *oom = &model->ooms[i];

		fprintf(out,
			"<path class=\"oom\" d=\"M%u %dl5 -10h-10z\"><title>"
			"out of memory: %s asked for</title></path>\n",
			DRAW_LEFT + curves_bin(curves, model, &oom->moment),
			DRAW_TOP + 10, human_bytes(text, oom->bytes));
	}
}

static void draw_key(FILE *out, const char *name, int y, const char *words)
{
	fprintf(out,
		"<path class=\"%s\" d=\"M%d %dh14\"/><text x=\"%d\" y=\"%d\">"
		"%s</text>\n",
		name, DRAW_LEFT, y - 4, DRAW_LEFT + 20, y, words);
}

static bool draw_legend(FILE *out, const struct model *model,
			const struct curves *curves, unsigned count)
{
	int y = DRAW_TOP + DRAW_HEIGHT + 52;
	char buffer[MODEL_TAG];
	bool ok = true;

	for (unsigned i = count; i-- > 0; y += LEGEND_ROW) {
		unsigned at = i < curves->tag_count ? i : CURVES_TAGS;

		fprintf(out,
			"<rect class=\"c%u\" x=\"%d\" y=\"%d\" width=\"12\" "
			"height=\"12\"/><text x=\"%d\" y=\"%d\">",
			at, DRAW_LEFT, y - 10, DRAW_LEFT + 20, y);
		ok = draw_text(out, draw_name(model, curves, i, buffer)) && ok;
		fputs("</text>\n", out);
	}
	if (model->has_pages)
		draw_key(out, "pages", y, "pages of 2 MiB in use");
	y += model->has_pages ? LEGEND_ROW : 0;
	if (model->summary.all.peak_reserved_bytes)
		draw_key(out, "reserved", y, "reserved");
	y += model->summary.all.peak_reserved_bytes ? LEGEND_ROW : 0;
	if (model->oom_count)
		fprintf(out,
			"<path class=\"oom\" d=\"M%d %dl5 -10h-10z\"/>"
			"<text x=\"%d\" y=\"%d\">out of memory</text>\n",
			DRAW_LEFT + 7, y, DRAW_LEFT + 20, y);
	return ok;
}

int draw_height(const struct model *model, const struct curves *curves)
{
	unsigned count = curves->tag_count + curves->has_others;
	bool reserved = model->summary.all.peak_reserved_bytes > 0;

	return DRAW_TOP + DRAW_HEIGHT + 52 +
	       LEGEND_ROW * ((int)count + reserved + model->has_pages +
			     (model->oom_count > 0));
}

bool draw_svg(FILE *out, const struct model *model, const struct curves *curves)
{
	unsigned count = curves->tag_count + curves->has_others;
	bool reserved = model->summary.all.peak_reserved_bytes > 0;
	int width = DRAW_LEFT + DRAW_WIDTH + DRAW_RIGHT;
	int height = draw_height(model, curves);
	bool ok;

	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gm\" "
		"role=\"img\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		"height=\"%d\"><title>Memory over time</title>\n%s\n",
		width, height, width, height, style);
	if (curves->has_others)
		draw_area(out, curves, CURVES_TAGS);
	for (unsigned i = curves->tag_count; i-- > 0;)
		draw_area(out, curves, i);
	draw_y_axis(out, curves);
	draw_x_axis(out, model, curves);
	if (model->has_pages)
		draw_level(out, curves, "pages", pages_of);
	if (reserved)
		draw_level(out, curves, "reserved", reserved_of);
	draw_peak(out, model, curves);
	draw_ooms(out, model, curves);
	ok = draw_legend(out, model, curves, count);
	fputs("</svg>\n", out);
	return ok;
}
