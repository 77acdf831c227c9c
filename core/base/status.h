/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The names and texts of the one status type, from its one list. Constant
 * data: no locks.
 */
#ifndef GM_BASE_STATUS_H
#define GM_BASE_STATUS_H

#include <gpumem/gpumem.h>

/* "GPUMEM_NO_MEMORY", or "GPUMEM_UNKNOWN" for a number that is none. */
const char *gm_status_name(gpumem_status status);

/* The sentence of the list, or "unknown status". */
const char *gm_status_text(gpumem_status status);

/* True for a number of the list. Plugins are foreign: theirs is checked. */
bool gm_status_known(gpumem_status status);

#endif
