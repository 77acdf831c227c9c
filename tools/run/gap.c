/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What gpumem-run has not followed, so that its report claims nothing of that:
 * the calls of backends, and the program itself. Of what the program started
 * nothing is known here.
 */
#include "run.h"

#include <string.h>

static const struct {
	const char *name, *text;
} calls[] = {
	{"cuda", "calls of NVIDIA's driver"},
	{"hip", "calls of AMD's runtime"},
	{"opencl", "calls of OpenCL"},
};

#define CALLS (sizeof(calls) / sizeof(*calls))

static bool call_gap(const struct run_config *config, size_t i,
		     struct run_gap *gap)
{
	*gap = (struct run_gap){calls[i].name, calls[i].text, NULL};
	if (!run_has_backend(calls[i].name))
		gap->why = "gpumem-run was built without them";
	else if (config->backend && strcmp(config->backend, calls[i].name) != 0)
		gap->why = "--backend names another one";
	return gap->why;
}

bool run_gap(const struct run_config *config, size_t index,
	     struct run_gap *gap_out)
{
	for (size_t i = 0; i < CALLS; i++)
		if (call_gap(config, i, gap_out) && !index--)
			return true;
	*gap_out = (struct run_gap){config->command[0], config->command[0],
				    config->unfollowed};
	return gap_out->why && !index;
}
