/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the parts of the loader share: loader.c (the registry and its mutex),
 * names.c (the list of names), pick.c (the choice), start.c (options and init),
 * folder.c (where plugins are), plugin.c (files), check_table.c (a table
 * alone), conf.c (whose a key of GPUMEM_CONF is). Private to these files.
 */
#ifndef GM_LOADER_LOADER_PARTS_H
#define GM_LOADER_LOADER_PARTS_H

#include "loader.h"
#include <limits.h>

#define GM_NAME_BYTES sizeof(((struct gpumem_backend_info *)0)->name)

/* A checked table and where it came from. */
struct gm_plugin {
	struct gpumem_backend ops;
	const struct gpumem_backend *table;
	void *library;
	const char *path; /* "" when built in */
};

/* A list of names, each once. Zeroed: empty. */
struct gm_names {
	char (*list)[16];
	size_t count, capacity;
};

/* ---- check_table.c ---- */

/* a-z, then also digits, '_' and '-'; at most 15; not "auto". */
bool gm_name_is_sane(const char *name);

/* ---- folder.c: no lock ---- */

/* A walk over the folders in which plugins are looked for, in order. */
struct gm_folders {
	const char *at; /* the rest of the list; NULL: there is none */
	char path[PATH_MAX];
};
struct gm_folders gm_folders_first(void);
/* The next folder, in folders->path. False: that was all. */
bool gm_folders_next(struct gm_folders *folders);

/* ---- plugin.c: no lock ---- */

/* The file of plugin `name`: the first folder that has it wins. False: none. */
bool gm_plugin_find(const char *name, char *path_out, size_t bytes);
/* "not installed (looked in A, B)", as the thread's last error; `hint` stands
 * before the parenthesis. */
gpumem_status gm_plugin_missing(const char *name, const char *hint);
/* Loads a file and checks what is in it. `name`: what its table has to be
 * called; NULL: anything. plugin_out->path is `path`. */
gpumem_status gm_plugin_open(const char *path, const char *name,
			     struct gm_plugin *plugin_out);
/* Adds the names of all files in the folders, sorted by folder and name. */
gpumem_status gm_plugin_scan(struct gm_names *names);
bool gm_names_add(struct gm_names *names, const char *name);
void gm_names_free(struct gm_names *names);

/* ---- start.c: under the mutex ---- */

/* The row is refused with the thread's last error. */
gpumem_status gm_row_refuse(struct gm_backend *row);
/* Fills a row from a plugin and adds its options. */
gpumem_status gm_row_fill(struct gm_backend *row,
			  const struct gm_plugin *plugin);
/* Calls init, once, and counts devices. The row's status either way. */
gpumem_status gm_row_start(struct gm_backend *row);

/* ---- loader.c ---- */

void gm_loader_lock(void);
void gm_loader_unlock(void);
/* Under the mutex: the row of that name, loaded if it was not, started only if
 * asked. The row's status; with NOT_FOUND and NO_HOST_MEMORY there may be
 * none, and then *row_out is NULL. */
gpumem_status gm_row_get(const char *name, bool start,
			 struct gm_backend **row_out);
/* Under the mutex: adds the names of all rows, in order. */
bool gm_row_names(struct gm_names *names);
/* Under the mutex: its options are in the table. */
bool gm_row_has_options(const char *name);

/* ---- names.c: under the mutex ---- */

/* What GPUMEM_BACKEND says; "auto" if it says nothing. */
const char *gm_wish(void);
/* The next of it, "cuda" or "cuda:GPU-UUID". What is longer is cut, and is
 * longer then than any name. */
#define GM_WISH_BYTES 64
bool gm_wish_next(const char **at, char wish[GM_WISH_BYTES]);
/* Copies the backend's name; returns what is behind the colon, NULL: none. */
const char *gm_wish_split(const char *wish, char name[GM_WISH_BYTES]);

/* Adds real devices that everybody knows, others that the program or, with
 * `wishes`, GPUMEM_BACKEND brought, others that are installed, and the
 * simulated one last. False: no host memory. */
bool gm_names_list(struct gm_names *names, bool wishes);

/* Whether a backend of that name is known, loaded or not. If not, the nearest
 * that is goes into meant_out; "" if none is near. */
bool gm_name_known(const char *name, char meant_out[16]);

#define GM_HINT_BYTES 100

/* What helps where there is no plugin of the name: how to get one of ours;
 * ", did you mean "host"?" for a name that no backend has; "" if none that
 * there is comes near. A name is not there only because GPUMEM_BACKEND has it.
 */
void gm_name_hint(const char *name, char hint_out[GM_HINT_BYTES]);

/* ---- pick.c ---- */

/* Where GPUs are looked for: gm_sight(). Only tests have another folder. */
extern const char *gm_loader_root;

#endif
