/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Several pictures in one: see draw_all(). Scales and colours are what the
 * curves of each have.
 */
#include "draw.h"

enum { TITLE = 30, GAP = 24 }; /* pixels above a picture and between two */

static bool put_one(FILE *out, const struct draw_one *one, int at)
{
	bool ok;

	fprintf(out, "<text x=\"%d\" y=\"%d\">", DRAW_LEFT, at + 18);
	ok = draw_text(out, one->title);
	fprintf(out, "</text>\n<g transform=\"translate(0,%d)\">\n",
		at + TITLE);
	ok = draw_svg(out, one->model, one->curves) && ok;
	fputs("</g>\n", out);
	return ok;
}

static int height_of(const struct draw_one *one)
{
	return TITLE + draw_height(one->model, one->curves);
}

bool draw_all(FILE *out, const char *what, const struct draw_one *list,
	      size_t count)
{
	int width = DRAW_LEFT + DRAW_WIDTH + DRAW_RIGHT, height = 0, at = 0;
	bool ok = true;

	for (size_t i = 0; i < count; i++)
		height += height_of(&list[i]) + (i ? GAP : 0);
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gm\" "
		"role=\"img\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		"height=\"%d\"><title>Memory over time, of %s</title>\n",
		width, height, width, height, what);
	for (size_t i = 0; i < count; i++) {
		ok = put_one(out, &list[i], at) && ok;
		at += height_of(&list[i]) + GAP;
	}
	fputs("</svg>\n", out);
	return ok;
}
