/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where plugins are looked for. GPUMEM_PLUGIN_PATH lists folders, separated by
 * colons; an empty entry stands for the installed folder, as one does when the
 * variable is not set, is empty, or the program runs set-user-id. The installed
 * folder is gpumem/abi-N beside the library's own file, so that an installation
 * can be moved and a build folder has its own; where there is none it is the
 * folder that configure was told. Opens no file. No lock, no state.
 */
#include "loader_parts.h"
#include "base/option.h"
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Both from the Makefile: "gpumem/abi-N", and the configured folder. */
#ifndef GPUMEM_PLUGIN_SUBDIR
#error "GPUMEM_PLUGIN_SUBDIR and GPUMEM_PLUGIN_DIR have to be defined"
#endif

struct place {
	uintptr_t code;
	bool found;
	char path[PATH_MAX]; /* empty: in the program itself */
};

static bool has_code(const struct dl_phdr_info *info, uintptr_t code)
{
	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    code - info->dlpi_addr - info->dlpi_phdr[i].p_vaddr <
			    info->dlpi_phdr[i].p_memsz)
			return true;
	return false;
}

/* The first object is the program, whatever it is called. */
static int find_object(struct dl_phdr_info *info, size_t bytes, void *user)
{
	struct place *place = user;
	bool first = !place->found;

	(void)bytes;
	place->found = true;
	if (!has_code(info, place->code))
		return 0;
	if (!first)
		snprintf(place->path, sizeof(place->path), "%s",
			 info->dlpi_name);
	return 1;
}

/* The folder of the shared object that this code is in. False: the code is in
 * the program itself, which is nobody's installation, or the object was loaded
 * by a relative path, which may mean another file by now. */
static bool library_folder(char folder[PATH_MAX])
{
	struct place place = {.code = (uintptr_t)library_folder};

	dl_iterate_phdr(find_object, &place);
	if (*place.path != '/' || !realpath(place.path, folder))
		return false;
	*strrchr(folder, '/') = '\0';
	return true;
}

static void installed_folder(char path[PATH_MAX])
{
	char folder[PATH_MAX];
	struct stat found;
	int length;

	if (library_folder(folder)) {
		length = snprintf(path, PATH_MAX, "%s/" GPUMEM_PLUGIN_SUBDIR,
				  folder);
		if (length < PATH_MAX && stat(path, &found) == 0 &&
		    S_ISDIR(found.st_mode))
			return;
	}
	snprintf(path, PATH_MAX, "%s", GPUMEM_PLUGIN_DIR);
}

struct gm_folders gm_folders_first(void)
{
	const char *list = gm_environment("GPUMEM_PLUGIN_PATH");

	return (struct gm_folders){.at = list ? list : ""};
}

bool gm_folders_next(struct gm_folders *folders)
{
	const char *from;
	size_t length;

	do {
		from = folders->at;
		if (!from)
			return false;
		length = strcspn(from, ":");
		folders->at = from[length] ? from + length + 1 : NULL;
	} while (length >= sizeof(folders->path));
	if (length) {
		memcpy(folders->path, from, length);
		folders->path[length] = '\0';
	} else {
		installed_folder(folders->path);
	}
	return true;
}
