/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The picture of the curves, as SVG, and the page that has it. Colours are
 * those of Okabe and Ito, which people with any colour vision tell apart; areas
 * are also in the order of the legend.
 */
#ifndef GPUMEM_TOOLS_REPORT_DRAW_H
#define GPUMEM_TOOLS_REPORT_DRAW_H

#include "curves.h"

#include <stdio.h>

/* Where things are in the picture, in pixels. A bin is one wide. */
enum {
	DRAW_LEFT = 90,
	DRAW_TOP = 24,
	DRAW_WIDTH = CURVES_BINS,
	DRAW_HEIGHT = 320,
	DRAW_RIGHT = 20
};

/* So many marks of an out of memory. */
enum { DRAW_OOMS = 200 };

/* An <svg> element; alone it is a file. False: out of memory. */
bool draw_svg(FILE *out, const struct model *model,
	      const struct curves *curves);
/* One of several pictures, and what is said above it. */
struct draw_one {
	const char *title;
	const struct model *model;
	const struct curves *curves;
};

/* An <svg> element with all of them, one below another. */
bool draw_all(FILE *out, const char *what, const struct draw_one *list,
	      size_t count);
/* How many pixels high one is. */
int draw_height(const struct model *model, const struct curves *curves);
/* Text for HTML and XML: markup is escaped, and so is what is no printable
 * UTF-8. False: out of memory. */
bool draw_text(FILE *out, const char *text);
/* The name of the curve i; that of all others is the last. */
const char *draw_name(const struct model *model, const struct curves *curves,
		      unsigned i, char buffer[MODEL_TAG]);

#endif
