/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group ADOPT: a context of the program's own, which cuCtxCreate() made or
 * cuCtxFromGreenCtx() gave, is one more device. It stays the program's: it is
 * neither retained nor destroyed. A device's primary context is what the device
 * of its name works in, so adopting it gives that one.
 *
 * Of a context there is an address and, from driver 12.0 on, a number that no
 * other one has. A later context may have the address of one that was
 * destroyed. So there is one place for each address that was ever adopted:
 *
 *     index == number of devices + places that are older
 *     opens > 0  =>  the place is of one context and no other
 *
 * A mutex of its own guards the places, which are never removed. The driver is
 * not called under it.
 */
#include "plugin.h"

#include <pthread.h>
#include <stdlib.h>

struct cuda_place {
	struct cuda_place *next; /* older */
	CUcontext context;
	CUdevice number; /* of the device that it is a context of */
	uint64_t id;	 /* 0: the driver does not tell */
	int index, opens;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct cuda_place *newest;

bool gm_cuda_find_adopted(int index, struct gpu_device *device)
{
	struct cuda_place *place;

	pthread_mutex_lock(&mutex);
	place = newest;
	while (place && place->index != index)
		place = place->next;
	if (place) {
		device->place = place;
		device->device = place->number;
		device->context = place->context;
		device->context_id = place->id;
	}
	pthread_mutex_unlock(&mutex);
	return place != NULL;
}

void gm_cuda_count_open(struct cuda_place *place, int opens)
{
	pthread_mutex_lock(&mutex);
	place->opens += opens;
	pthread_mutex_unlock(&mutex);
}

/* Retaining a primary context is the only way to know it. One that is not
 * active is not the program's, and is not made for this. */
static gpumem_status check_primary(const struct cuda_place *found,
				   bool *primary_out)
{
	CUcontext primary = NULL;
	unsigned flags;
	int active = 0;
	gpumem_status status = gpu_check(
		gpu.DevicePrimaryCtxGetState(found->number, &flags, &active),
		"cuDevicePrimaryCtxGetState");

	*primary_out = false;
	if (status != GPUMEM_OK || !active)
		return status;
	status = gpu_check(gpu.DevicePrimaryCtxRetain(&primary, found->number),
			   "cuDevicePrimaryCtxRetain");
	if (status != GPUMEM_OK)
		return status;
	*primary_out = primary == found->context;
	(void)gpu.DevicePrimaryCtxRelease(found->number);
	return GPUMEM_OK;
}

/* What the driver knows of found->context. Between begin and end. */
static gpumem_status look_at(struct gpu_call *call, intptr_t stated,
			     struct cuda_place *found, bool *primary_out)
{
	gpumem_status status = gm_cuda_enter(
		call, found->context, "the context is none, or was destroyed",
		&found->number);

	if (status != GPUMEM_OK)
		return status;
	if (stated != found->number)
		return gpu_fail(GPUMEM_INVALID, CUDA_SUCCESS,
				"the context is one of device %d, not of "
				"device %lld",
				found->number, (long long)stated);
	found->id = gm_cuda_context_id(found->context);
	return check_primary(found, primary_out);
}

/* The index of the device of that number. */
static gpumem_status index_of(CUdevice number, int *index_out)
{
	gpumem_status status;
	CUdevice device = -1;
	int index = 0;

	while (device != number) {
		status = gpu_check(gpu.DeviceGet(&device, index),
				   "cuDeviceGet of device %d", index);
		if (status != GPUMEM_OK)
			return status;
		index++;
	}
	*index_out = index - 1;
	return GPUMEM_OK;
}

/* Under the mutex: the place has the address of the context that was found. */
static gpumem_status take(struct cuda_place *place,
			  const struct cuda_place *found)
{
	bool same = place->id == found->id && place->number == found->number;

	if (!same && place->opens)
		return gpu_fail(GPUMEM_INVALID, CUDA_SUCCESS,
				"an earlier context at %p, which was "
				"destroyed, was adopted too, and its device is "
				"still open: close that first",
				(void *)found->context);
	place->id = found->id;
	place->number = found->number;
	return GPUMEM_OK;
}

/* Under the mutex. */
static gpumem_status add(const struct cuda_place *found, int device_count,
			 struct cuda_place **place_out)
{
	struct cuda_place *place = malloc(sizeof(*place));

	if (!place)
		return gpu_fail(GPUMEM_NO_HOST_MEMORY, CUDA_SUCCESS,
				"no host memory for an adopted context");
	*place = *found;
	place->next = newest;
	place->index = newest ? newest->index + 1 : device_count;
	newest = place;
	*place_out = place;
	return GPUMEM_OK;
}

static gpumem_status find_place(const struct cuda_place *found, int *index_out)
{
	struct cuda_place *place;
	gpumem_status status;
	int device_count;

	status = gm_cuda_device_count(&device_count);
	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&mutex);
	place = newest;
	while (place && place->context != found->context)
		place = place->next;
	status = place ? take(place, found) : add(found, device_count, &place);
	if (status == GPUMEM_OK)
		*index_out = place->index;
	pthread_mutex_unlock(&mutex);
	return status;
}

gpumem_status gm_cuda_device_adopt(void *context, void *native_device,
				   int *index_out)
{
	struct cuda_place found = {.context = context};
	struct gpu_call call = gpu_begin_anywhere();
	bool primary = false;

	if (call.status == GPUMEM_OK)
		call.status = look_at(&call, (intptr_t)native_device, &found,
				      &primary);
	if (gpu_end(&call) != GPUMEM_OK)
		return call.status;
	return primary ? index_of(found.number, index_out)
		       : find_place(&found, index_out);
}
