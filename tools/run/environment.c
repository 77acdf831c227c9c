/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the program's environment gets: each library before all others that are
 * named there already, and the folder into which they count. That folder is in
 * memory where /dev/shm is.
 *
 * Of OPENCL_LAYERS the first is the nearest to the implementation, with
 * Khronos' loader and ocl-icd: it sees what other layers allocate.
 */
#include "base/path.h"
#include "common/tool.h"
#include "run.h"

#include <gpumem/gpumem.h>

#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct library {
	const char *backend, *file, *variable;
};

static const struct library libraries[] = {
#ifdef RUN_CUDA
	{"cuda", "libgpumem-preload.so", "LD_PRELOAD"},
#endif
#ifdef RUN_HIP
	{"hip", "libgpumem-preload.so", "LD_PRELOAD"},
#endif
#ifdef RUN_OPENCL
	{"opencl", "libgpumem-opencl-layer.so", "OPENCL_LAYERS"},
#endif
};

#define LIBRARIES (sizeof(libraries) / sizeof(libraries[0]))

static bool put_first(const char *variable, const char *path)
{
	const char *others = getenv(variable);
	char *value;
	bool ok;

	if (asprintf(&value, "%s%s%s", path, others && *others ? ":" : "",
		     others ? others : "") < 0)
		return false;
	ok = !setenv(variable, value, 1);
	free(value);
	return ok;
}

static char *make_folder(void)
{
	static char folder[64];

	strcpy(folder, "/dev/shm/gpumem-run-XXXXXX");
	if (mkdtemp(folder))
		return folder;
	strcpy(folder, "/tmp/gpumem-run-XXXXXX");
	if (mkdtemp(folder))
		return folder;
	tool_error("cannot make a folder in /dev/shm or /tmp: %s",
		   strerror(errno));
	return NULL;
}

static bool set_limit(struct limit_value limit)
{
	char number[24];

	if (limit.billionths)
		snprintf(number, sizeof(number), "%llu%c",
			 (unsigned long long)limit.billionths, LIMIT_PART);
	else
		snprintf(number, sizeof(number), "%llu",
			 (unsigned long long)limit.bytes);
	return !(limit_value_is(limit) ? setenv(LIMIT_VARIABLE, number, 1)
				       : unsetenv(LIMIT_VARIABLE));
}

bool run_try_recording(const char *file)
{
	const char *number = strstr(file, "%p");
	char name[LEDGER_PATH];
	struct gm_own own;

	/* Folders with numbers of processes are not there yet. */
	if (number && strchr(number, '/'))
		return true;
	if (!gm_path_expand(file, name, sizeof(name)))
		tool_error("%s: the name is too long", file);
	else if (!gm_own_try(&own, name))
		tool_error("%s: %s", file, own.why);
	else
		return true;
	return false;
}

/* A relative name is that of a file here, wherever the program goes. */
static bool set_recording(const char *file)
{
	char here[LEDGER_PATH] = "";

	if (!file)
		return !unsetenv(RECORD_VARIABLE);
	if (*file != '/' && !getcwd(here, sizeof(here)))
		return false;
	return !setenv(RECORD_VARIABLE, file, 1) &&
	       !setenv(RECORD_FOLDER_VARIABLE, here, 1);
}

/* What is idle for that long goes back, as from the library's own pools. */
static bool set_decay(void)
{
	struct gpumem_option decay = GPUMEM_INIT(struct gpumem_option);

	return gpumem_option_get("decay_ms", &decay) == GPUMEM_OK &&
	       !setenv(DECAY_VARIABLE, decay.value, 1);
}

/* Of a gpumem-run inside another one the own options hold. */
static bool set_variables(const struct run_config *config, const char *folder)
{
	const char *library = config->adopt ? run_own_library() : NULL;

	return !setenv(LEDGER_VARIABLE, folder, 1) &&
	       !(config->backend ? setenv(BACKEND_VARIABLE, config->backend, 1)
				 : unsetenv(BACKEND_VARIABLE)) &&
	       !(config->adopt ? setenv(ADOPT_VARIABLE, "1", 1)
			       : unsetenv(ADOPT_VARIABLE)) &&
	       !(library ? setenv(LIBRARY_VARIABLE, library, 1)
			 : unsetenv(LIBRARY_VARIABLE)) &&
	       set_decay() && set_limit(config->limit) &&
	       set_recording(config->recording) &&
	       !(config->no_pool ? setenv(NO_POOL_VARIABLE, "1", 1)
				 : unsetenv(NO_POOL_VARIABLE));
}

static bool has_musl(void)
{
	glob_t found;
	bool has = !glob("/lib/ld-musl-*.so.1", 0, NULL, &found);

	if (has)
		globfree(&found);
	return has;
}

static bool set_library(const struct library *library,
			const struct run_config *config, const char *folder)
{
	bool preload = !strcmp(library->variable, "LD_PRELOAD");
	char path[RUN_PATH];

	if (!run_library(path, library->file, folder,
			 preload && (config->unfollowed || has_musl())))
		return false;
	/* A program with the runtime of AddressSanitizer as a shared library
	 * does not start if another one is before that. */
	if (put_first(library->variable, path) &&
	    (!preload || put_first("ASAN_OPTIONS", "verify_asan_link_order=0")))
		return true;
	tool_error("out of memory");
	return false;
}

static bool set_python(const char *folder)
{
	char path[RUN_PATH];

	if (!run_python_folder(path, folder))
		return false;
	if (put_first("PYTHONPATH", path))
		return true;
	tool_error("out of memory");
	return false;
}

const char *run_backends(void)
{
	static char text[32]; /* "cuda, hip or opencl" */

	*text = 0;
	for (size_t i = 0; i < LIBRARIES; i++) {
		strcat(text, !i ? "" : i + 1 < LIBRARIES ? ", " : " or ");
		strcat(text, libraries[i].backend);
	}
	return text;
}

bool run_has_backend(const char *name)
{
	for (size_t i = 0; i < LIBRARIES; i++)
		if (!strcmp(libraries[i].backend, name))
			return true;
	return false;
}

/* One library may be there for several. */
static bool is_wanted(const struct run_config *config, size_t index)
{
	const struct library *library = &libraries[index];

	if (config->backend)
		return !strcmp(config->backend, library->backend);
	return !index || strcmp(library[-1].file, library->file) != 0;
}

const char *run_prepare(const struct run_config *config)
{
	char *folder = make_folder();
	bool ok = folder;

	for (size_t i = 0; ok && i < LIBRARIES; i++)
		if (is_wanted(config, i))
			ok = set_library(&libraries[i], config, folder);
	if (ok && config->adopt)
		ok = set_python(folder);
	if (ok && !set_variables(config, folder)) {
		tool_error("cannot set the environment: %s", strerror(errno));
		ok = false;
	}
	if (!ok && folder)
		run_clean(folder);
	return ok ? folder : NULL;
}

static int remove_one(const char *path, const struct stat *about, int type,
		      struct FTW *where)
{
	(void)about;
	(void)type;
	(void)where;
	(void)remove(path);
	return 0;
}

void run_clean(const char *folder)
{
	(void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
