/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The files that the simulated device's memory is in. A program that closes
 * descriptors without knowing whose they are, as daemons do, closes these too,
 * and a number of ours is then a file of its own: so before each use it is
 * looked at whether the number still stands for the file that we made. Of a
 * program that closes while we use, nothing is safe. Keeps nothing; no lock.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_device.h"
#include "../common/descriptor.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* Of Linux 6.3, and of later headers than these may be. */
#ifndef F_SEAL_EXEC
#define F_SEAL_EXEC 0x20
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

gpumem_status gm_host_file_keep(int fd, struct host_file *file_out)
{
	struct host_file file;
	struct stat look;

	file.fd = gm_descriptor_move(fd, gm_descriptor_floor());
	if (file.fd < 0)
		return gm_host_fail_system(
			errno, "a descriptor (ulimit -n bounds them)");
	if (fstat(file.fd, &look) < 0) {
		int error = errno;

		close(file.fd);
		return gm_host_fail_system(error, "a look at a memory file");
	}
	file.device = look.st_dev;
	file.inode = look.st_ino;
	*file_out = file;
	return GPUMEM_OK;
}

/* Nobody is to execute it, and a system may refuse any file that could be
 * (sysctl vm.memfd_noexec). Linux before 6.3 does not know the flag. */
static int make_file(const char *name)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags);
	return fd;
}

gpumem_status gm_host_file_make(const char *name, uint64_t bytes, int seals,
				struct host_file *file_out)
{
	int fd = make_file(name), error;

	if (fd < 0)
		return gm_host_fail_system(
			errno, "a memory file (ulimit -n bounds them)");
	if (!ftruncate(fd, (off_t)bytes) && !fcntl(fd, F_ADD_SEALS, seals))
		return gm_host_file_keep(fd, file_out);
	error = errno;
	close(fd);
	return gm_host_fail_system(error, "a memory file");
}

/* That it cannot be executed is sealed by the system where it is told to. */
bool gm_host_file_is_sealed(int fd, int seals)
{
	struct statfs system;
	int found = fcntl(fd, F_GET_SEALS);

	return found >= 0 && (found & ~F_SEAL_EXEC) == seals &&
	       !fstatfs(fd, &system) && system.f_type == TMPFS_MAGIC;
}

bool gm_host_file_name(int fd, char *name_out, size_t bytes)
{
	static const char before[] = "/memfd:", after[] = " (deleted)";
	char path[32], name[128];
	size_t length, first = strlen(before), last = strlen(after);
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	got = readlink(path, name, sizeof(name));
	length = got > 0 ? (size_t)got : 0;
	if (length <= first + last || length == sizeof(name) ||
	    length - first - last >= bytes || memcmp(name, before, first) ||
	    memcmp(name + length - last, after, last))
		return false;
	length -= first + last;
	memcpy(name_out, name + first, length);
	name_out[length] = '\0';
	return true;
}

static bool is_ours(const struct host_file *file)
{
	struct stat look;

	return !fstat(file->fd, &look) && look.st_dev == file->device &&
	       look.st_ino == file->inode;
}

gpumem_status gm_host_file_check(struct host_device *device,
				 const struct host_file *file)
{
	if (is_ours(file))
		return GPUMEM_OK;
	gm_host_lose(device);
	return gm_host_fail(GPUMEM_LOST,
			    "descriptor %d, a memory file of the simulated "
			    "device, was closed by the program: do not close "
			    "descriptors that others have opened",
			    file->fd);
}

void gm_host_file_close(const struct host_file *file)
{
	if (is_ours(file))
		close(file->fd);
}
