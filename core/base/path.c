/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See path.h. */
#include "path.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

bool gm_path_expand(const char *path, char *name, size_t bytes)
{
	size_t used = 0;

	for (; *path && used + 1 < bytes; path++) {
		if (path[0] != '%' || path[1] != 'p') {
			name[used++] = *path;
			continue;
		}
		used += (size_t)snprintf(name + used, bytes - used, "%ld",
					 (long)getpid());
		path++;
	}
	if (*path || used >= bytes)
		return false;
	name[used] = '\0';
	return true;
}

static bool expand(struct gm_own *own, const char *path, char *name)
{
	bool fits = gm_path_expand(path, name, GM_PATH_BYTES);

	if (!fits)
		snprintf(own->why, sizeof(own->why), "the name is too long");
	return fits;
}

/* False: as much as fits on the disk. */
static bool write_all(int fd, const char *text, size_t bytes)
{
	while (bytes) {
		ssize_t written = write(fd, text, bytes);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		text += written;
		bytes -= (size_t)written;
	}
	return true;
}

/* Past the limit a write would end the program by a signal. */
static bool fits_limit(const struct stat *about, size_t bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY ||
	    (uint64_t)about->st_size + bytes <= limit.rlim_cur)
		return true;
	errno = EFBIG;
	return false;
}

static void say_errno(struct gm_own *own)
{
	snprintf(own->why, sizeof(own->why), "%s", strerror(errno));
}

/* What is written in part goes again: a full disk leaves whole lines. */
static bool add(struct gm_own *own, int fd, const char *text, size_t bytes)
{
	struct stat about;

	if (fstat(fd, &about) || !fits_limit(&about, bytes)) {
		say_errno(own);
		return false;
	}
	if (write_all(fd, text, bytes))
		return true;
	say_errno(own);
	(void)!ftruncate(fd, about.st_size);
	return false;
}

bool gm_path_add(struct gm_own *own, const char *path, const char *text,
		 size_t bytes)
{
	char name[GM_PATH_BYTES];
	bool done;
	int fd;

	if (!expand(own, path, name))
		return false;
	fd = gm_own_append(own, name, true);
	if (fd < 0)
		return false;
	done = add(own, fd, text, bytes);
	close(fd);
	return done;
}

bool gm_path_try(struct gm_own *own, const char *path)
{
	char name[GM_PATH_BYTES];

	return expand(own, path, name) && gm_own_try(own, name);
}

bool gm_path_try_add(struct gm_own *own, const char *path)
{
	char name[GM_PATH_BYTES];
	int fd;

	if (!expand(own, path, name))
		return false;
	fd = gm_own_append(own, name, false);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || (own->absent && gm_own_try(own, name));
}
