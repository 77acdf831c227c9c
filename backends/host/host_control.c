/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The public functions of <gpumem/host.h> that concern one device, by its
 * number. The registry's mutex is held meanwhile, so that the device stays; but
 * for gpumem_host_step(), whose caller keeps it open.
 */
#include "host_device.h"

/* The stream of an open device, with the registry's mutex held; on failure
 * nothing is held. */
static gpumem_status enter(int index, gpumem_stream name,
			   struct host_stream **stream_out)
{
	struct host_device *device;

	if (gm_host_forked())
		return gm_host_fail(GPUMEM_FORKED,
				    "the simulated devices are the parent's");
	device = gm_host_device_find(index);
	if (!device)
		return gm_host_fail(GPUMEM_INVALID, "host:%d is not open",
				    index);
	*stream_out = gm_host_stream_find(device, name);
	if (*stream_out)
		return GPUMEM_OK;
	gm_host_device_leave();
	return GPUMEM_INVALID;
}

static gpumem_status launch(struct host_stream *stream,
			    const struct host_work *work)
{
	if (atomic_load(&stream->device->lost))
		return gm_host_fail(GPUMEM_LOST,
				    "the simulated device is lost");
	if (!(stream->device->config.caps & GPUMEM_CAP_STREAMS))
		return gm_host_fail(GPUMEM_INVALID,
				    "option host.streams is off");
	return gm_host_stream_queue(stream, work);
}

gpumem_status gpumem_host_launch(int device, gpumem_stream stream,
				 void (*fn)(void *arg), void *arg)
{
	const struct host_work work = {
		.kind = HOST_WORK_LAUNCH,
		.launch = {.fn = fn, .arg = arg},
	};
	struct host_stream *found = NULL;
	gpumem_status status;

	if (!fn)
		status = gm_host_fail(GPUMEM_INVALID, "fn is NULL");
	else
		status = enter(device, stream, &found);
	if (found) {
		status = launch(found, &work);
		gm_host_device_leave();
	}
	return gm_host_return(status, "gpumem_host_launch");
}

static gpumem_status capture(struct host_stream *stream, bool on)
{
	if (!(stream->device->config.caps & GPUMEM_CAP_CAPTURE))
		return gm_host_fail(GPUMEM_INVALID,
				    "option host.capture is off");
	if (gm_host_stream_capture(stream, on))
		return GPUMEM_OK;
	return gm_host_fail(GPUMEM_INVALID, "the stream is %s",
			    on ? "being captured already"
			       : "not being captured");
}

gpumem_status gpumem_host_capture(int device, gpumem_stream stream, bool on)
{
	struct host_stream *found = NULL;
	gpumem_status status = enter(device, stream, &found);

	if (found) {
		status = capture(found, on);
		gm_host_device_leave();
	}
	return gm_host_return(status, "gpumem_host_capture");
}

gpumem_status gpumem_host_hold(int device, gpumem_stream stream, bool on)
{
	struct host_stream *found = NULL;
	gpumem_status status = enter(device, stream, &found);

	if (found) {
		status = gm_host_stream_hold(found, on);
		gm_host_device_leave();
	}
	return gm_host_return(status, "gpumem_host_hold");
}

uint64_t gpumem_host_queued(int device, gpumem_stream stream)
{
	struct host_stream *found = NULL;
	uint64_t queued = 0;

	if (enter(device, stream, &found) == GPUMEM_OK) {
		queued = atomic_load(&found->queued);
		gm_host_device_leave();
	}
	return queued;
}

/* Work may call what needs the registry's mutex. */
gpumem_status gpumem_host_step(int device, gpumem_stream stream,
			       uint64_t number)
{
	struct host_stream *found = NULL;
	gpumem_status status = enter(device, stream, &found);

	if (found) {
		gm_host_device_leave();
		gm_host_stream_step(found, number);
	}
	return gm_host_return(status, "gpumem_host_step");
}

uint64_t gpumem_host_used_bytes(int index)
{
	struct host_device *device;
	uint64_t bytes;

	device = gm_host_forked() ? NULL : gm_host_device_find(index);
	if (!device)
		return 0;
	bytes = atomic_load(&device->used_bytes);
	gm_host_device_leave();
	return bytes;
}

uint64_t gpumem_host_kind_bytes(int index, gpumem_kind kind)
{
	struct host_device *device;
	uint64_t bytes;

	if (kind == GPUMEM_KIND_DEVICE)
		return gpumem_host_used_bytes(index);
	device = gm_host_forked() ? NULL : gm_host_device_find(index);
	if (!device)
		return 0;
	pthread_mutex_lock(&device->memory);
	bytes = (unsigned)kind < HOST_KINDS ? device->kind_bytes[kind] : 0;
	pthread_mutex_unlock(&device->memory);
	gm_host_device_leave();
	return bytes;
}

gpumem_status gpumem_host_outside(int device, uint64_t bytes)
{
	if (device < 0 || device >= HOST_DEVICES_MAX)
		return gm_host_return(gm_host_fail(GPUMEM_INVALID,
						   "there is no host:%d",
						   device),
				      "gpumem_host_outside");
	gm_host_outside_set(device, bytes);
	return GPUMEM_OK;
}
