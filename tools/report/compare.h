/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Two runs side by side, as text and as JSON, which have the same facts.
 */
#ifndef GPUMEM_TOOLS_REPORT_COMPARE_H
#define GPUMEM_TOOLS_REPORT_COMPARE_H

#include "model.h"

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
	  model_stranded(&model->worst), model->has_addresses)                 \
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

/* compare_print.c: on standard output. False, and told, if that failed. */
bool compare_text(const struct model *one, const struct model *other);
bool compare_json(const struct model *one, const struct model *other);

#endif
