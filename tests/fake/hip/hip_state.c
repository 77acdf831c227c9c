/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The way into every call and out of it, and what the environment says.
 */
#include "hip_fake.h"

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

hipError_t hip_unlocked(hipError_t result)
{
	fake_unlock();
	return result;
}

void fake_configure(void)
{
	hip.version = (int)fake_amount("FAKEHIP_VERSION", DEFAULT_VERSION);
	hip.vm = fake_amount("FAKEHIP_VM", hip.version >= HIP_RELEASE(6, 1));
	fake_fault_configure("FAKEHIP_FAULT");
	hip_quirk_configure();
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

	fake_lock();
	start();
	result = (hipError_t)fake_fault_next(call);
	if (result == hipSuccess && !hip.device_count)
		result = without_device(call);
	fake_unlock();
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
