/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See api_check.h. */
#include "api_check.h"

#include <string.h>

gpumem_status gm_enter_with_all(const char *names, const void *const *arguments,
				size_t count)
{
	gpumem_status status = gm_enter();

	for (size_t i = 0; status == GPUMEM_OK && i < count; i++) {
		int length = (int)strcspn(names, ",");

		if (!arguments[i])
			return gm_fail(GPUMEM_INVALID, "%.*s is NULL", length,
				       names);
		names += length + strspn(names + length, ", ");
	}
	return status;
}
