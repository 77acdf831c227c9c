/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Whether a library can be loaded into the program, by how its file begins: it
 * runs all the same, and the report says that it was not followed. Nothing of
 * what the program starts itself.
 */
#include "run.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { HEAD = 4096, SCRIPTS = 4 };

#if __ELF_NATIVE_CLASS == 64
#define OWN_CLASS ELFCLASS64
#else
#define OWN_CLASS ELFCLASS32
#endif

static bool is_program(const char *path)
{
	struct stat about;

	return !access(path, X_OK) && !stat(path, &about) &&
	       S_ISREG(about.st_mode);
}

/* As execvp() looks for it. */
static bool find(char *path, const char *command)
{
	const char *folders = getenv("PATH");

	if (strchr(command, '/'))
		return snprintf(path, RUN_PATH, "%s", command) < RUN_PATH &&
		       is_program(path);
	folders = folders ? folders : "/bin:/usr/bin";
	for (;;) {
		size_t length = strcspn(folders, ":");

		if (snprintf(path, RUN_PATH, "%.*s%s%s", (int)length, folders,
			     length ? "/" : "", command) < RUN_PATH &&
		    is_program(path))
			return true;
		if (!folders[length])
			return false;
		folders += length + 1;
	}
}

/* ---- an ELF file -----------------------------------------------------------
 */

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The path of the interpreter. False: it has none. */
static bool interpreter(char *path, int fd, const char *head)
{
	const ElfW(Ehdr) *elf = (const void *)head;
	ElfW(Phdr) part;

	for (unsigned i = 0; i < elf->e_phnum; i++) {
		off_t at = (off_t)(elf->e_phoff + i * sizeof(part));
		ssize_t bytes;

		if (pread(fd, &part, sizeof(part), at) != (ssize_t)sizeof(part))
			return false;
		if (part.p_type != PT_INTERP)
			continue;
		bytes = part.p_filesz < RUN_PATH
				? pread(fd, path, part.p_filesz,
					(off_t)part.p_offset)
				: 0;
		if (bytes > 0)
			path[bytes - 1] = 0;
		return bytes > 0;
	}
	return false;
}

static bool is_glibc(const char *linker)
{
	return !strncmp(linker, "ld-linux", strlen("ld-linux")) ||
	       !strncmp(linker, "ld64.so", strlen("ld64.so")) ||
	       !strncmp(linker, "ld.so", strlen("ld.so")) ||
	       !strncmp(linker, "ld-2.", strlen("ld-2."));
}

static bool elf_not_followed(char *why, const char *name, int fd,
			     const char *head)
{
	char linker[RUN_PATH];

	if (head[EI_CLASS] != OWN_CLASS) {
		snprintf(why, RUN_PATH, "it is a program of %s bits",
			 OWN_CLASS == ELFCLASS64 ? "32" : "64");
		return true;
	}
	if (!interpreter(linker, fd, head)) {
		if (is_glibc(name_of(name)))
			return false;
		snprintf(why, RUN_PATH, "it is linked statically");
		return true;
	}
	if (is_glibc(name_of(linker)))
		return false;
	snprintf(why, RUN_PATH,
		 "it is of another C library than glibc: its "
		 "interpreter is %.1000s",
		 linker);
	return true;
}

/* ---- any file --------------------------------------------------------------
 */

/* The linker then loads nothing that the environment names. */
static bool is_privileged(int fd)
{
	struct stat about;

	if (fstat(fd, &about))
		return false;
	return (about.st_mode & S_ISUID && about.st_uid != getuid()) ||
	       (about.st_mode & S_ISGID && about.st_gid != getgid()) ||
	       (geteuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0);
}

/* "#! /bin/sh -e" -> "/bin/sh" */
static bool script_of(char *path, char *head)
{
	char *begin = head + 2;

	if (memcmp(head, "#!", 2) != 0)
		return false;
	begin += strspn(begin, " \t");
	begin[strcspn(begin, " \t\n")] = 0;
	return snprintf(path, RUN_PATH, "%s", begin) < RUN_PATH;
}

/* True: it is known; *not_followed_out says how. Else `path` is a script's
 * interpreter now. */
static bool look(char *path, char *why, bool *not_followed_out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char head[HEAD + 1] = "";
	bool known = true;

	*not_followed_out = false;
	if (fd < 0)
		return true;
	if (pread(fd, head, HEAD, 0) < (ssize_t)sizeof(ElfW(Ehdr))) {
		known = !script_of(path, head);
	} else if (is_privileged(fd) && memcmp(head, "#!", 2) != 0) {
		snprintf(why, RUN_PATH, "it has more rights than who runs it");
		*not_followed_out = true;
	} else if (!memcmp(head, ELFMAG, SELFMAG)) {
		*not_followed_out = elf_not_followed(why, path, fd, head);
	} else {
		known = !script_of(path, head);
	}
	close(fd);
	return known;
}

bool run_not_followed(char *why, const char *command)
{
	char path[RUN_PATH];
	bool not_followed;

	if (!find(path, command))
		return false;
	for (int i = 0; i < SCRIPTS; i++)
		if (look(path, why, &not_followed))
			return not_followed;
	return false;
}
