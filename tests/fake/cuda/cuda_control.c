/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What tests ask of the double and tell it, beside faults.
 */
#include "cuda_fake.h"

static uint64_t capture_count(void)
{
	uint64_t count = 0;

	for (struct fake_capture *c = fake_captures; c; c = c->next)
		count++;
	return count;
}

/* Without those that every context has. */
static uint64_t stream_count(void)
{
	uint64_t count = fake_object_count(FAKE_STREAM);
	struct fake_context *context;
	uint32_t slot = 0;

	while ((context = fake_object_next(FAKE_CONTEXT, &slot)) != NULL)
		count -= (context->legacy != NULL) +
			 (context->per_thread != NULL);
	return count;
}

static uint64_t used_bytes(void)
{
	uint64_t used = 0;

	for (int i = 0; i < fake.device_count; i++)
		used += fake.capacity_bytes - fake_free_bytes(i);
	return used;
}

void fakecuda_audit(struct fakecuda_held *held_out)
{
	fake_lock();
	*held_out = (struct fakecuda_held){
		.allocs = fake_region_count(FAKE_ALLOC) +
			  fake_region_count(FAKE_MANAGED),
		.handles = fake_object_count(FAKE_HANDLE),
		.mappings = fake_mappings.count,
		.reservations = fake_region_count(FAKE_RESERVED),
		.pinned = fake_region_count(FAKE_PINNED) +
			  fake_region_count(FAKE_REGISTERED),
		.opened = fake_region_count(FAKE_OPENED),
		.contexts = fake_object_count(FAKE_CONTEXT),
		.streams = stream_count(),
		.events = fake_object_count(FAKE_EVENT),
		.graphs = fake_object_count(FAKE_GRAPH),
		.captures = capture_count(),
		.used_bytes = used_bytes(),
	};
	fake_unlock();
}

bool fakecuda_stepping(bool on)
{
	bool before;

	fake_lock();
	before = fake.stepping;
	fake.stepping = on;
	pthread_cond_broadcast(&fake.changed);
	if (!on && !fake.async)
		fake_queue_run_all();
	fake_unlock();
	return before;
}

unsigned fakecuda_step(void *handle, unsigned count)
{
	struct fake_stream *stream;
	unsigned ran = 0;

	fake_lock();
	if (fake_stream_find(handle, &stream) == CUDA_SUCCESS)
		ran = fake_queue_run(stream, count);
	fake_unlock();
	return ran;
}

uint64_t fakecuda_pending(void *handle)
{
	struct fake_stream *stream;
	uint64_t pending = 0;

	fake_lock();
	if (fake_stream_find(handle, &stream) == CUDA_SUCCESS)
		pending = stream->queued - stream->done;
	fake_unlock();
	return pending;
}

uint64_t fakecuda_waits(void)
{
	uint64_t waits;

	fake_lock();
	waits = fake.waits;
	fake_unlock();
	return waits;
}

void fakecuda_host_node(int node)
{
	fake_lock();
	fake.host_node = node;
	fake_unlock();
}

void fakecuda_decompresses(int algorithms)
{
	fake_lock();
	fake.decompresses = algorithms;
	fake_unlock();
}

int fakecuda_pinned_node(void)
{
	int node;

	fake_lock();
	node = fake.pinned_node;
	fake_unlock();
	return node;
}

void fakecuda_lose(int device, int code)
{
	struct fake_context *context;
	uint32_t slot = 0;

	fake_lock();
	while ((context = fake_object_next(FAKE_CONTEXT, &slot)) != NULL)
		if (context->device == device)
			fake_context_lose(context, (CUresult)code);
	fake_unlock();
}

void fakecuda_recycle(void)
{
	fake_lock();
	fake.recycle = true;
	fake_unlock();
}

void fakecuda_deinit(void)
{
	fake_lock();
	fake.shut_down = true;
	pthread_cond_broadcast(&fake.changed);
	fake_unlock();
}
