/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What --adopt sets, so that frameworks allocate what they need from the driver
 * and not large arenas of their own, of which nobody can see what is in use.
 * Whatever the user has set stays as it is. Programs of PyTorch's in Python get
 * gpumem's pool instead, where they can: tools/adopt/sitecustomize.py.
 */
#include "common/tool.h"
#include "run.h"

#include <stdlib.h>

/* JAX and XLA; PyTorch, also as it is built for AMD's runtime; TensorFlow.
 * CuPy's pool has no variable. */
static struct run_setting settings[] = {
	{"XLA_PYTHON_CLIENT_ALLOCATOR", "platform", false},
	{"XLA_PYTHON_CLIENT_PREALLOCATE", "false", false},
	{"PYTORCH_NO_CUDA_MEMORY_CACHING", "1", false},
	{"PYTORCH_NO_HIP_MEMORY_CACHING", "1", false},
	{"TF_FORCE_GPU_ALLOW_GROWTH", "true", false},
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
