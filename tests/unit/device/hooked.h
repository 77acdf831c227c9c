/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A device whose driver calls the test before and after each call that makes,
 * maps or gives back memory: to see it, to hold it up, or to refuse it. The
 * core is called as always. Set before other threads use the device; the
 * functions of the test are called by any thread.
 */
#ifndef DEVICE_HOOKED_H
#define DEVICE_HOOKED_H

#include "device/device.h"
#include "../../tap.h"

struct hooks {
	/* Not OK: the driver is not called, and this is its answer. `count` of
	 * handles that map and unmap are given, else 1. */
	gpumem_status (*before)(const char *slot, size_t count);
	void (*after)(const char *slot); /* NULL: not called */
};

static const struct gpumem_backend *honest; /* the driver itself */
static struct hooks hooks;

#define HOOKED(slot, count, ...)                                               \
	do {                                                                   \
		gpumem_status status = hooks.before(#slot, (count));           \
		if (status == GPUMEM_OK)                                       \
			status = honest->slot(__VA_ARGS__);                    \
		if (hooks.after)                                               \
			hooks.after(#slot);                                    \
		return status;                                                 \
	} while (0)

static gpumem_status hooked_page_create(void *handle, uint64_t bytes,
					gpumem_page *page_out)
{
	HOOKED(page_create, 1, handle, bytes, page_out);
}

static gpumem_status hooked_page_destroy(void *handle, gpumem_page page,
					 uint64_t bytes)
{
	HOOKED(page_destroy, 1, handle, page, bytes);
}

static gpumem_status hooked_map(void *handle, uint64_t address,
				const gpumem_page *pages, size_t count,
				uint64_t page_bytes)
{
	HOOKED(map, count, handle, address, pages, count, page_bytes);
}

static gpumem_status hooked_unmap(void *handle, uint64_t address, size_t count,
				  uint64_t page_bytes)
{
	HOOKED(unmap, count, handle, address, count, page_bytes);
}

static gpumem_status hooked_alloc(void *handle, uint64_t bytes,
				  uint64_t *address_out)
{
	HOOKED(alloc, 1, handle, bytes, address_out);
}

static gpumem_status hooked_free(void *handle, uint64_t address, uint64_t bytes)
{
	HOOKED(free, 1, handle, address, bytes);
}

static void hook_driver(struct gpumem_device *opened, struct hooks by)
{
	static struct gpumem_backend ops;

	hooks = by;
	honest = opened->ops;
	ops = *honest;
	ops.page_create = hooked_page_create;
	ops.page_destroy = hooked_page_destroy;
	ops.map = hooked_map;
	ops.unmap = hooked_unmap;
	ops.alloc = hooked_alloc;
	ops.free = hooked_free;
	opened->ops = &ops;
}

static void unhook_driver(struct gpumem_device *opened)
{
	opened->ops = honest;
}

#endif
