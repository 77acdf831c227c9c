/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Sentences for the core, and the simulated driver's own error codes. Keeps
 * nothing but the services table; no locks.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_device.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Atomic(const struct gpumem_services *) services;

void gm_host_services_set(const struct gpumem_services *table)
{
	atomic_store(&services, table);
}

const struct gpumem_services *gm_host_services(void)
{
	return atomic_load(&services);
}

struct native {
	gpumem_status status;
	int64_t code;
	const char *name;
};

/* What the driver of this device would have said. */
static const struct native natives[] = {
	{GPUMEM_INVALID, 1, "HOST_ERROR_INVALID_VALUE"},
	{GPUMEM_NO_MEMORY, 2, "HOST_ERROR_OUT_OF_MEMORY"},
	{GPUMEM_NO_HOST_MEMORY, 3, "HOST_ERROR_OUT_OF_HOST_MEMORY"},
	{GPUMEM_UNSUPPORTED, 4, "HOST_ERROR_NOT_SUPPORTED"},
	{GPUMEM_LOST, 5, "HOST_ERROR_DEVICE_LOST"},
	{GPUMEM_NO_DEVICE, 6, "HOST_ERROR_NO_DEVICE"},
	{GPUMEM_CAPTURING, 7, "HOST_ERROR_STREAM_CAPTURING"},
	{GPUMEM_DRIVER, 8, "HOST_ERROR_SYSTEM"},
	{GPUMEM_BAD_POINTER, 9, "HOST_ERROR_ILLEGAL_ADDRESS"},
	{GPUMEM_OK, 999, "HOST_ERROR_UNKNOWN"}, /* ends the list */
};

gpumem_status gm_host_fail(gpumem_status status, const char *format, ...)
{
	const struct gpumem_services *table = gm_host_services();
	const struct native *native = natives;
	char text[512];
	va_list list;

	if (!table)
		return status;
	while (native->status != status && native->status != GPUMEM_OK)
		native++;
	va_start(list, format);
	(void)vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	table->error(native->code, native->name, "%s", text);
	return status;
}

gpumem_status gm_host_return(gpumem_status status, const char *where)
{
	const struct gpumem_services *table = gm_host_services();

	if (status == GPUMEM_OK || !table || !table->fail)
		return status;
	return table->fail(status, "host", where);
}

gpumem_status gm_host_fail_system(int error, const char *what)
{
	bool memory = error == ENOMEM || error == EAGAIN;

	return gm_host_fail(memory ? GPUMEM_NO_HOST_MEMORY : GPUMEM_DRIVER,
			    "the system refused %s: %s", what, strerror(error));
}
