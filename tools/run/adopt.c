/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Sets what adopted.h lists, so that frameworks allocate what they need and not
 * large arenas of their own, of which nobody can see what is in use. Whatever
 * the user has set stays as it is. Programs of PyTorch's in Python get gpumem's
 * pool instead, where they can: tools/adopt/sitecustomize.py.
 */
#include "../preload/adopted.h"
#include "common/tool.h"
#include "run.h"

#include <stdlib.h>

static struct run_setting settings[] = {
#define SETTING(name, value, framework, library, stream_ordered)               \
	{name, value, false},
	ADOPTED_LIST(SETTING)
#undef SETTING
};

bool run_adopt(void)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		if (getenv(settings[i].name))
			continue;
		if (setenv(settings[i].name, settings[i].value, 1)) {
			tool_error("out of memory");
			return false;
		}
		settings[i].done = true;
	}
	return true;
}

const struct run_setting *run_adopted(size_t index)
{
	if (index >= sizeof(settings) / sizeof(*settings))
		return NULL;
	return &settings[index];
}
