/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * From a name to the exporter's memory file. The sender of a name chooses the
 * process and the descriptor, so this process, which may open more than the
 * sender, must not be led to open something else: the process has to belong to
 * the same user, and the file is looked at through a descriptor with which
 * nothing can be read, written or set off, before it is opened. Keeps nothing;
 * no lock.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_device.h"
#include "host_ipc.h"
#include "../common/descriptor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static gpumem_status gone(const struct host_name *name)
{
	return gm_host_fail(GPUMEM_INVALID,
			    "process %d, which shares it, has ended, closed "
			    "its device, or does not share its files",
			    (int)name->pid);
}

static gpumem_status no_memory(const struct host_name *name)
{
	return gm_host_fail(GPUMEM_INVALID,
			    "descriptor %d of process %d is no memory of a "
			    "simulated device that has this name",
			    (int)name->fd, (int)name->pid);
}

static int open_at(int folder, const char *path, int flags)
{
	return gm_descriptor_move(openat(folder, path, flags | O_CLOEXEC),
				  GM_DESCRIPTOR_LEAST);
}

/* The effective user of a process, by its folder under /proc. The owner of that
 * folder is root whatever the user, when the process may not be traced. */
static bool user_of(int folder, unsigned *user_out)
{
	int fd = open_at(folder, "status", O_RDONLY);
	char text[1024] = "";
	const char *line;
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	line = got > 0 ? strstr(text, "\nUid:") : NULL;
	return line && sscanf(line, "\nUid: %*u %u", user_out) == 1;
}

/* The folder stands for that process, and for no later one of its number. */
static gpumem_status find_process(const struct host_name *name, int *folder_out)
{
	gpumem_status status = GPUMEM_OK;
	unsigned user = 0;
	char path[32];
	int folder;

	snprintf(path, sizeof(path), "/proc/%d", (int)name->pid);
	folder = open_at(AT_FDCWD, path, O_PATH | O_DIRECTORY);
	if (folder < 0)
		return gone(name);
	if (!user_of(folder, &user))
		status = gone(name);
	else if (user != geteuid())
		status =
			gm_host_fail(GPUMEM_INVALID,
				     "process %d, which shares it, is that of "
				     "another user, %u: share descriptors with "
				     "other users",
				     (int)name->pid, user);
	if (status == GPUMEM_OK)
		*folder_out = folder;
	else
		close(folder);
	return status;
}

/* What is behind `look`, which was opened with O_PATH, is a device's memory. */
static bool is_memory(const struct host_name *name, int look, uint64_t key[2])
{
	struct stat file;

	return !fstat(look, &file) && S_ISREG(file.st_mode) &&
	       file.st_ino == name->inode &&
	       (uint64_t)file.st_size >= name->offset + name->span &&
	       gm_host_key_of(look, key) &&
	       gm_host_name_tag(name, key) == name->tag;
}

static gpumem_status open_memory(const struct host_name *name, int look,
				 struct host_file *file_out)
{
	struct host_file file;
	gpumem_status status;
	uint64_t key[2];
	char path[32];
	int fd;

	if (!is_memory(name, look, key))
		return no_memory(name);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", look);
	fd = open_at(AT_FDCWD, path, O_RDWR);
	if (fd < 0)
		return gone(name);
	status = gm_host_file_keep(fd, &file);
	if (status != GPUMEM_OK)
		return status;
	if (gm_host_file_is_sealed(file.fd, HOST_SEALS_DEVICE)) {
		*file_out = file;
		return GPUMEM_OK;
	}
	gm_host_file_close(&file);
	return no_memory(name);
}

gpumem_status gm_host_name_open(const struct host_name *name,
				struct host_file *file_out)
{
	int folder = -1, look;
	gpumem_status status = find_process(name, &folder);
	char path[32];

	if (status != GPUMEM_OK)
		return status;
	snprintf(path, sizeof(path), "fd/%d", (int)name->fd);
	look = open_at(folder, path, O_PATH);
	close(folder);
	if (look < 0)
		return gone(name);
	status = open_memory(name, look, file_out);
	close(look);
	return status;
}
