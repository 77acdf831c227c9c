/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group ADOPT: each pair of a context and a native device, whatever they are,
 * is one more simulated device. What was adopted stays so for ever, as a number
 * that means nothing else. A mutex of its own guards the list.
 */
#include "host_device.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
	void *context, *native_device;
} pairs[HOST_DEVICES_MAX];
static int first, end; /* their numbers: first <= number < end */

bool gm_host_is_adopted(int index)
{
	bool is;

	pthread_mutex_lock(&mutex);
	is = index >= first && index < end;
	pthread_mutex_unlock(&mutex);
	return is;
}

/* The number of the pair; the next one if it is new, or HOST_DEVICES_MAX. */
static int number_of(void *context, void *native_device, int devices)
{
	int number = first;

	while (number < end && (pairs[number].context != context ||
				pairs[number].native_device != native_device))
		number++;
	if (number < end)
		return number;
	if (!end)
		first = end = devices;
	if (end == HOST_DEVICES_MAX)
		return end;
	pairs[end].context = context;
	pairs[end].native_device = native_device;
	return end++;
}

gpumem_status gm_host_device_adopt(void *context, void *native_device,
				   int *index_out)
{
	struct host_config config;
	gpumem_status status = gm_host_enter(NULL, GPUMEM_SLOT_device_adopt);
	int number;

	if (status == GPUMEM_OK)
		status = gm_host_config_read(&config);
	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&mutex);
	number = number_of(context, native_device, config.devices);
	pthread_mutex_unlock(&mutex);
	if (number == HOST_DEVICES_MAX)
		return gm_host_fail(
			GPUMEM_NO_DEVICE,
			"there are %d simulated devices, and cannot "
			"be more",
			HOST_DEVICES_MAX);
	*index_out = number;
	return GPUMEM_OK;
}

gpumem_status gm_host_device_native(void *handle, void **context_out,
				    void **native_device_out)
{
	struct host_device *device = handle;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_device_native);

	if (status != GPUMEM_OK)
		return status;
	if (!gm_host_is_adopted(device->index))
		return gm_host_fail(GPUMEM_UNSUPPORTED,
				    "a simulated device has no context, but "
				    "for one that was adopted");
	/* What was adopted stays as it is. */
	*context_out = pairs[device->index].context;
	*native_device_out = pairs[device->index].native_device;
	return GPUMEM_OK;
}
