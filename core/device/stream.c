/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Streams, fill and copy, which programs call on a device directly, and the
 * pinning of what is copied to. Not counted; else as driver.c. The caller has
 * looked at the capability.
 */
#include "driver_call.h"
#include "base/error.h"

gpumem_status gm_stream_create(struct gpumem_device *device,
			       gpumem_stream *stream_out)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_stream_create);
	gpumem_stream stream = NULL;

	if (call.status == GPUMEM_OK)
		call.status = call.ops->stream_create(call.handle, &stream);
	gm_call_check_set(&call, stream != NULL, "stream");
	if (call.status == GPUMEM_OK)
		*stream_out = stream;
	return gm_call_end(&call);
}

gpumem_status gm_stream_destroy(struct gpumem_device *device,
				gpumem_stream stream)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_stream_destroy);

	if (call.status == GPUMEM_OK)
		call.status = call.ops->stream_destroy(call.handle, stream);
	return gm_call_end(&call);
}

gpumem_status gm_stream_sync(struct gpumem_device *device, gpumem_stream stream)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_stream_sync);

	if (call.status == GPUMEM_OK)
		call.status = call.ops->stream_sync(call.handle, stream);
	return gm_call_end(&call);
}

gpumem_status gm_stream_wait(struct gpumem_device *device, gpumem_stream stream,
			     void *event)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_stream_wait);

	if (call.status == GPUMEM_OK)
		call.status = call.ops->stream_wait(call.handle, stream, event);
	return gm_call_end(&call);
}

gpumem_status gm_fill(struct gpumem_device *device, uint64_t address,
		      uint8_t value, uint64_t bytes, gpumem_stream stream)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_fill);

	if (call.status == GPUMEM_OK)
		call.status = call.ops->fill(call.handle, address, value, bytes,
					     stream);
	return gm_call_end(&call);
}

gpumem_status gm_copy(struct gpumem_device *device, uint64_t to, uint64_t from,
		      uint64_t bytes, gpumem_stream stream)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_copy);

	if (call.status == GPUMEM_OK)
		call.status =
			call.ops->copy(call.handle, to, from, bytes, stream);
	return gm_call_end(&call);
}

gpumem_status gm_device_pin(struct gpumem_device *device, void *memory,
			    uint64_t bytes)
{
	struct gm_call call;

	if (!device->ops->host_pin)
		return gm_fail(GPUMEM_UNSUPPORTED,
			       "backend %s cannot pin memory where it is",
			       device->ops->name);
	call = gm_call_begin(device, GPUMEM_SLOT_host_pin);
	if (call.status == GPUMEM_OK)
		call.status = call.ops->host_pin(call.handle, memory, bytes);
	return gm_call_end(&call);
}

gpumem_status gm_device_unpin(struct gpumem_device *device, void *memory,
			      uint64_t bytes)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_host_unpin);

	if (call.status == GPUMEM_OK)
		call.status = call.ops->host_unpin(call.handle, memory, bytes);
	return gm_call_end(&call);
}
