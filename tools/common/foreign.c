/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See foreign.h.
 */
#include "foreign.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool foreign_begin(struct foreign *foreign, struct torch_history *history)
{
	*foreign = (struct foreign){.history = history};
	foreign->devices = calloc(TORCH_POOLS, sizeof(*foreign->devices));
	return foreign->devices || torch_no_memory(history);
}

bool foreign_end(struct foreign *foreign, bool ok)
{
	struct torch_device *devices = foreign->devices;

	for (unsigned i = 0; devices && i < TORCH_POOLS; i++) {
		if (!devices[i].history)
			continue;
		ok = ok && torch_finish(&devices[i]);
		torch_device_free(&devices[i]);
	}
	free(devices);
	foreign->devices = NULL;
	return ok;
}

struct torch_device *foreign_pool(struct foreign *foreign, unsigned pool)
{
	struct torch_device *device = &foreign->devices[pool];

	if (!device->history)
		torch_device_init(device, foreign->history, NULL, pool);
	return device;
}

bool foreign_is_empty(const struct foreign *foreign)
{
	for (unsigned i = 0; i < TORCH_POOLS; i++)
		if (foreign->devices[i].history)
			return false;
	return true;
}

bool foreign_fail(const struct foreign *foreign, const char *reason)
{
	snprintf(foreign->history->reason, sizeof(foreign->history->reason),
		 "line %llu: %s", (unsigned long long)foreign->line, reason);
	return false;
}

bool foreign_pointer(const char *text, uint64_t *value_out)
{
	char *end;

	*value_out = 0;
	if (!strcmp(text, "(nil)") || !strcmp(text, "nullptr"))
		return true;
	if (!isxdigit((unsigned char)*text))
		return false;
	*value_out = strtoull(text, &end, 16);
	return !*end;
}
