/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The devices of the runtime hip_below: how large they are, how much is free,
 * and what they say of themselves. What they have given is in hip_below.c, with
 * its mutex.
 */
#include "hip_below_graph.h"

#include <string.h>

int hipInit(unsigned flags)
{
	return leave(OK);
}

int hipGetLastError(void)
{
	return take_last();
}

int hipGetDevice(int *out)
{
	*out = current;
	return leave(OK);
}

int hipGetDeviceCount(int *out)
{
	*out = DEVICES;
	return leave(OK);
}

int hipSetDevice(int device)
{
	if (device < 0 || device >= DEVICES)
		return leave(101);
	current = device;
	return leave(OK);
}

int hipRuntimeGetVersion(int *out)
{
	*out = below_version();
	return leave(OK);
}

int hipMemGetInfo(size_t *free_out, size_t *total_out)
{
	if (free_out)
		*free_out = TOTAL - below_used(current);
	if (total_out)
		*total_out = TOTAL;
	return leave(OK);
}

int hipDeviceTotalMem(size_t *out, int device)
{
	*out = TOTAL;
	return leave(OK);
}

static int properties(char *out, int device, size_t at, size_t bytes)
{
	size_t total = TOTAL;

	memset(out, 0x55, bytes);
	memcpy(out + at, &total, sizeof(total));
	return leave(OK);
}

int hipGetDevicePropertiesR0000(void *out, int device)
{
	return properties(out, device, 256, 792);
}

int hipGetDeviceProperties(void *out, int device)
{
	return hipGetDevicePropertiesR0000(out, device);
}

int hipGetDevicePropertiesR0600(void *out, int device)
{
	return properties(out, device, 288, 1472);
}

int hipDeviceReset(void)
{
	end_all(current);
	end_graphs(current);
	return leave(OK);
}
