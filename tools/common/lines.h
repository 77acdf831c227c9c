/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Traces (trace.h) read as if they were recordings of one pool: the same
 * events, in their order. A trace has no addresses; what stands for one is
 * different for each block that is live, and says nothing else. No locks.
 */
#ifndef GPUMEM_TOOLS_LINES_H
#define GPUMEM_TOOLS_LINES_H

#include "recording.h"
#include "tag_names.h"

enum { LINES_POOL = 1 };

struct lines_history {
	struct recording_event *events;
	size_t count, room, next;
	struct tag_names tags;
	char reason[200];
};

/* May it be a trace? */
bool lines_are(const void *data, size_t bytes);
/* Nothing is kept of the bytes. False: reason says why. */
bool lines_open(struct lines_history *lines, const void *data, size_t bytes);
/* As recording_next(). */
bool lines_next(struct lines_history *lines, struct recording_event *event_out);
/* The path of a tag; NULL: there is none. */
const char *lines_tag(const struct lines_history *lines, uint16_t number);
void lines_close(struct lines_history *lines);

#endif
