/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Plugins as files: which folder has one, and how a file becomes a checked
 * table. What was opened is never closed: a driver's threads may run in it. No
 * lock, no state.
 */
#include "loader_parts.h"
#include "base/error.h"
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX ".so"
#define SUFFIX_LENGTH (sizeof(SUFFIX) - 1)

bool gm_plugin_find(const char *name, char *path_out, size_t bytes)
{
	struct gm_folders folders = gm_folders_first();
	int length;

	while (gm_folders_next(&folders)) {
		length = snprintf(path_out, bytes, "%s/%s" SUFFIX, folders.path,
				  name);
		if (length > 0 && (size_t)length < bytes &&
		    access(path_out, F_OK) == 0)
			return true;
	}
	return false;
}

gpumem_status gm_plugin_missing(const char *name, const char *hint)
{
	struct gm_folders folders = gm_folders_first();
	char places[768] = "";
	size_t used = 0;

	while (gm_folders_next(&folders) && used < sizeof(places)) {
		int length = snprintf(places + used, sizeof(places) - used,
				      "%s%s", used ? ", " : "", folders.path);

		used += length > 0 ? (size_t)length : 0;
	}
	return gm_fail(GPUMEM_NOT_FOUND,
		       "plugin %s" SUFFIX " is not installed%s (looked in %s)",
		       name, hint, places);
}

/* From an open library to its table. */
static gpumem_status find_table(void *library,
				const struct gpumem_backend **table_out)
{
	union {
		void *object;
		gpumem_plugin_fn function;
	} symbol;

	symbol.object = dlsym(library, GPUMEM_PLUGIN_SYMBOL);
	if (!symbol.object)
		return gm_fail(GPUMEM_ABI,
			       "it is no plugin: it has no function %s",
			       GPUMEM_PLUGIN_SYMBOL);
	*table_out = symbol.function();
	if (!*table_out)
		return gm_fail(GPUMEM_ABI, "its %s() returned NULL",
			       GPUMEM_PLUGIN_SYMBOL);
	return GPUMEM_OK;
}

static gpumem_status check_table(const struct gpumem_backend *table,
				 const char *name, struct gpumem_backend *ops)
{
	gpumem_status status = gm_backend_check(table, SIZE_MAX, ops);

	if (status == GPUMEM_OK && name && strcmp(name, ops->name) != 0)
		return gm_fail(GPUMEM_ABI, "it calls itself \"%s\", not \"%s\"",
			       ops->name, name);
	return status;
}

/* Looks at the first object only: it is the program. */
static int find_interpreter(struct dl_phdr_info *info, size_t bytes, void *user)
{
	bool *found = user;
	size_t i;

	(void)bytes;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_INTERP)
			*found = true;
	return 1;
}

/* A static program asks for no dynamic linker. Its dlopen() would bring a
 * second C library into the process, and that ends in a crash. */
static bool program_is_static(void)
{
	bool has_interpreter = false;

	dl_iterate_phdr(find_interpreter, &has_interpreter);
	return !has_interpreter;
}

gpumem_status gm_plugin_open(const char *path, const char *name,
			     struct gm_plugin *plugin_out)
{
	struct gm_plugin plugin = {.path = path};
	gpumem_status status;
	const char *text;

	if (program_is_static())
		return gm_fail(GPUMEM_UNSUPPORTED,
			       "%s cannot be loaded: this program is linked "
			       "statically; link it dynamically, or use the "
			       "backend %s, which is built in",
			       path, gm_host_backend.name);
	plugin.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!plugin.library) {
		text = dlerror();
		return gm_fail(GPUMEM_ABI, "it cannot be loaded: %s",
			       text ? text : path);
	}
	status = find_table(plugin.library, &plugin.table);
	if (status == GPUMEM_OK)
		status = check_table(plugin.table, name, &plugin.ops);
	if (status != GPUMEM_OK) {
		gm_error_context("%s", path);
		return status;
	}
	*plugin_out = plugin;
	return GPUMEM_OK;
}

bool gm_names_add(struct gm_names *names, const char *name)
{
	size_t i, capacity;
	void *list;

	for (i = 0; i < names->count; i++)
		if (strcmp(names->list[i], name) == 0)
			return true;
	if (names->count == names->capacity) {
		capacity = names->capacity * 2 + 8;
		list = realloc(names->list, capacity * sizeof(*names->list));
		if (!list) {
			gm_fail(GPUMEM_NO_HOST_MEMORY,
				"no memory for a list of backends");
			return false;
		}
		names->list = list;
		names->capacity = capacity;
	}
	snprintf(names->list[names->count++], GM_NAME_BYTES, "%s", name);
	return true;
}

void gm_names_free(struct gm_names *names)
{
	free(names->list);
	*names = (struct gm_names){0};
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(left, right);
}

/* Adds NAME for each NAME.so; a file whose name can be no backend's is not
 * ours. */
static bool scan_folder(DIR *folder, struct gm_names *names)
{
	char name[GM_NAME_BYTES];
	struct dirent *entry;
	size_t length;

	while ((entry = readdir(folder)) != NULL) {
		length = strlen(entry->d_name);
		if (length <= SUFFIX_LENGTH ||
		    length - SUFFIX_LENGTH >= sizeof(name) ||
		    strcmp(entry->d_name + length - SUFFIX_LENGTH, SUFFIX) != 0)
			continue;
		memcpy(name, entry->d_name, length - SUFFIX_LENGTH);
		name[length - SUFFIX_LENGTH] = '\0';
		if (gm_name_is_sane(name) && !gm_names_add(names, name))
			return false;
	}
	return true;
}

gpumem_status gm_plugin_scan(struct gm_names *names)
{
	struct gm_folders folders = gm_folders_first();
	bool room = true;

	while (room && gm_folders_next(&folders)) {
		size_t before = names->count;
		DIR *folder = opendir(folders.path);

		if (!folder)
			continue;
		room = scan_folder(folder, names);
		closedir(folder);
		if (names->count > before)
			qsort(names->list + before, names->count - before,
			      sizeof(*names->list), compare_names);
	}
	return room ? GPUMEM_OK : GPUMEM_NO_HOST_MEMORY;
}
