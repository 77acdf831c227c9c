/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group OBJECTS. With option host.objects an address that alloc gives is only a
 * number: using it is a fault. The memory is elsewhere, and known to fills,
 * copies and the holders of the object: a struct that is counted, as OpenCL's
 * are. Lists of them are under the device's `memory`.
 */
#include "host_device.h"

#include <errno.h>
#include <stdlib.h>

gpumem_status gm_host_buffer_new(const struct host_buffer *wanted,
				 struct host_buffer **buffer_out)
{
	struct host_buffer *buffer = malloc(sizeof(*buffer));

	if (!buffer)
		return gm_host_fail_system(ENOMEM, "memory for an object");
	buffer->next = NULL;
	buffer->address = wanted->address;
	buffer->bytes = wanted->bytes;
	atomic_init(&buffer->memory, atomic_load(&wanted->memory));
	atomic_init(&buffer->references, 1);
	*buffer_out = buffer;
	return GPUMEM_OK;
}

void gm_host_buffer_end(struct host_buffer *buffer)
{
	atomic_store(&buffer->memory, 0);
	gpumem_host_object_release(buffer);
}

void gm_host_views_orphan(struct host_device *device,
			  const struct host_range *range)
{
	struct host_buffer *view = device->views;

	for (; view; view = view->next)
		if (view->address - range->address < range->bytes)
			atomic_store(&view->memory, 0);
}

void gm_host_views_clear(struct host_device *device)
{
	while (device->views) {
		struct host_buffer *view = device->views;

		device->views = view->next;
		gm_host_buffer_end(view);
	}
}

static gpumem_status no_memory_at(uint64_t address)
{
	return gm_host_fail(GPUMEM_INVALID,
			    "0x%llx lies in nothing that was allocated",
			    (unsigned long long)address);
}

gpumem_status gm_host_object_of(void *handle, uint64_t address,
				void **object_out, uint64_t *offset_out)
{
	struct host_device *device = handle;
	const struct host_range *range;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_object_of);

	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&device->memory);
	range = gm_host_range_find(&device->raws, address);
	if (range) {
		*object_out = range->buffer;
		*offset_out = address - range->address;
	}
	pthread_mutex_unlock(&device->memory);
	return range ? GPUMEM_OK : no_memory_at(address);
}

static gpumem_status create_locked(struct host_device *device, uint64_t address,
				   uint64_t bytes, struct host_buffer **view)
{
	const struct host_range *range =
		gm_host_range_find(&device->raws, address);
	struct host_buffer wanted = {.address = address, .bytes = bytes};
	gpumem_status status;

	if (!range || !bytes ||
	    bytes > range->bytes - (address - range->address))
		return no_memory_at(address);
	if (address % device->config.alignment)
		return gm_host_fail(
			GPUMEM_INVALID,
			"a view that is not aligned to %llu bytes",
			(unsigned long long)device->config.alignment);
	atomic_init(&wanted.memory, range->memory + (address - range->base));
	status = gm_host_buffer_new(&wanted, view);
	if (status != GPUMEM_OK)
		return status;
	(*view)->next = device->views;
	device->views = *view;
	return GPUMEM_OK;
}

gpumem_status gm_host_view_create(void *handle, uint64_t address,
				  uint64_t bytes, void **view_out)
{
	struct host_device *device = handle;
	struct host_buffer *view = NULL;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_view_create);

	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&device->memory);
	status = create_locked(device, address, bytes, &view);
	pthread_mutex_unlock(&device->memory);
	if (status == GPUMEM_OK)
		*view_out = view;
	return status;
}

static gpumem_status destroy_locked(struct host_device *device,
				    const void *view)
{
	struct host_buffer **link = &device->views, *found;

	while (*link && *link != view)
		link = &(*link)->next;
	found = *link;
	if (!found)
		return gm_host_fail(GPUMEM_INVALID, "no such view: %p", view);
	if (atomic_load(&found->references) > 1)
		return GPUMEM_BUSY;
	*link = found->next;
	gm_host_buffer_end(found);
	return GPUMEM_OK;
}

gpumem_status gm_host_view_destroy(void *handle, void *view)
{
	struct host_device *device = handle;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_view_destroy);

	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&device->memory);
	status = destroy_locked(device, view);
	pthread_mutex_unlock(&device->memory);
	return status;
}

/* Where `owner` has the byte of that address; 0: it has none. */
static uint64_t memory_of(struct host_device *owner, uint64_t address)
{
	const struct host_range *range;
	uint64_t memory = 0;

	pthread_mutex_lock(&owner->memory);
	range = gm_host_range_find(&owner->raws, address);
	if (range)
		memory = range->memory + (address - range->base);
	pthread_mutex_unlock(&owner->memory);
	return memory;
}

uint64_t gm_host_memory_at(const struct host_device *device, uint64_t address)
{
	uint64_t memory = 0;

	if (!(device->config.caps & GPUMEM_CAP_OBJECTS))
		return address;
	gm_host_devices_lock();
	for (int i = 0; i < HOST_DEVICES_MAX && !memory; i++)
		if (gm_host_device_at(i))
			memory = memory_of(gm_host_device_at(i), address);
	gm_host_device_leave();
	return memory ? memory : address;
}

void gpumem_host_object_retain(void *object)
{
	struct host_buffer *buffer = object;

	atomic_fetch_add(&buffer->references, 1);
}

void gpumem_host_object_release(void *object)
{
	struct host_buffer *buffer = object;

	if (atomic_fetch_sub(&buffer->references, 1) == 1)
		free(buffer);
}

void *gpumem_host_object_memory(void *object)
{
	struct host_buffer *buffer = object;

	return (void *)(uintptr_t)atomic_load(&buffer->memory);
}

uint64_t gpumem_host_views(int index)
{
	struct host_device *device;
	const struct host_buffer *view;
	uint64_t count = 0;

	device = gm_host_forked() ? NULL : gm_host_device_find(index);
	if (!device)
		return 0;
	pthread_mutex_lock(&device->memory);
	for (view = device->views; view; view = view->next)
		count++;
	pthread_mutex_unlock(&device->memory);
	gm_host_device_leave();
	return count;
}
