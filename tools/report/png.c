/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A picture as PNG: rsvg-convert of librsvg makes it of the SVG, in a process
 * of its own, so that nothing is linked for it.
 */
#include "report.h"

#include "common/process.h"
#include "common/tool.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct converting {
	file_fn write;
	void *user;
};

/* It has told why, if it failed. */
static bool convert(FILE *svg, FILE *out)
{
	/* Twice the size: 300 pixels an inch on a page of 6 inches. */
	char *argv[] = {"rsvg-convert", "--format=png", "--zoom=2",
			"--background-color=white", NULL};
	int error, code = 0;

	if (fflush(svg) || ferror(svg) || lseek(fileno(svg), 0, SEEK_SET) ||
	    fflush(out)) {
		tool_error("%s", strerror(errno));
		return false;
	}
	error = process_run(argv, fileno(svg), fileno(out), false, &code);
	if (error == ENOENT)
		tool_error("--png: it needs rsvg-convert, which is not "
			   "installed (Debian's librsvg2-bin)");
	else if (error)
		tool_error("rsvg-convert: %s", strerror(error));
	else if (code)
		tool_error("rsvg-convert could not make the PNG");
	return !error && !code;
}

static bool write_png(FILE *out, void *user)
{
	const struct converting *converting = user;
	FILE *svg = tmpfile();
	bool ok;

	if (!svg) {
		tool_error("a temporary file: %s", strerror(errno));
		return false;
	}
	ok = converting->write(svg, converting->user) && convert(svg, out);
	fclose(svg);
	return ok;
}

bool report_write(const struct report_config *config, file_fn write, void *user)
{
	struct converting converting = {write, user};

	return config->format == REPORT_PNG
		       ? file_write(config->output, write_png, &converting)
		       : file_write(config->output, write, user);
}
