/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What all parts of the door ask before they open: api*.c. */
#ifndef GM_API_CHECK_H
#define GM_API_CHECK_H

#include "base/error.h"
#include "base/fork.h"

static inline gpumem_status gm_null_argument(const char *name)
{
	return gm_fail(GPUMEM_INVALID, "%s is NULL", name);
}

/* OK in the process that may use devices. */
static inline gpumem_status gm_enter(void)
{
	gm_fork_init();
	if (!gm_forked())
		return GPUMEM_OK;
	return gm_fail(GPUMEM_FORKED,
		       "the process was forked after gpumem was used; only its "
		       "parent can use devices");
}

#endif
