/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of peers share: three simulated devices, and what one of them
 * says when it is to write memory of another.
 */
#ifndef GPUMEM_TESTS_LIB_PEERS_H
#define GPUMEM_TESTS_LIB_PEERS_H

#include "fixture.h"

enum { DEVICES = 3 };
static gpumem_device *devices[DEVICES];

static gpumem_status fills(gpumem_device *by, void *ptr, size_t bytes)
{
	gpumem_status status = gpumem_fill(by, ptr, 9, bytes, NULL);

	return status ? status : gpumem_stream_sync(by, NULL);
}

static void open_devices(void)
{
	char name[] = "host:0";

	for (int i = 0; i < DEVICES; i++) {
		name[5] = (char)('0' + i);
		must(gpumem_device_open(name, &devices[i]));
	}
}

static void close_devices(void)
{
	for (int i = 0; i < DEVICES; i++)
		is_status(gpumem_device_close(devices[i]), GPUMEM_OK,
			  "device %d ends", i);
}

#endif
