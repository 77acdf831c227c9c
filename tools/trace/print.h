/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The summary as text and as JSON, which have the same facts.
 */
#ifndef GPUMEM_TOOLS_TRACE_PRINT_H
#define GPUMEM_TOOLS_TRACE_PRINT_H

#include "summary.h"
#include "trace.h"

#include "common/json.h"

/* kind, words; its key in JSON is gpumem_record_kind_name() */
#define PRINT_KIND_LIST(X)                                                     \
	X(LIVE, "live when its pool began to be recorded")                     \
	X(ALLOC, "allocated")                                                  \
	X(FREE, "freed")                                                       \
	X(USE, "used by another stream")                                       \
	X(RESIZE, "resized")                                                   \
	X(POOL, "pools")                                                       \
	X(POOL_END, "pools that were destroyed")                               \
	X(GROW, "memory taken from the driver")                                \
	X(SHRINK, "memory given back to the driver")                           \
	X(MOVE, "pages moved from free blocks")                                \
	X(LEND, "pages moved from free blocks of a busy stream")               \
	X(TRANSFER, "free memory moved from another stream")                   \
	X(WAIT, "allocations that waited for the device")                      \
	X(TRIM, "trims")                                                       \
	X(OOM, "allocations out of memory")                                    \
	X(DROP, "streams forgotten")                                           \
	X(MAP, "memory mapped at addresses")                                   \
	X(UNMAP, "addresses without memory from then on")                      \
	X(SLEEP, "sleeps")                                                     \
	X(WAKE, "wakes")

/* When it began; "": not known. */
#define PRINT_DATE 64
void print_date(const struct trace_source *source, char when_out[PRINT_DATE]);
double print_seconds(uint64_t ns);
/* From the beginning to the end; of one that has none, to the last event. */
double print_duration(const struct trace_source *source,
		      const struct summary *summary);

/* For people: what was recorded, and what is missing. For programs: the same.
 */
void print_about(const struct trace_source *source,
		 const struct summary *summary);
void print_json_about(json_t *root, const struct trace_source *source,
		      const struct summary *summary, bool *ok);

bool print_text(const struct trace_source *source,
		const struct summary *summary);
bool print_json(const struct trace_source *source,
		const struct summary *summary);

#endif
