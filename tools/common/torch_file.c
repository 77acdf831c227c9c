/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A snapshot of PyTorch's in a file, which may be larger than memory: it is
 * read twice, and a part of it is there at a time. What gzip made is
 * understood. What cannot be read twice, a pipe, is torch_open()'s. No locks.
 */
#include "torch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

static size_t read_some(void *to, size_t bytes, void *user)
{
	int got = gzread(user, to, (unsigned)bytes);

	return got > 0 ? (size_t)got : 0;
}

static bool rewind_file(void *user)
{
	return !gzrewind(user);
}

/* What the driver of the disk, or gzip, has to say is the reason then. */
static void tell_broken(struct torch_history *history, gzFile file)
{
	int number;
	const char *reason = NULL;

	(void)gzerror(file, &number);
	if (number == Z_BUF_ERROR)
		reason = "the file is cut off: gzip data ends too early";
	else if (number == Z_ERRNO)
		reason = strerror(errno);
	else if (number != Z_OK && number != Z_STREAM_END)
		reason = "damaged gzip data";
	if (reason)
		snprintf(history->reason, sizeof(history->reason), "%s",
			 reason);
}

static gzFile open_snapshot(const char *path)
{
	unsigned char head[2];
	struct stat about;
	gzFile file = NULL;

	if (strcmp(path, "-") && !stat(path, &about) && S_ISREG(about.st_mode))
		file = gzopen(path, "rb");
	if (!file)
		return NULL;
	gzbuffer(file, 1 << 17);
	if (gzread(file, head, sizeof(head)) == sizeof(head) &&
	    torch_is_pickle(head, sizeof(head)) && !gzrewind(file))
		return file;
	gzclose_r(file);
	return NULL;
}

enum torch_file torch_open_file(struct torch_history *history, const char *path)
{
	gzFile file = open_snapshot(path);
	const struct unpickle_input input = {
		.read = read_some, .rewind = rewind_file, .user = file};
	bool ok;

	if (!file)
		return TORCH_FILE_NONE;
	ok = torch_open_input(history, &input);
	if (!ok)
		tell_broken(history, file);
	gzclose_r(file);
	return ok ? TORCH_FILE_OPEN : TORCH_FILE_BAD;
}
