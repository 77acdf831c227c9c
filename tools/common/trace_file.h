/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Trace files: reads them through zlib, plain or gzip'ed, and feeds a parser.
 * Prints nothing but the progress bar.
 */
#ifndef GPUMEM_TOOLS_TRACE_FILE_H
#define GPUMEM_TOOLS_TRACE_FILE_H

#include "trace.h"

enum trace_result {
	TRACE_OK,
	TRACE_BAD,    /* error->text says "FILE:LINE: REASON" */
	TRACE_STOPPED /* the function returned false */
};

struct trace_error {
	char text[512];
};

/* Reads the file ("-": standard input) and calls fn for each event.
 * totals_out is written in any case. The divisor: see trace_parser_init(). */
enum trace_result trace_read(const char *path, uint64_t divisor,
			     trace_event_fn fn, void *user,
			     struct trace_totals *totals_out,
			     struct trace_error *error);

/* A whole trace in memory, 28 bytes an event. */
struct trace {
	struct trace_event *events;
	uint32_t *lines; /* where each event stood */
	uint64_t count, room;
	struct trace_totals totals;
};

/* False: error->text says why; nothing is kept. */
bool trace_load(const char *path, uint64_t divisor, struct trace *trace_out,
		struct trace_error *error);
void trace_free(struct trace *trace);

#endif
