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

/* number, key in JSON, words */
#define PRINT_KIND_LIST(X)                                                     \
	X(LIVE, "live", "live when its pool began to be recorded")             \
	X(ALLOC, "alloc", "allocated")                                         \
	X(FREE, "free", "freed")                                               \
	X(USE, "use", "used by another stream")                                \
	X(RESIZE, "resize", "resized")                                         \
	X(POOL, "pool", "pools")                                               \
	X(POOL_END, "pool_end", "pools that were destroyed")                   \
	X(GROW, "grow", "memory taken from the driver")                        \
	X(SHRINK, "shrink", "memory given back to the driver")                 \
	X(MOVE, "move", "pages moved from free blocks")                        \
	X(LEND, "lend", "pages moved from free blocks of a busy stream")       \
	X(TRANSFER, "transfer", "free memory moved from another stream")       \
	X(WAIT, "wait", "allocations that waited for the device")              \
	X(TRIM, "trim", "trims")                                               \
	X(OOM, "oom", "allocations out of memory")                             \
	X(DROP, "drop", "streams forgotten")                                   \
	X(MAP, "map", "memory mapped at addresses")                            \
	X(UNMAP, "unmap", "addresses without memory from then on")

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
