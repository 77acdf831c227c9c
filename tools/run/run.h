/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the files of gpumem-run share.
 */
#ifndef GPUMEM_TOOLS_RUN_H
#define GPUMEM_TOOLS_RUN_H

#include "../preload/ledger.h"
#include "../preload/limit_value.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define RUN_PATH 4096 /* bytes of a path at most */

struct run_config {
	char **command;		/* ends in NULL */
	const char *output;	/* of the report; NULL: standard error */
	const char *backend;	/* the only one; NULL: all */
	const char *recording;	/* its file; NULL: none */
	const char *unfollowed; /* why the program is not; NULL: it is */
	bool adopt, json, no_pool;
	pid_t trim;		  /* of that process; 0: none */
	struct limit_value limit; /* of each device */
};

/* How the program ended. */
struct run_end {
	int status; /* its exit status, if it was no signal */
	int signal; /* 0: none */
};

/* A copy of what a process counted. */
struct run_process {
	struct ledger ledger;
};

struct run_ledgers {
	struct run_process *processes; /* by their ids */
	size_t count;
};

/* Something of which the report can know nothing. */
struct run_gap {
	const char *key, *text, *why; /* what: as JSON and as text */
};

struct run_setting {
	const char *name, *value;
	bool done; /* false: the user has set it, or it is not for these GPUs */
};

/* Sets what frameworks need. False: told. */
bool run_adopt(const struct run_config *config);
/* The settings one by one; NULL: no more. */
const struct run_setting *run_adopted(size_t index);

/* Whether its calls can be followed, as this program was built; and those of
 * which they can: "cuda or hip or opencl". */
bool run_has_backend(const char *name);
const char *run_backends(void);
/* The file of the libgpumem that this program runs with; NULL: it is a part of
 * the program. A constant. */
const char *run_own_library(void);
/* What --adopt puts first into PYTHONPATH, in RUN_PATH bytes. False: told. */
bool run_python_folder(char *path, const char *folder);
/* The path of one of the libraries, in RUN_PATH bytes, as it is named in
 * LD_PRELOAD or in OPENCL_LAYERS; links are made in `folder`. `glibc`: only
 * programs of glibc are to find it. False: told. */
bool run_library(char *path, const char *file, const char *folder, bool glibc);
/* The gaps one by one. False: no more. */
bool run_gap(const struct run_config *config, size_t index,
	     struct run_gap *gap_out);
/* Why what is executed by that name cannot be followed, in RUN_PATH bytes.
 * False: it can, or there is no such program. */
bool run_not_followed(char *why, const char *command);

/* Whether the file of --record could be written now, as far as its name is
 * known before the program has a number. False: told. */
bool run_try_recording(const char *file);

/* A new folder for ledgers, by way of which LD_PRELOAD and OPENCL_LAYERS are
 * set as well. NULL: it could not be, and that was told. */
const char *run_prepare(const struct run_config *config);
/* Removes the folder and what is in it. */
void run_clean(const char *folder);

/* Runs it and waits for its end; signals go to it. False: told. */
bool run_child(char **command, struct run_end *end_out);
/* When it is over, and nothing is left to remove: signals that end a process
 * end this one, in the middle of its report too. */
void run_listen(void);
/* Ends this process as the program ended. */
void run_end_alike(const struct run_end *end) __attribute__((noreturn));

/* Asks a process that runs under gpumem-run --adopt for its unused memory, and
 * prints how much that was. False: told. */
bool run_trim(pid_t pid);

/* False: out of memory, or unreadable, and told. */
bool run_read(const char *folder, struct run_ledgers *ledgers_out);
void run_ledgers_free(struct run_ledgers *ledgers);

/* Both print to standard output. False: told. */
bool run_print_text(const struct run_config *config,
		    const struct run_ledgers *ledgers,
		    const struct run_end *end);
bool run_print_json(const struct run_config *config,
		    const struct run_ledgers *ledgers,
		    const struct run_end *end);

/* What both print. */
bool run_device_is_used(const struct ledger_device *device);
double run_percent_of(struct limit_value limit);

#endif
