/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See own.h. All is done in the folder that was opened first, so that both
 * names are of one folder, whatever is renamed meanwhile. A lock on the old
 * file tells that another process writes to it; it is looked at again just
 * before the name changes hands, for two may have begun at once.
 */
#include "own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	PATH_BYTES = 4096,
	TRIES = 16,
	NO_REPLACE = 1 /* RENAME_NOREPLACE, which not every libc declares */
};

static bool refuse(struct gm_own *own, const char *why)
{
	snprintf(own->why, sizeof(own->why), "%s", why);
	return false;
}

static bool refuse_errno(struct gm_own *own)
{
	return refuse(own, strerror(errno));
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void start(struct gm_own *own)
{
	own->folder = own->fd = own->old = -1;
	own->busy = own->absent = false;
	own->name[0] = own->made[0] = own->why[0] = '\0';
}

/* The folder, opened, and the name in it. */
static bool open_folder(struct gm_own *own, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t length = (size_t)(name - path);
	char folder[PATH_BYTES];

	if (!*name)
		return refuse(own, *path ? "it is no ordinary file"
					 : "the name is empty");
	if (length >= sizeof(folder) || strlen(name) >= sizeof(own->name)) {
		errno = ENAMETOOLONG;
		return refuse_errno(own);
	}
	strcpy(own->name, name);
	memcpy(folder, path, length);
	strcpy(folder + length, length ? "" : ".");
	own->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return own->folder >= 0 || refuse_errno(own);
}

/* ---- what has the name already ---- */

static bool is_ordinary(struct gm_own *own, const struct stat *about)
{
	if (S_ISLNK(about->st_mode))
		return refuse(own, "it is a symbolic link, which is not "
				   "followed");
	return S_ISREG(about->st_mode) || refuse(own, "it is no ordinary file");
}

/* The owner is that of what we make here: a file server may have one for all.
 */
static bool is_ours(struct gm_own *own, const struct stat *about)
{
	struct stat made;

	if (!is_ordinary(own, about))
		return false;
	if (fstat(own->fd, &made))
		return refuse_errno(own);
	return about->st_uid == made.st_uid ||
	       refuse(own, "it is a file of another user");
}

static bool lock(struct gm_own *own, int fd)
{
	own->busy = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
	return !own->busy || refuse(own, "another process is writing it");
}

/* What has the name is, or becomes, `old`; none: -1. */
static bool look(struct gm_own *own, struct stat *about)
{
	int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

	close_one(&own->old);
	if (fstatat(own->folder, own->name, about, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT || refuse_errno(own);
	if (!is_ours(own, about))
		return false;
	own->old = openat(own->folder, own->name, flags);
	if (own->old < 0 || fstat(own->old, about))
		return refuse_errno(own);
	return is_ours(own, about) && lock(own, own->old);
}

/* ---- the new file ---- */

static bool make(struct gm_own *own, mode_t mode)
{
	int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	struct timespec now;

	for (unsigned i = 0; i < TRIES && own->fd < 0; i++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		snprintf(own->made, sizeof(own->made), ".gpumem-%ld-%llx",
			 (long)getpid(),
			 (unsigned long long)now.tv_sec * 1000000000u +
				 (unsigned long long)now.tv_nsec);
		own->fd = openat(own->folder, own->made, flags, mode);
		if (own->fd < 0 && errno != EEXIST)
			break;
	}
	return own->fd >= 0 || refuse_errno(own);
}

/* Who could read the old one may read this one; a group of another name is
 * another group. */
static void take_mode(const struct gm_own *own, const struct stat *old)
{
	struct stat made;
	mode_t mode = old->st_mode & 0777;

	if (fstat(own->fd, &made) || made.st_gid != old->st_gid)
		mode &= 0707;
	(void)!fchmod(own->fd, mode);
}

bool gm_own_begin(struct gm_own *own, const char *path, mode_t mode)
{
	struct stat about;

	start(own);
	if (open_folder(own, path) && make(own, mode) && lock(own, own->fd) &&
	    look(own, &about)) {
		if (own->old >= 0)
			take_mode(own, &about);
		return true;
	}
	gm_own_drop(own);
	return false;
}

static void end(struct gm_own *own)
{
	close_one(&own->old);
	close_one(&own->folder);
}

void gm_own_drop(struct gm_own *own)
{
	if (own->fd >= 0)
		(void)!unlinkat(own->folder, own->made, 0);
	close_one(&own->fd);
	end(own);
}

/* ---- the name ---- */

static bool is_still(const struct gm_own *own, const struct stat *old)
{
	struct stat now;

	return !fstatat(own->folder, own->name, &now, AT_SYMLINK_NOFOLLOW) &&
	       now.st_dev == old->st_dev && now.st_ino == old->st_ino;
}

static int rename_new(const struct gm_own *own)
{
	int failed = (int)syscall(SYS_renameat2, own->folder, own->made,
				  own->folder, own->name, NO_REPLACE);

	/* A file system, or a kernel, that does not know how. */
	if (failed && (errno == EINVAL || errno == ENOSYS))
		failed = renameat(own->folder, own->made, own->folder,
				  own->name);
	return failed;
}

bool gm_own_keep(struct gm_own *own)
{
	struct stat old;
	bool kept = false;

	errno = EEXIST;
	for (unsigned i = 0; i < TRIES && !kept && errno == EEXIST; i++) {
		if (!look(own, &old)) {
			gm_own_drop(own);
			return false;
		}
		if (own->old < 0)
			kept = !rename_new(own);
		else if (is_still(own, &old))
			kept = !renameat(own->folder, own->made, own->folder,
					 own->name);
		else
			errno = EEXIST;
	}
	if (!kept) {
		refuse_errno(own);
		gm_own_drop(own);
		return false;
	}
	end(own);
	return true;
}

bool gm_own_try(struct gm_own *own, const char *path)
{
	if (!gm_own_begin(own, path, 0600))
		return false;
	gm_own_drop(own);
	return true;
}

/* ---- at the end of what is there ---- */

static bool may_append(struct gm_own *own, int fd)
{
	struct stat about;

	if (fstat(fd, &about))
		return refuse_errno(own);
	if (!is_ordinary(own, &about))
		return false;
	if (about.st_uid != geteuid())
		return refuse(own, "it is a file of another user");
	return about.st_nlink <= 1 ||
	       refuse(own, "it is a file with several names");
}

int gm_own_append(struct gm_own *own, const char *path, bool make)
{
	int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
		    O_NOFOLLOW | (make ? O_CREAT : 0);
	int fd = open(path, flags, 0600);

	start(own);
	if (fd >= 0 && may_append(own, fd))
		return fd;
	own->absent = fd < 0 && errno == ENOENT;
	if (fd < 0 && errno == ELOOP)
		refuse(own, "it is a symbolic link, which is not followed");
	else if (fd < 0 && errno == ENXIO)
		refuse(own, "it is no ordinary file");
	else if (fd < 0)
		refuse_errno(own);
	close_one(&fd);
	return -1;
}
