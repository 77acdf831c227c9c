/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See answer.h. */
#include "answer.h"
#include "base/error.h"
#include "base/status.h"
#include "slots.h"

/* Those that only the library has a use for are none of a slot's. */
static bool may_give(enum gpumem_slot slot, gpumem_status status)
{
	switch ((int)status) {
	case GPUMEM_NOT_FOUND:
	case GPUMEM_LIMIT:
	case GPUMEM_ABI:
	case GPUMEM_CORRUPT:
	case GPUMEM_FORKED:
	case GPUMEM_NOT_READY:
		return false;
	case GPUMEM_BAD_POINTER:
		return slot == GPUMEM_SLOT_fill || slot == GPUMEM_SLOT_copy;
	default:
		return true;
	}
}

gpumem_status gm_answer(enum gpumem_slot slot, gpumem_status status)
{
	const char *name = gm_slot_rows[slot].name;

	if (!gm_status_known(status))
		gm_native_error(0, "", "%s returned the unknown status %d",
				name, (int)status);
	else if (!may_give(slot, status))
		gm_native_error(0, "",
				"%s returned the status %d, %s, which it may "
				"not",
				name, (int)status, gm_status_name(status));
	else
		return status;
	return GPUMEM_DRIVER;
}
