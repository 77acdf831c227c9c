/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Contexts, and each thread's stack of them. The stack holds handles, so that
 * a context that was destroyed under a thread is found out.
 */
#include "cuda_fake.h"

#include <stdlib.h>

#define STACK_MAX 64

static _Thread_local CUcontext stack[STACK_MAX];
static _Thread_local unsigned depth;

CUresult fake_context_current(struct fake_context **context_out)
{
	CUcontext top = depth ? stack[depth - 1] : NULL;

	if (!top)
		return CUDA_ERROR_INVALID_CONTEXT;
	*context_out = fake_object_find(FAKE_CONTEXT, top);
	if (!*context_out)
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	return (*context_out)->lost;
}

bool fake_context_may(const struct fake_context *context)
{
	CUcontext top = depth ? stack[depth - 1] : NULL;

	return !fake.strict || fake_object_find(FAKE_CONTEXT, top) == context;
}

CUresult fake_context_healthy(void)
{
	struct fake_context *context;
	CUresult result = fake_context_current(&context);

	return result == CUDA_ERROR_INVALID_CONTEXT ? CUDA_SUCCESS : result;
}

void fake_context_lose(struct fake_context *context, CUresult code)
{
	if (context->lost == CUDA_SUCCESS)
		context->lost = code;
	pthread_cond_broadcast(&fake.changed);
}

struct fake_context *fake_context_new(CUdevice device, bool primary)
{
	static uint64_t last_id;
	struct fake_context *context =
		fake_object_new(FAKE_CONTEXT, sizeof(*context));

	if (!context)
		return NULL;
	context->device = device;
	context->primary = primary;
	context->id = ++last_id;
	if (fake.recycle && !fake_object_rename(context, fake.recycled))
		abort(); /* a test would pass for nothing */
	fake.recycle = false;
	return context;
}

static void drop_events(const struct fake_context *context)
{
	struct fake_event *event;
	uint32_t slot = 0;

	while ((event = fake_object_next(FAKE_EVENT, &slot)) != NULL) {
		if (event->context != context)
			continue;
		if (event->stream)
			fake_stream_put(event->stream);
		fake_object_retire(event);
		free(event);
	}
}

void fake_context_destroy(struct fake_context *context)
{
	struct fake_stream *s = fake_streams;

	while (s) {
		bool mine = s->context == context;

		if (mine)
			fake_stream_orphan(s);
		s = mine ? fake_streams : s->next; /* others went too */
	}
	drop_events(context);
	fake_region_drop_all(context);
	fake.recycled = context->object.handle;
	fake_object_retire(context);
	free(context);
	pthread_cond_broadcast(&fake.changed);
}

/* NULL: of the current one (seen: 201 when there is none). */
static CUresult get_id(CUcontext name, unsigned long long *id_out)
{
	struct fake_context *context;

	if (!id_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!name && !depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!name)
		name = stack[depth - 1];
	context = fake_object_find(FAKE_CONTEXT, name);
	if (!context)
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	*id_out = context->id;
	return CUDA_SUCCESS;
}

static CUresult push(CUcontext name)
{
	if (!name) /* seen: 1, not 201 */
		return CUDA_ERROR_INVALID_VALUE;
	if (!fake_object_find(FAKE_CONTEXT, name))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (depth == STACK_MAX)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stack[depth++] = name;
	return CUDA_SUCCESS;
}

static CUresult pop(CUcontext *context_out)
{
	if (!depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	depth--;
	if (context_out)
		*context_out = stack[depth];
	return CUDA_SUCCESS;
}

/* Replaces the top of the stack; NULL pops it. */
static CUresult set(CUcontext name)
{
	if (name && !fake_object_find(FAKE_CONTEXT, name))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (depth)
		depth--;
	return name ? push(name) : CUDA_SUCCESS;
}

static CUresult get_current(CUcontext *context_out)
{
	if (!context_out)
		return CUDA_ERROR_INVALID_VALUE;
	*context_out = depth ? stack[depth - 1] : NULL;
	return CUDA_SUCCESS;
}

/* The real driver still knows the device of a destroyed primary context (seen);
 * the double does not, so that nobody relies on it. */
static CUresult get_device(CUdevice *device_out)
{
	struct fake_context *context;
	CUresult result = fake_context_current(&context);

	if (!device_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*device_out = context->device;
	return result;
}

static CUresult create(CUcontext *context_out, unsigned flags, CUdevice device)
{
	struct fake_context *context;

	if (!context_out || flags > 0xff)
		return CUDA_ERROR_INVALID_VALUE;
	if (!fake_device_good(device))
		return CUDA_ERROR_INVALID_DEVICE;
	context = fake_context_new(device, false);
	if (!context)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*context_out = fake_handle_of(context);
	return push(*context_out);
}

static CUresult destroy(CUcontext name)
{
	struct fake_context *context = fake_object_find(FAKE_CONTEXT, name);

	if (!name) /* seen: as of cuCtxPushCurrent */
		return CUDA_ERROR_INVALID_VALUE;
	if (!context || context->primary)
		return CUDA_ERROR_INVALID_CONTEXT;
	fake_context_destroy(context);
	if (depth && stack[depth - 1] == name)
		depth--;
	return CUDA_SUCCESS;
}

static CUresult synchronize(void)
{
	struct fake_context *context;
	CUresult result = fake_context_current(&context);

	if (result == CUDA_SUCCESS)
		result = fake_capture_unsafe();
	if (result != CUDA_SUCCESS)
		return result;
	return fake_queue_await_device(context->device);
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id_out)
{
	FAKE_CALL(cuCtxGetId, get_id(context, id_out));
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
	FAKE_CALL(cuCtxPushCurrent_v2, push(context));
}

CUresult cuCtxPopCurrent_v2(CUcontext *context_out)
{
	FAKE_CALL(cuCtxPopCurrent_v2, pop(context_out));
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	FAKE_CALL(cuCtxSetCurrent, set(context));
}

CUresult cuCtxGetCurrent(CUcontext *context_out)
{
	FAKE_CALL(cuCtxGetCurrent, get_current(context_out));
}

CUresult cuCtxGetDevice(CUdevice *device_out)
{
	FAKE_CALL(cuCtxGetDevice, get_device(device_out));
}

/* Of no use here but to be asked whether the context is lost. */
static CUresult priorities(int *least_out, int *greatest_out)
{
	struct fake_context *context;
	CUresult result = fake_context_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (least_out)
		*least_out = 0;
	if (greatest_out)
		*greatest_out = -5;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int *least_out, int *greatest_out)
{
	FAKE_CALL(cuCtxGetStreamPriorityRange,
		  priorities(least_out, greatest_out));
}

CUresult cuCtxCreate_v2(CUcontext *context_out, unsigned flags, CUdevice device)
{
	/* How a thread waits makes no difference here. */
	FAKE_CALL(cuCtxCreate_v2, create(context_out, flags, device));
}

CUresult cuCtxDestroy_v2(CUcontext context)
{
	FAKE_CALL(cuCtxDestroy_v2, destroy(context));
}

CUresult cuCtxSynchronize(void)
{
	FAKE_CALL(cuCtxSynchronize, synchronize());
}
