/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Events. The driver records an event only on streams of the context that it
 * was made in, ours may be recorded on any stream of the device. So an event
 * has a mark, the driver's event, for each context that it was recorded in:
 * nearly always the device's one alone. On HIP a device is its one context.
 *
 * Marks are only added, until the event is destroyed: another thread may be
 * waiting for one. So no lock.
 */
#include "plugin.h"

#include <stdatomic.h>
#include <stdlib.h>

struct mark {
	struct mark *next; /* older; not written once it is in the list */
	gpu_context context;
	gpu_event event;
};

struct event {
	_Atomic(struct mark *) marks; /* newest first; never empty */
	_Atomic(struct mark *) last;  /* where it was recorded last */
};

static gpumem_status no_host_memory(void)
{
	return gpu_fail(GPUMEM_NO_HOST_MEMORY, GPU_SUCCESS,
			"no host memory for an event");
}

/* A mark of the current context, in no list. */
static gpumem_status make(gpu_context context, struct mark **mark_out)
{
	struct mark *mark = calloc(1, sizeof(*mark));
	gpumem_status status;

	if (!mark)
		return no_host_memory();
	mark->context = context;
	status = gpu_check(
		gpu.EventCreate(&mark->event, GPU_EVENT_DISABLE_TIMING),
		EVENT_CREATE);
	if (status != GPUMEM_OK) {
		free(mark);
		return status;
	}
	*mark_out = mark;
	return GPUMEM_OK;
}

static struct mark *last_mark(void *name)
{
	struct event *event = name;

	return atomic_load(&event->last);
}

static struct mark *find(struct event *event, gpu_context context)
{
	struct mark *mark = atomic_load(&event->marks);

	while (mark && mark->context != context)
		mark = mark->next;
	return mark;
}

static void add(struct event *event, struct mark *mark)
{
	mark->next = atomic_load(&event->marks);
	while (!atomic_compare_exchange_weak(&event->marks, &mark->next, mark))
		continue;
}

gpumem_status GPU(event_create)(void *handle, void **event_out)
{
	struct event *event = malloc(sizeof(*event));
	struct gpu_call call;
	struct mark *mark;

	if (!event)
		return no_host_memory();
	call = gpu_begin(handle);
	if (call.status == GPUMEM_OK)
		call.status = make(call.context, &mark);
	if (gpu_end(&call) != GPUMEM_OK) {
		free(event);
		return call.status;
	}
	atomic_init(&event->marks, mark);
	atomic_init(&event->last, mark);
	*event_out = event;
	return GPUMEM_OK;
}

/* A context that the program made and destroyed took its events with it, and
 * all work that they stood for. What happens to the device's own is a loss. */
static bool is_gone(const struct gpu_device *device, const struct mark *mark,
		    gpu_result result)
{
	return mark->context != GPU_CONTEXT(device) && gpu_gone(result);
}

/* The mark that the event stands for becomes the oldest. Only to destroy it. */
static void put_last(struct event *event)
{
	struct mark *last = atomic_load(&event->last);
	struct mark *oldest = atomic_load(&event->marks), kept;

	while (oldest->next)
		oldest = oldest->next;
	kept = *oldest;
	oldest->context = last->context;
	oldest->event = last->event;
	last->context = kept.context;
	last->event = kept.event;
	atomic_store(&event->last, oldest);
}

static void drop_newest(struct event *event)
{
	struct mark *mark = atomic_load(&event->marks);

	atomic_store(&event->marks, mark->next);
	free(mark);
}

/* The mark that the event stands for goes last, so an event that could not be
 * destroyed is what it was. */
static gpumem_status destroy_marks(const struct gpu_device *device,
				   struct event *event)
{
	gpumem_status status = GPUMEM_OK;
	struct mark *mark;

	put_last(event);
	while ((mark = atomic_load(&event->marks)) != NULL) {
		gpu_result result = gpu.EventDestroy(mark->event);

		if (!is_gone(device, mark, result))
			status = gpu_check(result, PREFIX "EventDestroy");
		if (status != GPUMEM_OK)
			break;
		drop_newest(event);
	}
	return status;
}

gpumem_status GPU(event_destroy)(void *handle, void *name)
{
	struct gpu_call call = gpu_begin(handle);
	struct event *event = name;
	gpumem_status status;

	if (call.status == GPUMEM_OK)
		call.status = destroy_marks(handle, event);
	status = gpu_end(&call);
	if (status != GPUMEM_OK && status != GPUMEM_LOST)
		return status;
	/* The driver's events are lost with the device, ours need not be. */
	while (atomic_load(&event->marks))
		drop_newest(event);
	free(event);
	return status;
}

/* In a mark of the current context, which is made when there is none. */
static gpumem_status record(struct event *event, gpu_context context,
			    gpu_stream stream)
{
	struct mark *mark = find(event, context), *fresh = NULL;
	gpumem_status status = GPUMEM_OK;

	if (!mark) {
		status = make(context, &fresh);
		mark = fresh;
	}
	if (status != GPUMEM_OK)
		return status;
	status = gpu_check(gpu.EventRecord(mark->event, stream),
			   PREFIX "EventRecord");
	if (status != GPUMEM_OK)
		goto unmake;
	if (fresh)
		add(event, fresh);
	atomic_store(&event->last, mark);
	return GPUMEM_OK;

unmake:
	if (fresh)
		(void)gpu.EventDestroy(fresh->event);
	free(fresh);
	return status;
}

gpumem_status GPU(event_record)(void *handle, void *event, gpumem_stream stream)
{
	struct gpu_call call = gpu_begin_stream(handle, stream);

	if (call.status == GPUMEM_OK)
		call.status = record(event, call.context, stream);
	return gpu_end(&call);
}

/* What the driver says of the mark that the event stands for. */
static gpumem_status check_mark(const struct gpu_device *device,
				const struct mark *mark, gpu_result result,
				const char *what)
{
	return is_gone(device, mark, result) ? GPUMEM_OK
					     : gpu_check(result, "%s", what);
}

gpumem_status GPU(event_query)(void *handle, void *name)
{
	struct gpu_call call = gpu_begin(handle);
	const struct mark *mark = last_mark(name);

	if (call.status == GPUMEM_OK)
		call.status =
			check_mark(handle, mark, gpu.EventQuery(mark->event),
				   PREFIX "EventQuery");
	return gpu_end(&call);
}

gpumem_status GPU(event_sync)(void *handle, void *name)
{
	struct gpu_call call = gpu_begin(handle);
	const struct mark *mark = last_mark(name);

	if (call.status == GPUMEM_OK)
		call.status = check_mark(handle, mark,
					 gpu.EventSynchronize(mark->event),
					 PREFIX "EventSynchronize");
	return gpu_end(&call);
}

gpumem_status GPU(stream_wait)(void *handle, gpumem_stream stream, void *name)
{
	struct gpu_call call = gpu_begin_stream(handle, stream);
	const struct mark *mark = last_mark(name);

	if (call.status == GPUMEM_OK)
		call.status =
			check_mark(handle, mark,
				   gpu.StreamWaitEvent(stream, mark->event, 0),
				   PREFIX "StreamWaitEvent");
	return gpu_end(&call);
}

gpumem_status GPU(event_native)(void *handle, void *name, void **native_out)
{
	(void)handle;
	*native_out = last_mark(name)->event;
	return GPUMEM_OK;
}
