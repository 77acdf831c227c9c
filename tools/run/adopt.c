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
#include "loader/sight.h"
#include "run.h"

#include <stdlib.h>
#include <string.h>

static struct run_setting settings[] = {
#define SETTING(name, value, framework, library, stream_ordered)               \
	{name, value, false},
	ADOPTED_LIST(SETTING)
#undef SETTING
};

static const bool stream_ordered[] = {
#define SETTING(name, value, framework, library, stream_ordered) stream_ordered,
	ADOPTED_LIST(SETTING)
#undef SETTING
};

/* Built for AMD's devices XLA and TensorFlow have no stream-ordered allocator,
 * and end when they are asked for it. */
static bool is_amds(const struct run_config *config)
{
	struct gm_sight sights[GM_SIGHTS];

	if (config->backend)
		return strcmp(config->backend, "hip") == 0;
	return gm_sight("", sights) && strcmp(sights[0].backend, "hip") == 0;
}

bool run_adopt(const struct run_config *config)
{
	bool amds = is_amds(config);

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		if (getenv(settings[i].name) || (stream_ordered[i] && amds))
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
