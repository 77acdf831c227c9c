/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The file that is written, or standard output. What is there keeps its content
 * until all that is needed was read; a recording is never overwritten, for its
 * program may be running, and cutting the file would end it.
 */
#include "trace.h"

#include "common/tool.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static bool fail_errno(const char *path)
{
	tool_error("%s: %s", path,
		   errno ? strerror(errno) : "it could not be written");
	return false;
}

static bool is_recording(const char *path)
{
	char magic[sizeof(GPUMEM_RECORD_MAGIC) - 1];
	struct stat about;
	FILE *file;
	bool is;

	if (stat(path, &about) || !S_ISREG(about.st_mode))
		return false;
	file = fopen(path, "rbe");
	if (!file)
		return false;
	is = fread(magic, 1, sizeof(magic), file) == sizeof(magic) &&
	     !memcmp(magic, GPUMEM_RECORD_MAGIC, sizeof(magic));
	fclose(file);
	return is;
}

static bool write_format(struct trace_source *source, FILE *out)
{
	switch (source->config->format) {
	case TRACE_CHROME:
		return trace_write_chrome(source, out);
	case TRACE_PYTORCH:
		return trace_write_pytorch(source, out);
	default:
		return trace_write_text(source, out);
	}
}

static bool write_file(struct trace_source *source, const char *path)
{
	FILE *out;
	bool ok;

	if (is_recording(path)) {
		tool_error("%s: it is a recording, which is not overwritten",
			   path);
		return false;
	}
	out = fopen(path, "wbe");
	if (!out)
		return fail_errno(path);
	ok = write_format(source, out);
	errno = 0;
	if (ok && (fflush(out) || ferror(out)))
		ok = fail_errno(path);
	if (fclose(out) && ok)
		ok = fail_errno(path);
	return ok;
}

bool trace_write(struct trace_source *source)
{
	const char *path = source->config->output;

	return path && strcmp(path, "-") ? write_file(source, path)
					 : write_format(source, stdout);
}
