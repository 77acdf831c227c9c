/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A device without a pool: a backend's table and its own handle.
 */
#ifndef GPUMEM_TOOLS_RAW_H
#define GPUMEM_TOOLS_RAW_H

#include <gpumem/backend.h>

struct raw_device {
	const struct gpumem_backend *table;
	void *handle; /* NULL: not open */
};

/* Splits "host:0" into "host" (16 bytes) and 0; without a number, 0. False if
 * it is no device's name. */
bool raw_split(const char *device_name, char backend_out[16], int *index_out);

/* Opens the device of that name once more, beside any pool. */
gpumem_status raw_open(const char *device_name, struct raw_device *raw_out);

/* Nothing if it is not open. */
void raw_close(struct raw_device *raw);

#endif
