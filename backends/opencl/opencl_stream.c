/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Command queues as streams, the program's own and ours. What a queue is, is
 * asked each time: it may be destroyed, and another one have its handle.
 *
 * A device's `enqueue` is held from gm_opencl_enter() to gm_opencl_leave()
 * while commands go into the default stream, which all threads share, and by
 * alloc for its own queue: OpenCL allows any thread to use a queue at any time,
 * and some implementations (Clover 22.3) lose or mix commands then. A program's
 * own queue is as safe as the program made it. Nothing is waited for under the
 * mutex.
 *
 * In an out-of-order queue commands wait for nothing unless a barrier says so.
 * Work that the library queues stands between two barriers there. Between the
 * program's own commands the barriers are its own, as for any memory that it
 * uses again.
 */
#include "opencl_plugin.h"

#include <time.h>

static gpumem_status ask(cl_command_queue queue, cl_command_queue_info what,
			 void *value_out, size_t bytes)
{
	return gm_opencl_check(gm_opencl.clGetCommandQueueInfo(
				       queue, what, bytes, value_out, NULL),
			       "clGetCommandQueueInfo of %p", (void *)queue);
}

gpumem_status gm_opencl_enter(struct opencl_device *device,
			      gpumem_stream stream,
			      struct opencl_lane *lane_out)
{
	cl_command_queue_properties properties = 0;
	cl_context context = NULL;
	cl_device_id id = NULL;
	gpumem_status status;

