/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The program's own events. The driver counts no references to them: the
 * program may record one again, or destroy it, while something still waits for
 * what it stood for. So a stream of ours, a *follower*, is made to wait for it,
 * and an event of ours is recorded there.
 *
 * An import must not wait for another that was made before: each takes a
 * follower with nothing to do, or a new one. So a device has as many as there
 * were imports under way at one time. They live as long as the device, for
 * AMD's runtime waits for what is queued before it destroys a stream.
 *
 * A mutex guards the lists of all devices, and keeps the follower that was
 * found idle from being taken twice. The calls under it wait for nothing.
 */
#include "plugin.h"

#include <pthread.h>
#include <stdlib.h>

struct gpu_followers {
	struct gpu_followers *next;
	gpu_stream stream;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static gpumem_status no_host_memory(void)
{
	return gpu_fail(GPUMEM_NO_HOST_MEMORY, GPU_SUCCESS,
			"no host memory for an event");
}

static gpumem_status add_follower(struct gpu_device *device,
				  gpu_stream *stream_out)
{
	struct gpu_followers *follower = malloc(sizeof(*follower));
	gpumem_status status;

	if (!follower)
		return no_host_memory();
	status = gpu_check(
		gpu.StreamCreate(&follower->stream, GPU_STREAM_NON_BLOCKING),
		STREAM_CREATE);
	if (status != GPUMEM_OK) {
		free(follower);
		return status;
	}
	follower->next = device->followers;
	device->followers = follower;
	*stream_out = follower->stream;
	return GPUMEM_OK;
}

/* A follower with nothing to do. */
static gpumem_status idle_follower(struct gpu_device *device,
				   gpu_stream *stream_out)
{
	const struct gpu_followers *follower = device->followers;

	for (; follower; follower = follower->next) {
		gpumem_status status =
			gpu_check(gpu.StreamQuery(follower->stream),
				  PREFIX "StreamQuery");

		if (status == GPUMEM_NOT_READY)
			continue;
		*stream_out = follower->stream;
		return status;
	}
	return add_follower(device, stream_out);
}

/* Between begin and end, with the mutex. */
static gpumem_status follow(struct gpu_device *device, gpu_event native,
			    void *event)
{
	gpu_stream stream = NULL;
	gpumem_status status = idle_follower(device, &stream);

	if (status == GPUMEM_OK)
		status = gpu_check(gpu.StreamWaitEvent(stream, native, 0),
				   PREFIX "StreamWaitEvent");
	return status == GPUMEM_OK ? GPU(event_record)(device, event, stream)
				   : status;
}

/* What is over needs no follower: an event that was never recorded is over. */
static gpumem_status stand_for(struct gpu_device *device, gpu_event native,
			       void *event)
{
	gpu_result result = gpu.EventQuery(native);
	gpumem_status status;

	if (gpu_gone(result))
		return gpu_fail(GPUMEM_INVALID, result,
				"%p is no event, or it was destroyed",
				(void *)native);
	status = gpu_check(result, PREFIX "EventQuery");
	if (status != GPUMEM_NOT_READY)
		return status;
	pthread_mutex_lock(&mutex);
	status = follow(device, native, event);
	pthread_mutex_unlock(&mutex);
	return status;
}

gpumem_status GPU(event_import)(void *handle, void *native, void **event_out)
{
	struct gpu_call call;
	void *event;
	gpumem_status status = GPU(event_create)(handle, &event);

	if (status != GPUMEM_OK)
		return status;
	call = gpu_begin(handle);
	if (call.status == GPUMEM_OK)
		call.status = stand_for(handle, native, event);
	if (gpu_end(&call) != GPUMEM_OK) {
		(void)GPU(event_destroy)(handle, event);
		return call.status;
	}
	*event_out = event;
	return GPUMEM_OK;
}

/* Failures are ignored, as device_close does. */
void gpu_followers_end(struct gpu_device *device)
{
	struct gpu_followers *follower;
	struct gpu_call call;

	if (!device->followers)
		return;
	call = gpu_begin(device);
	while ((follower = device->followers)) {
		device->followers = follower->next;
		if (call.status == GPUMEM_OK)
			(void)gpu.StreamDestroy(follower->stream);
		free(follower);
	}
	(void)gpu_end(&call);
}
