/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Blocks of other processes; see shared.h. An import holds its device open as a
 * pool does.
 */
#include "shared.h"
#include "base/error.h"
#include "device/share.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* count > 0; ptr is no other import's. */
struct import {
	struct import *next;
	struct gpumem_device *device;
	struct gpumem_shared shared; /* as it came */
	uint64_t address;	     /* of what is shared */
	gpumem_page *pages;	     /* FD: shared.fd_count; else NULL */
	uint64_t count;		     /* imports without their close */
	void *user;		     /* the caller's word */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct import *imports; /* under the mutex */

static uintptr_t pointer_of(const struct import *import)
{
	return (uintptr_t)(import->address + import->shared.offset_bytes);
}

/* Under the mutex. The link to it, or to the end. */
static struct import **find(const void *ptr)
{
	struct import **link = &imports;

	while (*link && pointer_of(*link) != (uintptr_t)ptr)
		link = &(*link)->next;
	return link;
}

static struct import *find_same(const struct gpumem_device *device,
				const struct gpumem_shared *shared)
{
	const size_t first = offsetof(struct gpumem_shared, method);
	struct import *import = imports;

	for (; import; import = import->next)
		if (import->device == device &&
		    !memcmp((const char *)&import->shared + first,
			    (const char *)shared + first,
			    sizeof(*shared) - first))
			break;
	return import;
}

/* Of what was imported; all are tried. */
static gpumem_status destroy_pages(struct gm_driver *driver,
				   const struct import *import, size_t count)
{
	struct gm_first first = {0};
	size_t done;

	for (size_t i = 0; i < count; i++)
		gm_first_keep(&first, gm_driver_page_destroy(
					      driver, import->shared.fd_bytes,
					      &import->pages[i], 1, &done));
	return gm_first_end(&first);
}

static gpumem_status import_fds(struct import *import, const int *fds,
				struct gm_driver *driver)
{
	const struct gpumem_shared *shared = &import->shared;
	struct gpumem_error cause = {.size = sizeof(cause)};
	gpumem_status status = GPUMEM_OK;
	size_t done = 0;

	while (done < shared->fd_count) {
		status = gm_page_import(import->device, fds[done],
					shared->fd_bytes, &import->pages[done]);
		if (status != GPUMEM_OK)
			goto destroy;
		done++;
	}
	status = gm_driver_map(driver, import->address, import->pages,
			       shared->fd_count, shared->fd_bytes);
	if (status != GPUMEM_OK)
		goto destroy;
	return GPUMEM_OK;

destroy:
	gm_error_get(&cause);
	(void)destroy_pages(driver, import, done);
	gm_error_set(&cause);
	return status;
}

/* What came with a description that is imported already is looked at as if it
 * were not: each descriptor has to be one that the driver takes. */
static gpumem_status try_fds(const struct import *import, const int *fds)
{
	const struct gpumem_shared *shared = &import->shared;
	struct gm_driver driver;
	gpumem_status status = GPUMEM_OK;
	gpumem_page page;
	size_t done;

	gm_driver_init(&driver, import->device);
	for (uint32_t i = 0; i < shared->fd_count && status == GPUMEM_OK; i++) {
		status = gm_page_import(import->device, fds[i],
					shared->fd_bytes, &page);
		if (status == GPUMEM_OK)
			status = gm_driver_page_destroy(
				&driver, shared->fd_bytes, &page, 1, &done);
	}
	return status;
}

static gpumem_status open_fds(struct import *import, const int *fds)
{
	const struct gpumem_shared *shared = &import->shared;
	struct gpumem_error cause = {.size = sizeof(cause)};
	struct gm_driver driver;
	gpumem_status status;

	import->pages = calloc(shared->fd_count, sizeof(*import->pages));
	if (!import->pages)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a list of %u pages",
			       (unsigned)shared->fd_count);
	gm_driver_init(&driver, import->device);
	status = gm_driver_va_reserve(&driver, shared->total_bytes,
				      import->device->info.granularity_bytes,
				      &import->address);
	if (status != GPUMEM_OK)
		goto free_pages;
	status = import_fds(import, fds, &driver);
	if (status != GPUMEM_OK)
		goto release;
	return GPUMEM_OK;

release:
	gm_error_get(&cause);
	(void)gm_driver_va_release(&driver, import->address,
				   shared->total_bytes);
	gm_error_set(&cause);
free_pages:
	free(import->pages);
	return status;
}

