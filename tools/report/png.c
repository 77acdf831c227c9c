/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A picture as PNG: rsvg-convert of librsvg makes it of the SVG, in a process
 * of its own, so that nothing is linked for it.
 */
#include "report.h"

#include "common/tool.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct converting {
	file_fn write;
	void *user;
};

/* 0, or an errno. */
static int start(int from, int to, pid_t *pid_out)
{
	/* Twice the size: 300 pixels an inch on a page of 6 inches. */
	char *argv[] = {"rsvg-convert", "--format=png", "--zoom=2",
			"--background-color=white", NULL};
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	error = posix_spawn_file_actions_adddup2(&actions, from, 0);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, to, 1);
	if (!error)
		error = posix_spawnp(pid_out, argv[0], &actions, NULL, argv,
				     environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* It has told why, if it failed. */
static bool finish(pid_t pid)
{
	int code = 0;

	while (waitpid(pid, &code, 0) < 0)
		if (errno != EINTR)
			return false;
	if (!code)
		return true;
	tool_error("rsvg-convert could not make the PNG");
	return false;
}

static bool convert(FILE *svg, FILE *out)
{
	pid_t pid;
	int error;

	if (fflush(svg) || ferror(svg) || lseek(fileno(svg), 0, SEEK_SET) ||
	    fflush(out)) {
		tool_error("%s", strerror(errno));
		return false;
	}
	error = start(fileno(svg), fileno(out), &pid);
	if (error == ENOENT)
		tool_error("--png: it needs rsvg-convert, which is not "
			   "installed (Debian's librsvg2-bin)");
	else if (error)
		tool_error("rsvg-convert: %s", strerror(error));
	return !error && finish(pid);
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
