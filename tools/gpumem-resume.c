/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem-resume: brings back to NVIDIA's devices what gpumem-suspend took from
 * processes, at the same addresses, and lets them go on.
 */
#include "common/tool.h"
#include "common/usage.h"
#include "suspend/suspend.h"

static bool resume(struct group *group, unsigned timeout_ms)
{
	(void)timeout_ms;
	return group_resume(group);
}

int main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		SUSPEND_OPTIONS,
		{0},
	};
	static const struct argp argp = {
		.options = options,
		.parser = suspend_parse,
		.args_doc = "PID...",
		.doc = "Bring back what gpumem-suspend took from processes, "
		       "and "
		       "let them go on.\v"
		       "They go on when all are back. One for which there is "
		       "too little memory stays suspended; ask again when "
		       "there "
		       "is more.\n\n"
		       "Exit status: 0 all go on, 1 some do not, 2 usage, 3 no "
		       "driver that can do it.",
	};
	struct suspend_config config = {0};

	tool_begin("gpumem-resume");
	usage_parse(&argp, argc, argv, &config);
	return suspend_do(&config, resume);
}
