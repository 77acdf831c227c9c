/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* API layer: devices, their processes and pools, streams. See api.c. */
#include "api_check.h"
#include "device/driver.h"
#include "pool/pool.h"

/* ---- devices ---- */

gpumem_status gpumem_device_visit(
	const char *backend,
	bool (*fn)(const struct gpumem_device_info *info, void *user),
	void *user)
{
	GM_SCOPE;
	gpumem_status status = gm_enter();

	if (status != GPUMEM_OK)
		return status;
	return fn ? gm_device_visit(backend, fn, user) : gm_null_argument("fn");
}

gpumem_status gpumem_device_open(const char *name, gpumem_device **device_out)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(device_out);

	if (status != GPUMEM_OK)
		return status;
	return gm_device_open(name, device_out);
}

gpumem_status gpumem_device_close(gpumem_device *device)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(device);

	if (status != GPUMEM_OK)
		return status;
	return gm_pool_device_close(device);
}

gpumem_status gpumem_device_get_info(const gpumem_device *device,
				     struct gpumem_device_info *info_out)
{
	gpumem_status status;

	if (!device)
		return gm_null_argument("device");
	if (!info_out)
		return gm_null_argument("info_out");
	status = gm_check_struct(gpumem_device_info, info_out);
	if (status == GPUMEM_OK)
		gm_struct_copy(info_out, &device->info);
	return status;
}

gpumem_status gpumem_device_memory(gpumem_device *device,
				   struct gpumem_memory *memory_out)
{
	struct gpumem_memory memory = {.size = sizeof(memory)};
	struct gm_driver driver;
	GM_SCOPE;
	gpumem_status status = GM_ENTER(device, memory_out);

	if (status != GPUMEM_OK)
		return status;
	status = gm_check_struct(gpumem_memory, memory_out);
	if (status != GPUMEM_OK)
		return status;
	gm_driver_init(&driver, device);
	status = gm_driver_memory_info(&driver, &memory);
	if (status != GPUMEM_OK)
		return status;
	gm_pool_complete_memory(device, &memory);
	gm_struct_copy(memory_out, &memory);
	return GPUMEM_OK;
}

gpumem_status gpumem_device_trim(gpumem_device *device, uint64_t keep_bytes,
				 uint64_t *released_bytes_out)
{
	uint64_t released = 0;
	GM_SCOPE;
	gpumem_status status = GM_ENTER(device);

	if (status == GPUMEM_OK)
		status = gm_device_trim(device, keep_bytes, &released);
	if (released_bytes_out)
		*released_bytes_out = released;
	return status;
}

gpumem_status gpumem_trim(uint64_t *released_bytes_out)
{
	uint64_t released = 0;
	GM_SCOPE;
	gpumem_status status = gm_enter();

	if (status == GPUMEM_OK)
		status = gm_pools_trim(&released);
	if (released_bytes_out)
		*released_bytes_out = released;
	return status;
}

gpumem_status gpumem_device_peer(gpumem_device *device, gpumem_device *other,
				 bool *can_out)
{
	GM_SCOPE;
	gpumem_status status = gm_enter();

	if (status != GPUMEM_OK)
		return status;
	if (!device || !other)
		return gm_null_argument(device ? "other" : "device");
	return can_out ? gm_device_peer(device, other, can_out)
		       : gm_null_argument("can_out");
}

gpumem_status gpumem_process_visit(
	gpumem_device *device,
	bool (*fn)(const struct gpumem_process *process, void *user),
	void *user)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(device);

	if (status != GPUMEM_OK)
		return status;
	return fn ? gm_process_visit(device, fn, user) : gm_null_argument("fn");
}

gpumem_status gpumem_pool_visit(gpumem_device *device,
				bool (*fn)(gpumem_pool *pool, const char *name,
					   void *user),
				void *user)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(device);

	if (status != GPUMEM_OK)
		return status;
	if (!fn)
		return gm_null_argument("fn");
	gm_pool_visit(device, fn, user);
	return GPUMEM_OK;
}

/* ---- streams ---- */

gpumem_status gpumem_stream_create(gpumem_device *device,
				   gpumem_stream *stream_out)
{
	GM_SCOPE;
	gpumem_status status =
		gm_enter_with(device, GPUMEM_CAP_STREAMS, "streams");

	if (status != GPUMEM_OK)
		return status;
	return stream_out ? gm_stream_create(device, stream_out)
			  : gm_null_argument("stream_out");
}

gpumem_status gpumem_stream_destroy(gpumem_device *device, gpumem_stream stream)
{
	GM_SCOPE;
	gpumem_status status =
		gm_enter_with(device, GPUMEM_CAP_STREAMS, "streams");

	if (status != GPUMEM_OK)
		return status;
	if (!stream)
		return gm_fail(GPUMEM_INVALID,
			       "the default stream cannot be destroyed");
	status = gm_pool_drop_everywhere(device, stream);
	return status != GPUMEM_OK ? status : gm_stream_destroy(device, stream);
}

gpumem_status gpumem_stream_sync(gpumem_device *device, gpumem_stream stream)
{
	GM_SCOPE;
	gpumem_status status =
		gm_enter_with(device, GPUMEM_CAP_STREAMS, "streams");

	return status != GPUMEM_OK ? status : gm_stream_sync(device, stream);
}

gpumem_status gpumem_fill(gpumem_device *device, void *ptr, uint8_t value,
			  size_t bytes, gpumem_stream stream)
{
	GM_SCOPE;
	gpumem_status status = gm_enter_with(device, GPUMEM_CAP_COPY, "fill");

	if (status != GPUMEM_OK || !bytes)
		return status;
	return ptr ? gm_fill(device, (uintptr_t)ptr, value, bytes, stream)
		   : gm_null_argument("ptr");
}

gpumem_status gpumem_copy(gpumem_device *device, void *to, const void *from,
			  size_t bytes, gpumem_stream stream)
{
	GM_SCOPE;
	gpumem_status status = gm_enter_with(device, GPUMEM_CAP_COPY, "copy");

	if (status != GPUMEM_OK || !bytes)
		return status;
	if (!to || !from)
		return gm_null_argument(to ? "from" : "to");
	return gm_copy(device, (uintptr_t)to, (uintptr_t)from, bytes, stream);
}
