/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The table of NVIDIA's driver, for hooks.h.
 */
#include "cuda_hooks.h"

static struct hook hooks[] = {
#define HOOK(name, type) {#name, (uintptr_t)wrap_##name, 0},
	CUDA_HOOKS(HOOK)
#undef HOOK
#define HOOK(name, type) {#name, 0, 0},
		CUDA_CALLS(HOOK)
#undef HOOK
};

static CUresult absent(void)
{
	return CUDA_ERROR_NOT_FOUND;
}

const struct hook_table cuda_hooks = {
	.hooks = hooks,
	.count = CUDA_HOOK_COUNT,
	.wrapped = CUDA_WRAPPED_COUNT,
	.decisive = CUDA_DECISIVE_COUNT,
	.api = LEDGER_CUDA,
	.prefix = "cu",
	.file = "libcuda.so",
	.soname = "libcuda.so.1",
	.inside = "libnvidia-",
	.absent = (uintptr_t)absent,
};