/* *whole_out: nothing has changed, it can be tried again. */
static gpumem_status close_fds(struct import *import, bool *whole_out)
{
	const struct gpumem_shared *shared = &import->shared;
	struct gm_first first = {0};
	struct gm_driver driver;
	gpumem_status status;

	gm_driver_init(&driver, import->device);
	status = gm_driver_unmap(&driver, import->address, shared->fd_count,
				 shared->fd_bytes);
	*whole_out = status != GPUMEM_OK;
	if (status != GPUMEM_OK)
		return status;
	gm_first_keep(&first, destroy_pages(&driver, import, shared->fd_count));
	gm_first_keep(&first, gm_driver_va_release(&driver, import->address,
						   shared->total_bytes));
	return gm_first_end(&first);
}

static gpumem_status open_import(struct import *import, const int *fds)
{
	const struct gpumem_shared *shared = &import->shared;

	if (shared->method == GPUMEM_SHARE_FD)
		return open_fds(import, fds);
	return gm_ipc_open(import->device, shared->handle, shared->total_bytes,
			   &import->address);
}

static gpumem_status close_import(struct import *import, bool *whole_out)
{
	gpumem_status status;

	if (import->shared.method == GPUMEM_SHARE_FD)
		return close_fds(import, whole_out);
	status = gm_ipc_close(import->device, import->address);
	*whole_out = status != GPUMEM_OK;
	return status;
}

/* Under the mutex. */
static gpumem_status import_new(struct gpumem_device *device,
				const struct gpumem_shared *shared,
				const int *fds, struct import **import_out)
{
	struct import *import = calloc(1, sizeof(*import));
	gpumem_status status;

	if (!import)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for an import");
	import->device = device;
	import->shared = *shared;
	import->count = 1;
	status = open_import(import, fds);
	if (status != GPUMEM_OK) {
		free(import);
		return status;
	}
	gm_device_hold(device, GM_HOLD_IMPORT);
	import->next = imports;
	imports = import;
	*import_out = import;
	return GPUMEM_OK;
}

gpumem_status gm_import(struct gpumem_device *device,
			const struct gpumem_shared *shared, const int *fds,
			size_t fd_count, void **ptr_out)
{
	struct import *import;
	gpumem_status status = gm_import_check(device, shared, fds, fd_count);

	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&mutex);
	import = find_same(device, shared);
	if (import) {
		status = try_fds(import, fds);
		import->count += status == GPUMEM_OK;
	} else {
		status = import_new(device, shared, fds, &import);
	}
	if (status == GPUMEM_OK)
		*ptr_out = (void *)pointer_of(import);
	pthread_mutex_unlock(&mutex);
	return status;
}

/* Under the mutex: the last close. */
static gpumem_status end(struct import **link)
{
	struct import *import = *link;
	struct gpumem_device *device = import->device;
	bool whole = false;
	gpumem_status status = close_import(import, &whole);

	if (whole && !atomic_load(&device->lost))
		return status;
	*link = import->next;
	free(import->pages);
	free(import);
	gm_device_drop(device, GM_HOLD_IMPORT);
	return status;
}

gpumem_status gm_import_close(const void *ptr)
{
	gpumem_status status = GPUMEM_OK;
	struct import **link;

	pthread_mutex_lock(&mutex);
	link = find(ptr);
	if (!*link)
		status = gm_fail(GPUMEM_BAD_POINTER,
				 "%p is no pointer that gpumem_import() gave, "
				 "or was closed already",
				 ptr);
	else if ((*link)->count > 1)
		(*link)->count--;
	else
		status = end(link);
	pthread_mutex_unlock(&mutex);
	return status;
}

bool gm_import_holds(const void *ptr)
{
	bool found;

	pthread_mutex_lock(&mutex);
	found = *find(ptr) != NULL;
	pthread_mutex_unlock(&mutex);
	return found;
}

bool gm_import_set_user(const void *ptr, void *user)
{
	struct import *import;

	pthread_mutex_lock(&mutex);
	import = *find(ptr);
	if (import)
		import->user = user;
	pthread_mutex_unlock(&mutex);
	return import;
}

bool gm_import_get_user(const void *ptr, void **user_out)
{
	const struct import *import;

	pthread_mutex_lock(&mutex);
	import = *find(ptr);
	if (import)
		*user_out = import->user;
	pthread_mutex_unlock(&mutex);
	return import;
}

void gm_imports_visit(const struct gpumem_device *device,
		      bool (*fn)(const void *ptr, void *user), void *user)
{
	const struct import *import;
	bool go_on = true;

	pthread_mutex_lock(&mutex);
	for (import = imports; import && go_on; import = import->next)
		if (import->device == device)
			go_on = fn((const void *)pointer_of(import), user);
	pthread_mutex_unlock(&mutex);
}
