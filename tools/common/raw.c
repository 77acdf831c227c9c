/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See raw.h.
 */
#include "raw.h"

#include "tool.h"

#include <limits.h>
#include <string.h>

bool raw_split(const char *device_name, char backend_out[16], int *index_out)
{
	size_t length = strcspn(device_name, ":");
	uint64_t number = 0;

	if (!length || length >= 16)
		return false;
	if (device_name[length] &&
	    !tool_parse_count(device_name + length + 1, INT_MAX, &number))
		return false;
	memcpy(backend_out, device_name, length);
	backend_out[length] = '\0';
	*index_out = (int)number;
	return true;
}

gpumem_status raw_open(const char *device_name, struct raw_device *raw_out)
{
	struct raw_device raw = {0};
	gpumem_status status;
	char backend[16];
	int index;

	if (!raw_split(device_name, backend, &index))
		return GPUMEM_NOT_FOUND;
	status = gpumem_backend_table(backend, &raw.table);
	if (status == GPUMEM_OK)
		status = raw.table->device_open(index, &raw.handle);
	if (status == GPUMEM_OK)
		*raw_out = raw;
	return status;
}

void raw_close(struct raw_device *raw)
{
	if (raw->handle)
		raw->table->device_close(raw->handle);
	raw->handle = NULL;
}
