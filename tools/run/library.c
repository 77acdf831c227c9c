/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where the libraries are that a program gets, and under which path. The linker
 * takes a blank and a colon for the end of a path, loaders of OpenCL a colon,
 * and both expand what begins with a dollar: a path that has one of these is
 * named by a link in gpumem-run's own folder.
 *
 * Where there are programs of musl, which could not load the library and would
 * not start, LD_PRELOAD has a link in a subfolder that glibc's linker alone
 * finds, by $LIB. Elsewhere it has none: a process that outlives gpumem-run
 * finds no link any more.
 */
#include "common/tool.h"
#include "run.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MULTIARCH "lib/x86_64-linux-gnu"
#elif defined(__aarch64__)
#define MULTIARCH "lib/aarch64-linux-gnu"
#else
#define MULTIARCH "lib"
#endif

#define PROBE "probe"

/* "a/b" -> "a", "b" -> "" */
static void cut_name(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = 0;
}

static bool is_there(char *path, const char *folder, const char *inside,
		     const char *file)
{
	int bytes = snprintf(path, RUN_PATH, "%s/%s%s", folder, inside, file);

	return bytes < RUN_PATH && !access(path, R_OK);
}

/* Beside libgpumem, as installed or moved; beside this program, as built; where
 * it was configured to be. */
static bool find_library(char *path, const char *file)
{
	char folder[RUN_PATH];
	ssize_t bytes = readlink("/proc/self/exe", folder, RUN_PATH - 1);
	Dl_info info;
	void *symbol = dlsym(RTLD_DEFAULT, "gpumem_version");

	if (bytes > 0) {
		folder[bytes] = 0;
		cut_name(folder);
		if (is_there(path, folder, "", file))
			return true;
	}
	if (symbol && dladdr(symbol, &info) && info.dli_fname &&
	    strlen(info.dli_fname) < RUN_PATH) {
		strcpy(folder, info.dli_fname);
		cut_name(folder);
		if (is_there(path, folder, "gpumem/", file))
			return true;
	}
	if (is_there(path, PRELOAD_DIR, "", file))
		return true;
	tool_error("%s is not installed in %s", file, PRELOAD_DIR);
	return false;
}

/* ---- links -----------------------------------------------------------------
 */

/* folder/inside/file, where `inside` may have several parts. */
static bool link_to(const char *path, const char *folder, const char *inside,
		    const char *file)
{
	char name[RUN_PATH];
	size_t begin = strlen(folder) + 1;

	if (snprintf(name, sizeof(name), "%s/%s/%s", folder, inside, file) >=
	    RUN_PATH)
		return false;
	for (char *slash = name + begin; (slash = strchr(slash, '/'));
	     slash++) {
		*slash = 0;
		if (mkdir(name, 0700) && errno != EEXIST)
			return false;
		*slash = '/';
	}
	return !symlink(path, name) || errno == EEXIST;
}

/* Whether $LIB leads to one of the links, by one to what is loaded already. */
static bool is_found(const char *folder)
{
	char path[RUN_PATH];
	void *libc;

	snprintf(path, sizeof(path), "%s/$LIB/%s", folder, PROBE);
	libc = dlopen(path, RTLD_LAZY);
	if (libc)
		dlclose(libc);
	return libc;
}

/* $LIB is what glibc was built with: one of these on all distributions that are
 * known. Another glibc than this program's may say something else than it. */
static bool link_for_glibc(const char *path, const char *folder,
			   const char *file)
{
	static const char *const libs[] = {"lib", "lib64", MULTIARCH};
	Dl_info libc;

	if (!dladdr(dlsym(RTLD_DEFAULT, "printf"), &libc) || !libc.dli_fname)
		return false;
	for (size_t i = 0; i < sizeof(libs) / sizeof(*libs); i++)
		if (!link_to(path, folder, libs[i], file) ||
		    !link_to(libc.dli_fname, folder, libs[i], PROBE))
			return false;
	return is_found(folder);
}

bool run_library(char *path, const char *file, const char *folder, bool glibc)
{
	if (!find_library(path, file))
		return false;
	if (glibc && link_for_glibc(path, folder, file)) {
		snprintf(path, RUN_PATH, "%s/$LIB/%s", folder, file);
		return true;
	}
	if (!strpbrk(path, " \t\n:$"))
		return true;
	if (!link_to(path, folder, "library", file)) {
		tool_error("cannot make a link to %s in %s: %s", path, folder,
			   strerror(errno));
		return false;
	}
	snprintf(path, RUN_PATH, "%s/library/%s", folder, file);
	return true;
}

const char *run_own_library(void)
{
	static char path[PATH_MAX];
	char own[PATH_MAX];
	void *symbol = dlsym(RTLD_DEFAULT, "gpumem_version");
	Dl_info info;

	if (!symbol || !dladdr(symbol, &info) || !info.dli_fname ||
	    !realpath(info.dli_fname, path) ||
	    !realpath("/proc/self/exe", own) || !strcmp(path, own))
		return NULL;
	return path;
}

bool run_python_folder(char *path, const char *folder)
{
	if (!run_library(path, "adopt/sitecustomize.py", folder, false))
		return false;
	cut_name(path);
	return true;
}
