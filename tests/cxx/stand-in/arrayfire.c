/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The part of ArrayFire that has a memory manager, on two simulated GPUs: which
 * device is the active one, its stream and its context, and the manager that
 * was set. Calls it as ArrayFire 3.8 does. One thread sets it up; any may use
 * it.
 */
#include "arrayfire.h"

#include <stdlib.h>

struct arrayfire af;

#define AF_SETTER(name, parameters)                                            \
	af_err af_memory_manager_set_##name##_fn(                              \
		af_memory_manager handle, af_memory_manager_##name##_fn fn)    \
	{                                                                      \
		((struct functions *)handle)->name = fn;                       \
		return AF_SUCCESS;                                             \
	}
AF_FUNCTIONS(AF_SETTER)

af_err af_memory_manager_set_add_memory_management_fn(
	af_memory_manager handle, af_memory_manager_add_memory_management_fn fn)
{
	((struct functions *)handle)->add_memory_management = fn;
	return AF_SUCCESS;
}

af_err af_memory_manager_set_remove_memory_management_fn(
	af_memory_manager handle,
	af_memory_manager_remove_memory_management_fn fn)
{
	((struct functions *)handle)->remove_memory_management = fn;
	return AF_SUCCESS;
}

af_err af_create_memory_manager(af_memory_manager *out)
{
	*out = calloc(1, sizeof(struct functions));
	return *out ? AF_SUCCESS : AF_ERR_NO_MEM;
}

af_err af_release_memory_manager(af_memory_manager handle)
{
	free(handle);
	return AF_SUCCESS;
}

af_err af_memory_manager_get_payload(af_memory_manager handle, void **payload)
{
	*payload = ((struct functions *)handle)->payload;
	return AF_SUCCESS;
}

af_err af_memory_manager_set_payload(af_memory_manager handle, void *payload)
{
	((struct functions *)handle)->payload = payload;
	return AF_SUCCESS;
}

af_err af_set_memory_manager(af_memory_manager handle)
{
	af.manager = handle;
	return af.manager->initialize(handle);
}

/* ArrayFire makes each device the active one and shuts it down. */
af_err af_unset_memory_manager(void)
{
	int active = af.active;

	for (af.active = 0; af.active < AF_DEVICES; af.active++)
		(void)af.manager->shutdown(af.manager);
	af.active = active;
	af.manager = NULL;
	return AF_SUCCESS;
}

af_err af_memory_manager_get_active_device_id(af_memory_manager handle, int *id)
{
	(void)handle;
	*id = af.active;
	return AF_SUCCESS;
}

af_err af_memory_manager_native_free(af_memory_manager handle, void *ptr)
{
	(void)handle;
	af.native_frees++;
	free(ptr);
	return AF_SUCCESS;
}

af_err af_memory_manager_get_max_memory_size(af_memory_manager handle,
					     size_t *size, int id)
{
	(void)handle;
	(void)id;
	*size = af.max_bytes;
	return AF_SUCCESS;
}

af_err af_get_active_backend(af_backend *backend)
{
	*backend = af.backend;
	return AF_SUCCESS;
}

/* ---- what is behind a device ---- */

af_err afcu_get_native_id(int *native_out, int id)
{
	*native_out = id;
	return AF_SUCCESS;
}

af_err afcu_get_stream(void **stream_out, int id)
{
	*stream_out = af.streams[id];
	return AF_SUCCESS;
}

af_err afcl_get_context(void **context_out, const bool retain)
{
	*context_out = retain ? NULL : &af;
	return AF_SUCCESS;
}

af_err afcl_get_device_id(void **device_out)
{
	*device_out = &af.streams[af.active];
	return AF_SUCCESS;
}

af_err afcl_get_queue(void **queue_out, const bool retain)
{
	*queue_out = retain ? NULL : af.streams[af.active];
	return AF_SUCCESS;
}
