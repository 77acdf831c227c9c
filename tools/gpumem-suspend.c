/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem-suspend: takes all that processes have of NVIDIA's devices to the
 * host's memory, their contexts too, until gpumem-resume brings it back.
 */
#include "common/tool.h"
#include "common/usage.h"
#include "suspend/suspend.h"

enum { TIMEOUT_USUAL = 10 };

int main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"timeout", 'w', "SECONDS", 0,
		 "Give up where a process's work on its devices is not over by "
		 "then (10; 0: never)",
		 0},
		SUSPEND_OPTIONS,
		{0},
	};
	static const struct argp argp = {
		.options = options,
		.parser = suspend_parse,
		.args_doc = "PID...",
		.doc = "Take all that processes have of NVIDIA's GPUs to the "
		       "host's memory, until gpumem-resume brings it back.\v"
		       "All are suspended, or none. They wait at their next "
		       "call of CUDA's.\n\n"
		       "Exit status: 0 all are suspended, 1 none was, 2 usage, "
		       "3 no driver that can do it.",
	};
	struct suspend_config config = {.timeout_seconds = TIMEOUT_USUAL};

	tool_begin("gpumem-suspend");
	usage_parse(&argp, argc, argv, &config);
	return suspend_do(&config, group_suspend);
}
