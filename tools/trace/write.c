/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The recording in another format.
 */
#include "trace.h"

#include "common/file.h"

static bool write_format(FILE *out, void *user)
{
	struct trace_source *source = user;

	switch (source->config->format) {
	case TRACE_CHROME:
		return trace_write_chrome(source, out);
	case TRACE_PYTORCH:
		return trace_write_pytorch(source, out);
	default:
		return trace_write_text(source, out);
	}
}

bool trace_write(struct trace_source *source)
{
	return file_write(source->config->output, write_format, source);
}
