/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See file.h. Who names a descriptor that is open, or a device, means that: it
 * is written to as it is.
 */
#include "file.h"

#include "base/own.h"
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <gpumem/record.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool is_kept(const char *path)
{
	if (!is_recording(path))
		return false;
	tool_error("%s: it is a recording, which is not overwritten", path);
	return true;
}

/* ---- what is no file: the user has it open, or it is a device ---- */

/* The descriptor that the name is one of; -1: it is none. */
static int descriptor_of(const char *path)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	uint64_t number;

	if (!strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		size_t length = strlen(folders[i]);

		if (!strncmp(path, folders[i], length) &&
		    tool_parse_count(path + length, INT_MAX, &number))
			return (int)number;
	}
	return -1;
}

static bool is_stream(const char *path)
{
	struct stat about;

	return descriptor_of(path) >= 0 ||
	       (!lstat(path, &about) && S_ISCHR(about.st_mode));
}

static int open_stream(const char *path)
{
	int number = descriptor_of(path);

	return number >= 0 ? fcntl(number, F_DUPFD_CLOEXEC, 0)
			   : open(path,
				  O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
}

/* ---- writing ---- */

/* What failed before errno was set was told by fn. */
static bool fill(const char *path, FILE *out, file_fn fn, void *user)
{
	bool ok = fn(out, user);

	errno = 0;
	return ok && ((!fflush(out) && !ferror(out)) || fail_errno(path));
}

/* Closes the descriptor: what some file systems could not write is told then.
 */
static bool write_to(const char *path, int fd, file_fn fn, void *user)
{
	FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
	bool ok;

	if (!out) {
		fail_errno(path);
		if (fd >= 0)
			close(fd);
		return false;
	}
	ok = fill(path, out, fn, user);
	if (fclose(out) && ok)
		ok = fail_errno(path);
	return ok;
}

static bool fail_own(const char *path, const struct gm_own *own)
{
	tool_error("%s: %s", path, own->why);
	return false;
}

static bool write_file(const char *path, file_fn fn, void *user)
{
	struct gm_own own;

	if (is_kept(path))
		return false;
	if (!gm_own_begin(&own, path, 0666))
		return fail_own(path, &own);
	if (!write_to(path, fcntl(own.fd, F_DUPFD_CLOEXEC, 0), fn, user)) {
		gm_own_drop(&own);
		return false;
	}
	if (!gm_own_keep(&own))
		return fail_own(path, &own);
	close(own.fd);
	return true;
}

bool file_write(const char *path, file_fn fn, void *user)
{
	if (!path || !strcmp(path, "-"))
		return fn(stdout, user);
	return is_stream(path) ? write_to(path, open_stream(path), fn, user)
			       : write_file(path, fn, user);
}

bool file_try(const char *path)
{
	struct gm_own own;

	if (!strcmp(path, "-") || is_stream(path))
		return true;
	return !is_kept(path) &&
	       (gm_own_try(&own, path) || fail_own(path, &own));
}
