/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which statuses the documents allow: of a call that takes memory or calls the
 * driver, and of one that only gives back. No lock.
 */
#include "soak.h"

bool took(gpumem_status status, const char *call)
{
	switch (status) {
	case GPUMEM_OK:
		return true;
	case GPUMEM_NO_MEMORY:
	case GPUMEM_LIMIT:
	case GPUMEM_NO_HOST_MEMORY:
	case GPUMEM_DRIVER:
		break;
	case GPUMEM_LOST:
		if (!world.lossy)
			finding("%s: lost", call);
		break;
	case GPUMEM_CAPTURING:
		/* A driver that cannot tell may be capturing. */
		if (!world.faulty)
			finding("%s: capturing", call);
		break;
	default:
		finding("%s: %s", call, gpumem_status_name(status));
	}
	return false;
}

bool gave(gpumem_status status, const char *call)
{
	if (status && status != GPUMEM_NO_HOST_MEMORY)
		finding("%s: %s", call, gpumem_status_name(status));
	return !status;
}
