/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Events. OpenCL's are made by the command that they stand for and stand for no
 * other, ours are recorded again and again: so an event has a place for the
 * newest mark. Its mutex is held to look at the place alone; the user of a mark
 * has a reference of its own.
 */
#include "opencl_plugin.h"

#include <pthread.h>
#include <stdlib.h>

struct event {
	pthread_mutex_t mutex;
	cl_event mark; /* NULL: never recorded */
};

/* NULL: there is none. Else with a reference that the caller gives back. */
static gpumem_status newest(struct event *event, cl_event *mark_out)
{
	cl_int result = CL_SUCCESS;
	cl_event mark;

	pthread_mutex_lock(&event->mutex);
	mark = event->mark;
	if (mark)
		result = gm_opencl.clRetainEvent(mark);
	pthread_mutex_unlock(&event->mutex);
	if (result == CL_SUCCESS)
		*mark_out = mark;
	return gm_opencl_check(result, "clRetainEvent");
}

gpumem_status gm_opencl_event_create(void *device, void **event_out)
{
	struct event *event = calloc(1, sizeof(*event));

	(void)device;
	if (!event)
		return gm_opencl_fail(GPUMEM_NO_HOST_MEMORY, CL_SUCCESS,
				      "no host memory for an event");
	pthread_mutex_init(&event->mutex, NULL);
	*event_out = event;
	return GPUMEM_OK;
}

gpumem_status gm_opencl_event_destroy(void *device, void *name)
{
	struct event *event = name;
	gpumem_status status = GPUMEM_OK;

	(void)device;
	if (event->mark)
		status = gm_opencl_check(gm_opencl.clReleaseEvent(event->mark),
					 "clReleaseEvent");
	/* On a lost device it is the event's end all the same. */
	if (status != GPUMEM_OK && status != GPUMEM_LOST)
		return status;
	pthread_mutex_destroy(&event->mutex);
	free(event);
	return status;
}

gpumem_status gm_opencl_event_record(void *device, void *name,
				     gpumem_stream stream)
{
	struct event *event = name;
	cl_event mark, before;
	gpumem_status status = gm_opencl_mark(device, stream, &mark);

	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&event->mutex);
	before = event->mark;
	event->mark = mark;
	pthread_mutex_unlock(&event->mutex);
	if (before)
		(void)gm_opencl.clReleaseEvent(before);
	return GPUMEM_OK;
}

gpumem_status gm_opencl_event_query(void *device, void *name)
{
	cl_event mark;
	gpumem_status status = newest(name, &mark);

	(void)device;
	if (status != GPUMEM_OK || !mark)
		return status;
	status = gm_opencl_look(mark);
	(void)gm_opencl.clReleaseEvent(mark);
	return status;
}

gpumem_status gm_opencl_event_sync(void *device, void *name)
{
	cl_event mark;
	gpumem_status status = newest(name, &mark);

	(void)device;
	if (status != GPUMEM_OK || !mark)
		return status;
	status = gm_opencl_wait(mark);
	(void)gm_opencl.clReleaseEvent(mark);
	return status;
}

/* The queue that it is in is flushed, if it is not over: nobody else need do
 * that, and without it might never come. A user event has no queue. */
static gpumem_status flush(cl_event theirs)
{
	cl_command_queue queue = NULL;
	gpumem_status status = gm_opencl_look(theirs);

	if (status != GPUMEM_NOT_READY)
		return status;
	status = gm_opencl_check(
		gm_opencl.clGetEventInfo(theirs, CL_EVENT_COMMAND_QUEUE,
					 sizeof(queue), &queue, NULL),
		"clGetEventInfo");
	if (status != GPUMEM_OK || !queue)
		return status;
	return gm_opencl_check(gm_opencl.clFlush(queue), "clFlush");
}

static gpumem_status check_context(const struct opencl_device *device,
				   cl_event theirs)
{
	cl_context context = NULL;
	gpumem_status status = gm_opencl_check(
		gm_opencl.clGetEventInfo(theirs, CL_EVENT_CONTEXT,
					 sizeof(context), &context, NULL),
		"clGetEventInfo of %p", (void *)theirs);

	if (status != GPUMEM_OK || context == device->context)
		return status;
	return gm_opencl_fail(GPUMEM_INVALID, CL_SUCCESS,
			      "the event is of another context: "
			      "gpumem_device_adopt() gives a device in the "
			      "program's own");
}

/* An event of the vendor's is recorded once, and lives as long as somebody
 * holds it. */
gpumem_status gm_opencl_event_import(void *device, void *native,
				     void **event_out)
{
	gpumem_status status = check_context(device, native);
	struct event *event;
	void *name = NULL;

	if (status == GPUMEM_OK)
		status = flush(native);
	if (status == GPUMEM_OK)
		status = gm_opencl_event_create(device, &name);
	if (status != GPUMEM_OK)
		return status;
	event = name;
	status = gm_opencl_check(gm_opencl.clRetainEvent(native),
				 "clRetainEvent");
	if (status != GPUMEM_OK) {
		(void)gm_opencl_event_destroy(device, event);
		return status;
	}
	event->mark = native;
	*event_out = event;
	return GPUMEM_OK;
}

gpumem_status gm_opencl_event_native(void *device, void *name,
				     void **native_out)
{
	struct event *event = name;

	(void)device;
	pthread_mutex_lock(&event->mutex);
	*native_out = event->mark;
	pthread_mutex_unlock(&event->mutex);
	return GPUMEM_OK;
}

/* The event is waited for by a marker, and the barrier waits for that. PoCL
 * (1.2 to 3.1) keeps of each queue the newest barrier alone, and one with a
 * list waits for that list only: so later commands would no longer wait for the
 * program's own barrier before it. A marker does. A barrier without a list
 * would too, but everywhere for all other work besides, as PoCL's markers do.
 */
static cl_int wait_behind(cl_command_queue queue, cl_event mark)
{
	cl_event behind = NULL;
	cl_int result = gm_opencl.clEnqueueMarkerWithWaitList(queue, 1, &mark,
							      &behind);

	if (result != CL_SUCCESS)
		return result;
	result = gm_opencl.clEnqueueBarrierWithWaitList(queue, 1, &behind,
							NULL);
	(void)gm_opencl.clReleaseEvent(behind);
	return result;
}

static cl_int wait_for(const struct opencl_lane *lane, cl_event mark)
{
	if (lane->version < 12 || !gm_opencl.clEnqueueBarrierWithWaitList)
		return gm_opencl.clEnqueueWaitForEvents(lane->queue, 1, &mark);
	if (lane->loose && gm_opencl.clEnqueueMarkerWithWaitList)
		return wait_behind(lane->queue, mark);
	return gm_opencl.clEnqueueBarrierWithWaitList(lane->queue, 1, &mark,
						      NULL);
}

gpumem_status gm_opencl_stream_wait(void *device, gpumem_stream stream,
				    void *name)
{
	struct opencl_lane lane;
	gpumem_status status = gm_opencl_enter(device, stream, &lane);
	cl_event mark = NULL;

	if (status == GPUMEM_OK)
		status = newest(name, &mark);
	if (status == GPUMEM_OK && mark) {
		status = gm_opencl_check(wait_for(&lane, mark),
					 "clEnqueueBarrierWithWaitList");
		(void)gm_opencl.clReleaseEvent(mark);
	}
	return gm_opencl_leave(&lane, status);
}
