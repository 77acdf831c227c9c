/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Each call of the runtime in each slot of the hip backend fails once, without
 * virtual memory and at each of its levels, in each release. Not the trials at
 * open, for which see levels.c.
 */
#include "fixture.h"

static const char *const names[] = {
	"hipDeviceCanAccessPeer",
	"hipDeviceEnablePeerAccess",
	"hipDeviceGet",
	"hipDeviceGetAttribute",
	"hipDeviceGetName",
	"hipDeviceGetPCIBusId",
	"hipDeviceGetStreamPriorityRange",
	"hipDeviceGetUuid",
	"hipDeviceTotalMem",
	"hipEventCreateWithFlags",
	"hipEventDestroy",
	"hipEventQuery",
	"hipEventRecord",
	"hipEventSynchronize",
	"hipFree",
	"hipGetDevice",
	"hipGetDeviceCount",
	"hipGetLastError",
	"hipHostFree",
	"hipHostMalloc",
	"hipHostRegister",
	"hipHostUnregister",
	"hipIpcGetMemHandle",
	"hipMalloc",
	"hipMallocManaged",
	"hipMemAddressFree",
	"hipMemAddressReserve",
	"hipMemCreate",
	"hipMemExportToShareableHandle",
	"hipMemGetAllocationGranularity",
	"hipMemGetInfo",
	"hipMemImportFromShareableHandle",
	"hipMemMap",
	"hipMemRelease",
	"hipMemSetAccess",
	"hipMemUnmap",
	"hipMemcpyAsync",
	"hipMemsetAsync",
	"hipPeekAtLastError",
	"hipSetDevice",
	"hipStreamCreateWithFlags",
	"hipStreamDestroy",
	"hipStreamGetCaptureInfo",
	"hipStreamGetDevice",
	"hipStreamQuery",
	"hipStreamSynchronize",
	"hipStreamWaitEvent",
	"hipThreadExchangeStreamCaptureMode",
};

static bool thread_is_as_it_was(void)
{
	return runtime.hipPeekAtLastError() == 0 && current_device() == 1 &&
	       capture_mode() == MODE_THREAD_LOCAL;
}

static void put_back(void)
{
	(void)runtime.hipSetDevice(1);
	set_capture_mode(MODE_THREAD_LOCAL);
	(void)runtime.hipGetLastError();
}

/* These put the thread back, and a failure of theirs may be felt or not. */
static bool is_around(const char *name)
{
	return !strcmp(name, "hipSetDevice") ||
	       !strcmp(name, "hipGetLastError") ||
	       !strcmp(name, "hipPeekAtLastError") ||
	       !strcmp(name, "hipThreadExchangeStreamCaptureMode");
}

static unsigned unfelt_of(const char *name);

#include "../gpu/faults.h"

/* Addresses are offered again later, the last time when the device closes. And
 * each of the two opens asks whether there are names at all, with an address
 * for which there is none: only one answer of all is felt. */
static unsigned unfelt_of(const char *name)
{
	bool reserve = !strcmp(hip_vm, "reserve");

	if (run.around || (reserve && !strcmp(name, "hipMemAddressFree")))
		return ANY;
	return !reserve && !strcmp(name, "hipIpcGetMemHandle") ? 2 : 0;
}

static void own_steps(void *device, void *event)
{
	(void)device;
	(void)event;
}

static void destroy(void *device, void *event)
{
	STEP(gpu->event_destroy(device, event));
}

/* The runtime makes a context of each device when it is first used. */
static void warm_up(void)
{
	for (int i = 0; i < 2; i++) {
		(void)runtime.hipSetDevice(i);
		set_capture_mode(MODE_THREAD_LOCAL);
	}
}

static void checks(void)
{
	static const char *const levels[] = {"off", "full", "single",
					     "reserve"};

	warm_up();
	hip_alias = "off";
	for (int i = 0; i < (has_virtual() ? 4 : 1); i++) {
		hip_vm = levels[i];
		has_vm = i == 1 || i == 2;
		/* What is reserved has no name for other processes. */
		has_names = i != 3;
		diag("hip.vm is %s", hip_vm);
		fail_all();
	}
	ok(thread_is_as_it_was(), "the thread is as it was");
}

int main(void)
{
	setenv("FAKECUDA_DEVICES", "2", 1);
	return on_all_releases(checks);
}
