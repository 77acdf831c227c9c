/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Finds, checks and starts backends, and remembers why one could not be used.
 * A row of checks, each with its own sentence. Backends are never unloaded. A
 * mutex of its own guards the registry; init slots run under it.
 */
#ifndef GM_LOADER_LOADER_H
#define GM_LOADER_LOADER_H

#include <gpumem/backend.h>

/*
 * One known backend. Rows are never freed. Of a row that was given out (it is
 * usable then) nothing changes any more; a refused one may be filled anew when
 * the program loads another file of that name.
 *
 *     started  =>  info.status is what its init, or its device count, said
 *     adopts  =>  started and info.status == NO_DEVICE
 *     given out  =>  started and (info.status == OK or adopts)
 */
struct gm_backend {
	struct gpumem_backend ops; /* copied; slots beyond size are NULL */
	struct gpumem_backend_info info;    /* with the reason of a refusal */
	struct gpumem_error error;	    /* the refusal in full */
	const struct gpumem_backend *table; /* as given; NULL: no table */
	void *library;			    /* of dlopen; NULL: built in */
	bool started;
	bool adopts; /* has no device but those that it adopts */
	struct gm_backend *next;
};

/* The backends that are built in: the first is `host`. */
extern const struct gpumem_backend gm_host_backend;

/* The backend of that name, loaded and started if it was not. NOT_FOUND, or
 * the status of the refusal; the reason is in the thread's last error. */
gpumem_status gm_backend_find(const char *name,
			      const struct gm_backend **backend_out);
/* The same, to adopt a context: also one that has no device of its own. */
gpumem_status gm_backend_find_adopting(const char *name,
				       const struct gm_backend **backend_out);
/* What GPUMEM_BACKEND picks, with auto: the first with a device, host last, and
 * not at all where a GPU can be seen; and the number of its device. */
gpumem_status gm_backend_default(const struct gm_backend **backend_out,
				 int *index_out);
gpumem_status gm_backend_load(const char *path, char *name_out);
gpumem_status gm_backend_register(const struct gpumem_backend *backend);
/* Brings the options of the backend that `key` ("cuda.x") belongs to: loads it,
 * but does not start it, so that what its init reads can be set before. A
 * backend that is not there is no failure here: the key will be unknown. */
void gm_backend_options(const char *key);
/* Judges GPUMEM_CONF: gm_conf_check(), in which keys of known backends that are
 * not loaded wait. With `load`, those that it names are loaded before. */
gpumem_status gm_backend_conf(bool load, bool tell);
/* Every backend that is installed, named by the environment, loaded or built
 * in, whether usable or not; order: as auto prefers. */
gpumem_status
gm_backend_visit(bool (*fn)(const struct gpumem_backend_info *info, void *user),
		 void *user);

/* The checks on a table alone (also fuzzed): OK, or ABI with its sentence.
 * Copies the table, zero-extended, into *ops_out. `bytes` is how much may be
 * read of `table` beyond what its own size field claims: pass SIZE_MAX for a
 * real plugin. */
gpumem_status gm_backend_check(const struct gpumem_backend *table, size_t bytes,
			       struct gpumem_backend *ops_out);

#endif
