/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Between the files of gpumem-trace.
 */
#ifndef GPUMEM_TOOLS_TRACE_TRACE_H
#define GPUMEM_TOOLS_TRACE_TRACE_H

#include "common/history.h"

#include <stdio.h>

enum trace_format { TRACE_SUMMARY, TRACE_TEXT };

struct trace_config {
	const char *file;
	const char *output; /* NULL: standard output */
	enum trace_format format;
	bool json;
};

/* The recording, and where it was read to. */
struct trace_source {
	const struct trace_config *config;
	void *data;
	size_t bytes;
	struct recording recording;
	/* What was not as it should be, once all is read. */
	uint64_t unknown, unended;
};

/* input.c: reads and checks it; false, and told, if it can't be. "-" is
 * standard input; what gzip made is understood. */
bool trace_open(struct trace_source *source, const struct trace_config *config);
void trace_close(struct trace_source *source);
/* Gives all its events to fn; false, and told, if memory ran out. */
bool trace_each(struct trace_source *source, history_fn fn, void *user);

/* write.c: to the file, or standard output; false, and told. */
bool trace_write(struct trace_source *source);

/* text.c: to an open file; false, and told, if that cannot be a trace. That it
 * was written is looked at later. */
bool trace_write_text(struct trace_source *source, FILE *out);

#endif
