/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Whether a file has what was asked of it: a pool, a stream, a time. No locks.
 */
#ifndef GPUMEM_TOOLS_TRACE_ASKED_H
#define GPUMEM_TOOLS_TRACE_ASKED_H

#include "trace.h"

/* Of all that was read, whether it is given to anybody or not. */
struct asked {
	const struct trace_source *source;
	struct trace_ids streams; /* of blocks that begin in those pools */
	uint64_t last_ns,
		first_after; /* first_after: the lowest no stream has */
	bool has_pool, late; /* late: more would come, after --until */
};

/* Was this pool asked for? */
bool asked_pool(const struct trace_source *source, uint16_t pool);
void asked_init(struct asked *asked, const struct trace_source *source);
/* False: out of memory. Streams have the numbers that are shown. */
bool asked_note(struct asked *asked, const struct recording_event *event);
/* False, and told: the file ends before it was to begin. */
bool asked_time(const struct asked *asked);
/* All is read. False, and told: it has no such pool or stream. */
bool asked_found(const struct asked *asked);
void asked_free(struct asked *asked);

#endif
