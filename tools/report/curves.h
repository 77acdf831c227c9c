/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory over time, for a picture: the whole in CURVES_BINS stretches of the
 * same length, each with what was live at the event of it at which most was
 * requested: the last of them, but the peak itself where that is one. So no
 * peak is lost, however short it was. No locks.
 */
#ifndef GPUMEM_TOOLS_REPORT_CURVES_H
#define GPUMEM_TOOLS_REPORT_CURVES_H

#include "model.h"

enum { CURVES_BINS = 800, CURVES_TAGS = 7 };

/* requested == sum of tag[]. reserved and page_bytes are of the same event; 0:
 * not known. */
struct curves_bin {
	uint64_t tag[CURVES_TAGS + 1]; /* the last: all others */
	uint64_t requested, reserved, page_bytes;
	uint64_t event; /* after which it was so */
};

/* What two pictures have in common: the tags that have curves of their own, by
 * their paths, "" for blocks without one; and how far x goes at least. */
struct curves_like {
	const char *paths[CURVES_TAGS];
	unsigned count;
	uint64_t last;
};

/* The tags with most bytes at the peak have a curve of their own, and then,
 * while there is room, those with most bytes at all. x is time, or the number
 * of the event where times are not known: from 0 to last. */
struct curves {
	struct curves_bin bins[CURVES_BINS];
	const struct curves_like *like; /* or NULL */
	uint16_t tags[CURVES_TAGS];	/* without `like` */
	unsigned tag_count;
	bool has_others;
	uint64_t last, top; /* top: the highest of all that is drawn */
};

/* `like` may be NULL, and else lives as long as the curves. False, and told. */
bool curves_read(struct curves *curves, const struct model *model,
		 const struct curves_like *like);
/* Calls fn after each event with what is live then, on the same curves: the
 * source is read once more. False, and told. */
typedef void (*curves_fn)(const struct curves_bin *now, uint64_t x, void *user);
bool curves_each(const struct curves *curves, const struct model *model,
		 curves_fn fn, void *user);
/* How far the x of a run goes. */
uint64_t curves_last(const struct model *model);

/* The bin of a moment. */
unsigned curves_bin(const struct curves *curves, const struct model *model,
		    const struct model_moment *moment);

#endif
