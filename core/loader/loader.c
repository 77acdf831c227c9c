/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The registry of backends: rows that are added and never freed, under one
 * mutex, which init slots run under too. See loader_parts.h for the other
 * parts.
 */
#include "loader_parts.h"
#include "base/error.h"
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct gm_backend *rows; /* oldest first; under the mutex */

void gm_loader_lock(void)
{
	pthread_mutex_lock(&mutex);
}

void gm_loader_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

bool gm_row_names(struct gm_names *names)
{
	const struct gm_backend *row;

	for (row = rows; row; row = row->next)
		if (!gm_names_add(names, row->info.name))
			return false;
	return true;
}

static struct gm_backend *find_row(const char *name)
{
	struct gm_backend *row = rows;

	while (row && strcmp(row->info.name, name) != 0)
		row = row->next;
	return row;
}

bool gm_row_has_options(const char *name)
{
	const struct gm_backend *row = find_row(name);

	return row && row->table &&
	       (row->started || row->info.status == GPUMEM_OK);
}

static struct gm_backend *new_row(const char *name)
{
	struct gm_backend **tail = &rows, *row;

	row = calloc(1, sizeof(*row));
	if (!row) {
		gm_fail(GPUMEM_NO_HOST_MEMORY, "no memory for backend \"%s\"",
			name);
		return NULL;
	}
	row->info.size = sizeof(row->info);
	snprintf(row->info.name, sizeof(row->info.name), "%s", name);
	while (*tail)
		tail = &(*tail)->next;
	*tail = row;
	return row;
}

/* A checked plugin gets its row: the one it has, a new one, or that of a
 * refused plugin of the same name. */
static gpumem_status admit(const struct gm_plugin *plugin,
			   struct gm_backend **row_out)
{
	struct gm_backend *row = find_row(plugin->ops.name);

	if (row && row->table == plugin->table) {
		*row_out = row;
		return row->info.status;
	}
	if (row && (row->info.status == GPUMEM_OK || row->adopts))
		return gm_fail(GPUMEM_BUSY,
			       "another backend is called \"%s\" (%s)",
			       plugin->ops.name,
			       *row->info.path ? row->info.path : "built in");
	if (!row)
		row = new_row(plugin->ops.name);
	if (!row)
		return GPUMEM_NO_HOST_MEMORY;
	*row_out = row;
	return gm_row_fill(row, plugin);
}

static gpumem_status load_built_in(const struct gpumem_backend *table,
				   struct gm_backend **row_out)
{
	struct gm_plugin plugin = {.table = table, .path = ""};
	gpumem_status status;

	status = gm_backend_check(table, SIZE_MAX, &plugin.ops);
	return status == GPUMEM_OK ? admit(&plugin, row_out) : status;
}

/* No file can have the name, or none has: NOT_FOUND, with what was meant. */
static gpumem_status refuse_name(const char *name)
{
	char hint[GM_HINT_BYTES];

	gm_name_hint(name, hint);
	if (gm_name_is_sane(name))
		return gm_plugin_missing(name, hint);
	return gm_fail(GPUMEM_NOT_FOUND, "no backend can be called \"%.40s\"%s",
		       name, hint);
}

/* A file that is there but is no plugin gets a row too: a reason to show. */
static gpumem_status load_named(const char *name, struct gm_backend **row_out)
{
	struct gm_plugin plugin;
	char path[PATH_MAX];
	gpumem_status status;
	struct gm_backend *row;

	if (strcmp(name, gm_host_backend.name) == 0)
		return load_built_in(&gm_host_backend, row_out);
	if (!gm_name_is_sane(name) || !gm_plugin_find(name, path, sizeof(path)))
		return refuse_name(name);
	status = gm_plugin_open(path, name, &plugin);
	if (status == GPUMEM_OK)
		return admit(&plugin, row_out);
	row = new_row(name);
	if (!row)
		return GPUMEM_NO_HOST_MEMORY;
	snprintf(row->info.path, sizeof(row->info.path), "%.255s", path);
	*row_out = row;
	return gm_row_refuse(row);
}

/* The row's present status, as the thread's last error if it is a refusal. */
static gpumem_status row_status(struct gm_backend *row, bool start)
{
	gpumem_status status = row->info.status;

	if (status == GPUMEM_OK && start)
		status = gm_row_start(row);
	if (status != GPUMEM_OK)
		gm_error_set(&row->error);
	return status;
}

gpumem_status gm_row_get(const char *name, bool start,
			 struct gm_backend **row_out)
{
	gpumem_status status;

	*row_out = find_row(name);
	if (!*row_out) {
		status = load_named(name, row_out);
		if (!*row_out)
			return status;
	}
	return row_status(*row_out, start);
}

gpumem_status gm_backend_find(const char *name,
			      const struct gm_backend **backend_out)
{
	struct gm_backend *row;
	gpumem_status status;

	gm_loader_lock();
	status = gm_row_get(name, true, &row);
	gm_loader_unlock();
	if (status == GPUMEM_OK)
		*backend_out = row;
	return status;
}

gpumem_status gm_backend_find_adopting(const char *name,
				       const struct gm_backend **backend_out)
{
	struct gm_backend *row;
	gpumem_status status;

	gm_loader_lock();
	status = gm_row_get(name, true, &row);
	if (row && row->adopts)
		status = GPUMEM_OK;
	gm_loader_unlock();
	if (status == GPUMEM_OK)
		*backend_out = row;
	return status;
}

/* A backend that a program brings may have no device yet. */
static gpumem_status brought(struct gm_backend *row)
{
	gpumem_status status = row_status(row, true);

	return row->adopts ? GPUMEM_OK : status;
}

static gpumem_status load_file(const char *path, struct gm_backend **row_out)
{
	struct gm_plugin plugin;
	gpumem_status status;

	status = gm_plugin_open(path, NULL, &plugin);
	if (status == GPUMEM_OK)
		status = admit(&plugin, row_out);
	return *row_out ? brought(*row_out) : status;
}

gpumem_status gm_backend_load(const char *path, char *name_out)
{
	struct gm_backend *row = NULL;
	char real[PATH_MAX];
	gpumem_status status;

	/* Also: a path without a slash is not looked up like a library. */
	if (!realpath(path, real))
		return gm_fail(GPUMEM_NOT_FOUND, "no such file: %s", path);
	gm_loader_lock();
	status = load_file(real, &row);
	if (status == GPUMEM_OK && name_out)
		memcpy(name_out, row->info.name, sizeof(row->info.name));
	gm_loader_unlock();
	return status;
}

gpumem_status gm_backend_register(const struct gpumem_backend *backend)
{
	struct gm_backend *row = NULL;
	gpumem_status status;

	gm_loader_lock();
	status = load_built_in(backend, &row);
	if (row)
		status = brought(row);
	gm_loader_unlock();
	return status;
}

void gm_backend_options(const char *key)
{
	struct gpumem_error before = GPUMEM_INIT(struct gpumem_error);
	char name[GM_NAME_BYTES];
	struct gm_backend *row;
	size_t length = strcspn(key, ".");

	if (!key[length] || length >= sizeof(name))
		return;
	memcpy(name, key, length);
	name[length] = '\0';
	gm_error_get(&before);
	gm_loader_lock();
	(void)gm_row_get(name, false, &row);
	gm_loader_unlock();
	gm_error_set(&before);
}
