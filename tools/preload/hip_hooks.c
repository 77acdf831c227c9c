/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The table of AMD's runtime, for hooks.h. Its file has the number of a
 * release, or what a package of Python's makes of that; the one that is loaded
 * is looked for by the beginning of its name.
 */
#include "hip_hooks.h"

/* Some are deprecated, but programs call them. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define COMPARE(name, type)                                                    \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&name), type),  \
		       #name);
HIP_OLD_HOOKS(COMPARE)
HIP_OLD_CALLS(COMPARE)
#undef COMPARE
#pragma GCC diagnostic pop

static struct hook hooks[] = {
#define HOOK(name, type) {#name, (uintptr_t)wrap_##name, 0},
	HIP_HOOKS(HOOK)
#undef HOOK
#define HOOK(name, type) {#name, 0, 0},
		HIP_CALLS(HOOK)
#undef HOOK
};

static hipError_t absent(void)
{
	return hipErrorNotSupported;
}

const struct hook_table hip_hooks = {
	.hooks = hooks,
	.count = HIP_HOOK_COUNT,
	.wrapped = HIP_WRAPPED_COUNT,
	.api = LEDGER_HIP,
	.prefix = "hip",
	.file = "libamdhip64",
	.absent = (uintptr_t)absent,
};
