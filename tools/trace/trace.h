/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Between the files of gpumem-trace.
 */
#ifndef GPUMEM_TOOLS_TRACE_TRACE_H
#define GPUMEM_TOOLS_TRACE_TRACE_H

#include "common/history.h"
#include "common/lines.h"
#include "common/torch.h"

#include <stdio.h>

enum trace_format { TRACE_SUMMARY, TRACE_TEXT, TRACE_CHROME, TRACE_PYTORCH };

struct trace_config {
	const char *file;
	const char *output; /* NULL: standard output */
	enum trace_format format;
	uint64_t from_ns, until_ns; /* since the recording began */
	uint64_t min_bytes, stream;
	const char *pool; /* a name or number; NULL: all */
	const bool *only; /* of these, by number, as well; NULL: all */
	bool one_stream, anonymise, json;
	bool or_text; /* the file may be a trace as well */
};

/* The recording, and where it was read to. Of a snapshot of PyTorch's, and of a
 * trace, only the header of one is there, with what is known. */
struct trace_source {
	const struct trace_config *config;
	void *data;
	size_t bytes;
	struct recording recording;
	struct torch_history torch;
	struct lines_history lines;
	bool is_torch, is_text;
	/* What was not as it should be, once all is read. */
	uint64_t unknown, unended;
	bool begun;
};

/* input.c: reads and checks it; false, and told, if it can't be. "-" is
 * standard input; what gzip made is understood. */
bool trace_open(struct trace_source *source, const struct trace_config *config);
/* The same of what a file had, from malloc(): it is the source's now. NULL, or
 * why not; trace_close() is right all the same. */
const char *trace_open_memory(struct trace_source *source,
			      const struct trace_config *config, void *data,
			      size_t bytes);
void trace_close(struct trace_source *source);
/* What it says of a pool, as far as that may be told; of a device of PyTorch's
 * nothing but its number, below. */
struct recording_pool trace_pool(const struct trace_source *source,
				 uint16_t number);
const char *trace_tag(const struct trace_source *source, uint16_t number);
/* All that are there. */
const struct recording_stacks *trace_stacks(const struct trace_source *source);
/* NULL: it is not there, or may not be told. */
const struct recording_stack *trace_stack(const struct trace_source *source,
					  uint64_t number);

/* The number of the device of a pool, as it is written behind the colon; of a
 * snapshot's pinned memory TORCH_DEVICES more. */
unsigned trace_device(const struct trace_source *source, uint16_t pool);

/* each.c: gives the events that were asked for to fn, and then, unless live is
 * NULL, those of their blocks that are live at the end to it; streams are
 * numbered as they come, the default stream is 0. May be called again. False:
 * one of them stopped, or memory ran out, which is told. */
bool trace_each(struct trace_source *source, history_fn fn,
		history_live_fn live, void *user);

/* write.c: to the file, or standard output; false, and told. */
bool trace_write(struct trace_source *source);

/* text.c, chrome.c, pytorch.c: to an open file; false, and told, if it cannot
 * be made. That it was written is looked at later. */
bool trace_write_text(struct trace_source *source, FILE *out);
bool trace_write_chrome(struct trace_source *source, FILE *out);
bool trace_write_pytorch(struct trace_source *source, FILE *out);

#endif
