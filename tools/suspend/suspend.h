/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What gpumem-suspend and gpumem-resume share: arguments and what is printed.
 */
#ifndef GPUMEM_TOOLS_SUSPEND_H
#define GPUMEM_TOOLS_SUSPEND_H

#include "suspend/group.h"

#include <argp.h>

struct suspend_config {
	struct group group;
	bool tree, json;
	double timeout_seconds; /* 0: for ever */
};

/* For both; OPTION_TIMEOUT is suspend's alone. */
#define SUSPEND_OPTIONS                                                        \
	{"tree",                                                               \
	 't',                                                                  \
	 NULL,                                                                 \
	 0,                                                                    \
	 "With their children, and theirs, that use "                          \
	 "CUDA",                                                               \
	 0},                                                                   \
	{                                                                      \
		"json", 'j', NULL, 0, "Write JSON", 0                          \
	}

error_t suspend_parse(int key, char *arg, struct argp_state *state);

/* Does it with the signals that end a program held back, so that nobody is left
 * half suspended, and prints what became of each process. The exit status. */
int suspend_do(struct suspend_config *config,
	       bool (*act)(struct group *group, unsigned timeout_ms));

#endif
