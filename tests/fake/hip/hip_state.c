/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The way into every call and out of it, and what the environment says.
 */
#include "hip_fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if FAKEHIP_MAJOR == 5
#define DEFAULT_VERSION 50221153
#define NO_DEVICE hipErrorInvalidDevice
#elif FAKEHIP_MAJOR == 6
#define DEFAULT_VERSION 60443484
#define NO_DEVICE hipErrorNoDevice
#elif FAKEHIP_MAJOR == 7
#define DEFAULT_VERSION 70125424
#define NO_DEVICE hipErrorNoDevice
#endif

struct hip_state hip;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void hip_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

hipError_t hip_unlocked(hipError_t result)
{
	hip_unlock();
	return result;
}

static int number(const char *variable, int otherwise)
{
	const char *text = getenv(variable);

	return text && *text ? atoi(text) : otherwise;
}

void hip_each(const char *variable, bool (*take)(char *item))
{
	const char *text = getenv(variable);
	char copy[1024], shown[256], *save = NULL;

	if (!text)
		return;
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *item = strtok_r(copy, ",", &save); item;
	     item = strtok_r(NULL, ",", &save)) {
		snprintf(shown, sizeof(shown), "%s", item);
		if (take(item))
			continue;
		fprintf(stderr, "%s: \"%s\" makes no sense\n", variable, shown);
		abort();
	}
}

static void configure(void)
{
	if (hip.configured)
		return;
	hip.configured = true;
	hip.version = number("FAKEHIP_VERSION", DEFAULT_VERSION);
	hip.vm = number("FAKEHIP_VM", hip.version >= HIP_RELEASE(6, 1));
	hip_fault_configure();
	hip_quirk_configure();
	pthread_atfork(hip_lock, hip_unlock, hip_unlock);
}

void hip_lock(void)
{
	pthread_mutex_lock(&mutex);
	configure();
}

static void start(void)
{
	int count = 0;

	if (hip.started)
		return;
	hip.started = true;
	if (!hip_driver_start(&count))
		return;
	hip.device_count = count < HIP_DEVICES_MAX ? count : HIP_DEVICES_MAX;
}

/* What the real one does without a device, in 5.2.3 and 6.4.3. */
static hipError_t without_device(enum hip_call call)
{
	switch (call) {
	case HIP_hipDriverGetVersion:
	case HIP_hipRuntimeGetVersion:
		return hipSuccess;
	case HIP_hipGetDeviceCount:
		return hipErrorNoDevice;
	default:
		return NO_DEVICE;
	}
}

hipError_t hip_enter(enum hip_call call)
{
	hipError_t result;

	hip_lock();
	start();
	result = hip_fault_next(call);
	if (result == hipSuccess && !hip.device_count)
		result = without_device(call);
	hip_unlock();
	return result;
}

hipError_t hip_leave(hipError_t result)
{
#if FAKEHIP_MAJOR >= 7
	if (result == hipSuccess || result == hipErrorNotReady)
		return result;
#endif
	hip_last_error = result;
	return result;
}