	lane_out->queue = stream ? stream : device->queue;
	lane_out->version = device->unit->version;
	lane_out->loose = false;
	lane_out->lock = stream ? NULL : &device->enqueue;
	if (!stream) {
		pthread_mutex_lock(lane_out->lock);
		return GPUMEM_OK;
	}
	status = ask(stream, CL_QUEUE_CONTEXT, &context, sizeof(context));
	if (status == GPUMEM_OK)
		status = ask(stream, CL_QUEUE_DEVICE, &id, sizeof(id));
	if (status == GPUMEM_OK)
		status = ask(stream, CL_QUEUE_PROPERTIES, &properties,
			     sizeof(properties));
	if (status != GPUMEM_OK)
		return status;
	if (id != device->unit->id)
		return gm_opencl_fail(GPUMEM_INVALID, CL_SUCCESS,
				      "the command queue is of another device");
	if (context != device->context)
		return gm_opencl_fail(GPUMEM_INVALID, CL_SUCCESS,
				      "the command queue is of another "
				      "context: gpumem_device_adopt() gives "
				      "a device in the program's own");
	lane_out->loose =
		(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
	return GPUMEM_OK;
}

gpumem_status gm_opencl_leave(const struct opencl_lane *lane,
			      gpumem_status status)
{
	if (lane->lock)
		pthread_mutex_unlock(lane->lock);
	return status;
}

gpumem_status gm_opencl_fence(const struct opencl_lane *lane)
{
	if (!lane->loose)
		return GPUMEM_OK;
	if (lane->version >= 12 && gm_opencl.clEnqueueBarrierWithWaitList)
		return gm_opencl_check(gm_opencl.clEnqueueBarrierWithWaitList(
					       lane->queue, 0, NULL, NULL),
				       "clEnqueueBarrierWithWaitList");
	return gm_opencl_check(gm_opencl.clEnqueueBarrier(lane->queue),
			       "clEnqueueBarrier");
}

gpumem_status gm_opencl_go(const struct opencl_lane *lane)
{
	gpumem_status status = gm_opencl_fence(lane);

	if (status != GPUMEM_OK)
		return status;
	return gm_opencl_check(gm_opencl.clFlush(lane->queue), "clFlush");
}

/* Without the flush the event might never come. */
static gpumem_status put_mark(const struct opencl_lane *lane,
			      cl_event *event_out)
{
	cl_event event = NULL;
	gpumem_status status;
	cl_int result;

	if (lane->version >= 12 && gm_opencl.clEnqueueMarkerWithWaitList)
		result = gm_opencl.clEnqueueMarkerWithWaitList(lane->queue, 0,
							       NULL, &event);
	else
		result = gm_opencl.clEnqueueMarker(lane->queue, &event);
	if (result != CL_SUCCESS)
		return gm_opencl_check(result, "clEnqueueMarker");
	status = gm_opencl_check(gm_opencl.clFlush(lane->queue), "clFlush");
	if (status != GPUMEM_OK) {
		(void)gm_opencl.clReleaseEvent(event);
		return status;
	}
	*event_out = event;
	return GPUMEM_OK;
}

gpumem_status gm_opencl_mark(struct opencl_device *device, gpumem_stream stream,
			     cl_event *event_out)
{
	struct opencl_lane lane;
	gpumem_status status = gm_opencl_enter(device, stream, &lane);

	if (status == GPUMEM_OK)
		status = put_mark(&lane, event_out);
	return gm_opencl_leave(&lane, status);
}

gpumem_status gm_opencl_look(cl_event event)
{
	cl_int state = CL_COMPLETE;
	gpumem_status status;

	status = gm_opencl_check(
		gm_opencl.clGetEventInfo(event,
					 CL_EVENT_COMMAND_EXECUTION_STATUS,
					 sizeof(state), &state, NULL),
		"clGetEventInfo");
	if (status != GPUMEM_OK)
		return status;
	if (state > CL_COMPLETE)
		return GPUMEM_NOT_READY;
	if (state == CL_COMPLETE)
		return GPUMEM_OK;
	return gm_opencl_check_work(state);
}

gpumem_status gm_opencl_stream_create(void *handle, gpumem_stream *stream_out)
{
	const struct opencl_device *device = handle;
	cl_int result = CL_SUCCESS;
	cl_command_queue queue;

	queue = gm_opencl.clCreateCommandQueue(device->context,
					       device->unit->id, 0, &result);
	if (result != CL_SUCCESS)
		return gm_opencl_check(result, "clCreateCommandQueue");
	*stream_out = queue;
	return GPUMEM_OK;
}

gpumem_status gm_opencl_stream_destroy(void *handle, gpumem_stream stream)
{
	struct opencl_lane lane;
	gpumem_status status = gm_opencl_enter(handle, stream, &lane);

	if (status == GPUMEM_OK)
		status = gm_opencl_check(
			gm_opencl.clReleaseCommandQueue(lane.queue),
			"clReleaseCommandQueue");
	return gm_opencl_leave(&lane, status);
}

gpumem_status gm_opencl_wait(cl_event event)
{
	cl_int result = gm_opencl.clWaitForEvents(1, &event);

	/* The event says what failed. */
	if (result == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
		return gm_opencl_look(event);
	return gm_opencl_check(result, "clWaitForEvents");
}

/* clFinish() of rusticl 22.3 does not wait for what was flushed before
 * (findings/rusticl_finish_after_flush.sh). */
gpumem_status gm_opencl_stream_sync(void *handle, gpumem_stream stream)
{
	cl_event event;
	gpumem_status status = gm_opencl_mark(handle, stream, &event);

	if (status != GPUMEM_OK)
		return status;
	status = gm_opencl_wait(event);
	(void)gm_opencl.clReleaseEvent(event);
	return status;
}

/*
 * OpenCL tells of commands, not of queues: a marker is queued, and comes a
 * moment later also when there is nothing before it. That moment is waited for,
 * but no longer, or an idle queue would never be known as one.
 */
gpumem_status gm_opencl_stream_query(void *handle, gpumem_stream stream)
{
	const struct timespec pause = {.tv_nsec = 10000};
	cl_event event;
	gpumem_status status = gm_opencl_mark(handle, stream, &event);
	int i;

	if (status != GPUMEM_OK)
		return status;
	status = gm_opencl_look(event);
	for (i = 0; i < 4 && status == GPUMEM_NOT_READY; i++) {
		(void)nanosleep(&pause, NULL);
		status = gm_opencl_look(event);
	}
	(void)gm_opencl.clReleaseEvent(event);
	return status;
}
