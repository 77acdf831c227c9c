/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See file.h.
 */
#include "file.h"

#include "tool.h"

#include <errno.h>
#include <gpumem/record.h>
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

static bool write_file(const char *path, file_fn fn, void *user)
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
	ok = fn(out, user);
	errno = 0;
	if (ok && (fflush(out) || ferror(out)))
		ok = fail_errno(path);
	if (fclose(out) && ok)
		ok = fail_errno(path);
	return ok;
}

bool file_write(const char *path, file_fn fn, void *user)
{
	return path && strcmp(path, "-") ? write_file(path, fn, user)
					 : fn(stdout, user);
}
