/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A backend whose next call gives what the test says, over ../loader/fake.h,
 * and two of its devices: for tests of what is live. One program includes this
 * once.
 */
#ifndef GPUMEM_TESTS_DEVICE_LIVE_H
#define GPUMEM_TESTS_DEVICE_LIVE_H

#include "base/error.h"
#include "device/driver.h"
#include "loader/loader.h"
#include "../../tap.h"
#include "../loader/fake.h"

static struct gpumem_device *device, *other;
static struct gm_driver driver, other_driver;
static struct gpumem_backend table;

/* What the next call gives. */
static _Thread_local uint64_t given;
/* Within the call of free, as another thread may do then. */
static void (*during_free)(void);

static gpumem_status give(void *of, uint64_t bytes, uint64_t *address_out)
{
	(void)of;
	(void)bytes;
	if (fake.next == GPUMEM_OK)
		*address_out = given;
	return fake.next;
}

static gpumem_status give_kind(void *of, gpumem_kind kind, uint64_t bytes,
			       uint64_t *address_out)
{
	(void)kind;
	return give(of, bytes, address_out);
}

static gpumem_status give_range(void *of, uint64_t bytes, uint64_t alignment,
				uint64_t *address_out)
{
	(void)alignment;
	return give(of, bytes, address_out);
}

static gpumem_status give_import(void *of, const void *handle, uint64_t bytes,
				 uint64_t *address_out)
{
	(void)handle;
	return give(of, bytes, address_out);
}

static gpumem_status take_back(void *of, uint64_t address, uint64_t bytes)
{
	(void)of;
	(void)address;
	(void)bytes;
	if (during_free)
		during_free();
	return fake.next;
}

static gpumem_status page_of(struct gm_driver *from, gpumem_page number,
			     size_t count, size_t *done_out)
{
	gpumem_page pages[4];

	given = number;
	return gm_driver_page_create(from, 4096, pages, count, done_out);
}

static void open_devices(void)
{
	table = fake_table;
	table.alloc = give;
	table.kind_alloc = give_kind;
	table.va_reserve = give_range;
	table.page_create = give;
	table.ipc_open = give_import;
	table.free = take_back;
	table.va_release = take_back;
	if (gm_backend_register(&table) != GPUMEM_OK ||
	    gm_device_open("fake:0", &device) != GPUMEM_OK ||
	    gm_device_open("fake:1", &other) != GPUMEM_OK)
		bail("no fake");
	gm_driver_init(&driver, device);
	gm_driver_init(&other_driver, other);
}

#endif
