/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which numbers our descriptors have. The system gives the lowest that is free:
 * in a program that was started with a standard stream closed, that stream's,
 * and then what the program prints goes into our file. So each descriptor that
 * a backend opens or hands out is moved to 3 or above, and one that it keeps to
 * a high number, away from those that a program soon opens, or closes without
 * knowing whose they are. Keeps nothing; no lock.
 */
#ifndef GM_DESCRIPTOR_H
#define GM_DESCRIPTOR_H

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { GM_DESCRIPTOR_LEAST = 3, GM_DESCRIPTOR_HIGH = 512 };

/* A duplicate, closed on exec, numbered `floor` or above, or where none is free
 * there GM_DESCRIPTOR_LEAST or above. -1 and errno: no number is free. */
static inline int gm_descriptor_copy(int fd, int floor)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, floor);

	/* EINVAL: the limit is below the floor. */
	if (copy < 0 && (errno == EMFILE || errno == EINVAL) &&
	    floor > GM_DESCRIPTOR_LEAST)
		copy = fcntl(fd, F_DUPFD_CLOEXEC, GM_DESCRIPTOR_LEAST);
	return copy;
}

/* Gives it another number as gm_descriptor_copy() does, unless it is there
 * already or nothing better is free. fd is closed in every other case. -1 and
 * errno: fd was -1, with that errno, or there is no number for it. */
static inline int gm_descriptor_move(int fd, int floor)
{
	int moved, error;

	if (fd < 0 || fd >= floor)
		return fd;
	moved = gm_descriptor_copy(fd, floor);
	if (moved < 0 && fd >= GM_DESCRIPTOR_LEAST)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return moved;
}

/* The least number of a descriptor that is kept: half of what the process may
 * have, and GM_DESCRIPTOR_HIGH at most, since the system's table of a process
 * reaches to the highest. */
static inline int gm_descriptor_floor(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) ||
	    limit.rlim_cur >= 2 * (rlim_t)GM_DESCRIPTOR_HIGH)
		return GM_DESCRIPTOR_HIGH;
	if (limit.rlim_cur < 2 * (rlim_t)GM_DESCRIPTOR_LEAST)
		return GM_DESCRIPTOR_LEAST;
	return (int)(limit.rlim_cur / 2);
}

#endif
