/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Calls about events, and the events that there are. */
#include "attack.h"
#include "rows.h"

enum { EVENTS = 8 };

/* NULL: none. An event that was destroyed is tried again later. */
static struct event {
	gpumem_event *handle;
	struct device *device;
	bool recorded;
} event[EVENTS];
static gpumem_event *destroyed;

static bool is_there(const gpumem_event *handle)
{
	for (int i = 0; i < EVENTS; i++)
		if (event[i].handle == handle)
			return true;
	return false;
}

bool events_keep(const struct device *device)
{
	for (int i = 0; i < EVENTS; i++)
		if (event[i].handle && event[i].device == device)
			return true;
	return false;
}

void events_end(struct device *device)
{
	for (int i = 0; i < EVENTS; i++)
		if (event[i].handle && event[i].device == device) {
			must(gpumem_event_destroy(event[i].handle));
			event[i] = (struct event){0};
		}
}

/* One that is there; NULL, and *handle_out may be none. */
static struct event *pick_event(gpumem_event **handle_out)
{
	unsigned first = (unsigned)random_below(EVENTS);

	for (unsigned i = 0; i < EVENTS && !rarely(); i++) {
		struct event *one = &event[(first + i) % EVENTS];

		*handle_out = one->handle;
		if (one->handle)
			return one;
	}
	wrong(B(INVALID));
	*handle_out = is_there(destroyed) ? NULL : destroyed;
	return NULL;
}

static struct event *room(void)
{
	for (int i = 0; i < EVENTS; i++)
		if (!event[i].handle)
			return &event[i];
	return NULL;
}

static void need_streams(const struct device *device)
{
	if (device && !has(device, GPUMEM_CAP_STREAMS))
		step.wrong = B(UNSUPPORTED);
}

void attack_gpumem_event_create(void)
{
	struct device *device = pick_device();
	gpumem_event **out = out_plain(sizeof(gpumem_event *));
	struct event *one = room();

	need_streams(device);
	if (one && judge(gpumem_event_create(device_of(device), out)))
		*one = (struct event){.handle = *out, .device = device};
}

void attack_gpumem_event_import(void)
{
	struct device *device = pick_device();
	gpumem_event **out = out_plain(sizeof(gpumem_event *));
	struct event *one = room(), *other = &event[random_below(EVENTS)];
	void *native = pick_nowhere();

	if (!other->handle || other->device != device || !other->recorded ||
	    gpumem_event_native(other->handle, &native))
		wrong(B(INVALID));
	else if (rarely()) {
		wrong(B(INVALID));
		native = NULL;
	}
	need_streams(device);
	if (one && judge(gpumem_event_import(device_of(device), native, out)))
		*one = (struct event){
			.handle = *out, .device = device, .recorded = true};
}

/* It is gone whatever the driver says. */
void attack_gpumem_event_destroy(void)
{
	gpumem_event *handle;
	struct event *one = pick_event(&handle);

	(void)judge(gpumem_event_destroy(handle));
	if (!one)
		return;
	*one = (struct event){0};
	if (one_in(3))
		destroyed = handle;
}

void attack_gpumem_event_record(void)
{
	gpumem_event *handle;
	struct event *one = pick_event(&handle);
	int index;
	gpumem_stream stream = pick_stream(one ? one->device : NULL, &index);

	if (one && index >= 0 && one->device->captured[index])
		wrong(B(CAPTURING));
	else if (index < 0)
		step.perhaps |= B(CAPTURING);
	if (judge(gpumem_event_record(handle, stream)))
		one->recorded = true;
}

/* Not ready is no failure, and has no sentence. */
void attack_gpumem_event_query(void)
{
	gpumem_event *handle;
	const struct event *one = pick_event(&handle);
	gpumem_status status = gpumem_event_query(handle);

	(void)judge(one && status == GPUMEM_NOT_READY ? GPUMEM_OK : status);
}

void attack_gpumem_event_sync(void)
{
	gpumem_event *handle;

	(void)pick_event(&handle);
	(void)judge(gpumem_event_sync(handle));
}

void attack_gpumem_event_native(void)
{
	gpumem_event *handle;
	const struct event *one = pick_event(&handle);
	void **out = out_plain(sizeof(void *));

	if (one && !one->recorded)
		wrong(B(INVALID));
	(void)judge(gpumem_event_native(handle, out));
}

void attack_gpumem_stream_wait(void)
{
	struct device *device = pick_device();
	gpumem_event *handle;
	const struct event *one = pick_event(&handle);
	int index;
	gpumem_stream stream = pick_stream(device, &index);

	if (device && index >= 0 && device->captured[index])
		wrong(B(CAPTURING));
	else if (index < 0)
		step.perhaps |= B(CAPTURING);
	if (one && one->device != device)
		wrong(B(INVALID));
	need_streams(device);
	(void)judge(gpumem_stream_wait(device_of(device), stream, handle));
}

/* Nothing is queued on the block that the event would have to be after. */
void attack_gpumem_free_after(void)
{
	gpumem_event *handle;
	const struct event *one = pick_event(&handle);
	struct block *block;
	void *ptr = pick_pointer(&block);

	if (rarely()) {
		block = NULL;
		ptr = NULL;
		step.wrong &= ~B(BAD_POINTER);
	}
	if (one && block && one->device != block->pool->device)
		wrong(has(block->pool->device, GPUMEM_CAP_STREAMS)
			      ? B(INVALID)
			      : B(UNSUPPORTED));
	if (block && one_in(4))
		block_verify(block);
	if (judge(gpumem_free_after(ptr, handle)) && block)
		block_remove(block);
}
