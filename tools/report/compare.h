/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Two runs side by side: as text, as JSON and as a page, which have the same
 * facts, and as a picture.
 */
#ifndef GPUMEM_TOOLS_REPORT_COMPARE_H
#define GPUMEM_TOOLS_REPORT_COMPARE_H

#include "report.h"

#include "common/human.h"

/* name, key in JSON, words, is it bytes, its value in a model, is that known */
#define COMPARE_FIGURE_LIST(X)                                                 \
	X(REQUESTED, "peak_requested_bytes", "peak requested", true,           \
	  model->peak.requested, true)                                         \
	X(RESERVED, "peak_reserved_bytes", "peak reserved", true,              \
	  model->summary.all.peak_reserved_bytes,                              \
	  model->summary.all.peak_reserved_bytes > 0)                          \
	X(UNUSED, "peak_unused_bytes", "unused at the peak", true,             \
	  model_unused(&model->peak),                                          \
	  model->summary.all.peak_reserved_bytes > 0)                          \
	X(STRANDED, "most_unreleasable_bytes", "most unreleasable", true,      \
	  model_stranded(&model->worst), model->has_pages)                     \
	X(END, "end_requested_bytes", "requested at the end", true,            \
	  model->end.requested, true)                                          \
	X(BLOCKS, "peak_blocks", "blocks at the peak", false,                  \
	  model->peak.blocks, true)                                            \
	X(ALLOCS, "allocations", "allocations", false,                         \
	  model->summary.all.allocs, true)                                     \
	X(OOMS, "out_of_memory_count", "out of memory", false,                 \
	  model->oom_count, true)

enum compare_row {
#define COMPARE_ROW(name, key, words, is_bytes, value, known) COMPARE_##name,
	COMPARE_FIGURE_LIST(COMPARE_ROW)
#undef COMPARE_ROW
		COMPARE_FIGURES
};

struct compare_figure {
	const char *key, *words;
	bool is_bytes;
	uint64_t value[2];
	bool known[2];
};

/* What it had at the peak of the first and of the second run. */
struct compare_tag {
	char *path; /* "": blocks without a tag */
	uint64_t bytes[2], blocks[2];
};

/* Most bytes in either first. */
struct compare {
	struct compare_tag *tags;
	size_t count;
};

void compare_figures(const struct model *one, const struct model *other,
		     struct compare_figure figures[COMPARE_FIGURES]);
/* False: out of memory; compare_free() is right all the same. */
bool compare_tags(struct compare *compare, const struct model *one,
		  const struct model *other);
void compare_free(struct compare *compare);

/* Cells of a table: both values, what the second has more, and the second as a
 * multiple of the first; "-" where that is not known. */
enum { COMPARE_CELLS = 4 };
struct compare_cells {
	char text[COMPARE_CELLS][HUMAN_BYTES + 8];
};
void compare_cells(struct compare_cells *cells, const uint64_t value[2],
		   const bool known[2], bool is_bytes);

/* compare_print.c: on standard output. False, and told, if that failed. */
bool compare_text(const struct model *one, const struct model *other);
bool compare_json(const struct model *one, const struct model *other);
/* compare_draw.c: both pictures, or the page that has them: to an open file.
 * False: out of memory. That it was written is looked at later. */
bool compare_put(FILE *out, const struct model *one, const struct model *other,
		 enum report_format format);
/* The same to config->output. False, and told. */
bool compare_draw(const struct model *one, const struct model *other,
		  const struct report_config *config);

#endif
