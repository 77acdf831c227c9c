/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Each driver call of each slot of the cuda backend fails once, in a thread
 * that has a context and a capture mode of its own. */
#include "fixture.h"

static const char *const names[] = {
	"cuDeviceGetCount",
	"cuDeviceGet",
	"cuDeviceGetName",
	"cuDeviceTotalMem_v2",
	"cuDeviceGetAttribute",
	"cuDeviceGetPCIBusId",
	"cuDeviceGetUuid_v2",
	"cuDevicePrimaryCtxRetain",
	"cuDevicePrimaryCtxRelease_v2",
	"cuCtxPushCurrent_v2",
	"cuCtxPopCurrent_v2",
	"cuCtxGetDevice",
	"cuCtxGetId",
	"cuCtxGetStreamPriorityRange",
	"cuThreadExchangeStreamCaptureMode",
	"cuMemGetInfo_v2",
	"cuMemAlloc_v2",
	"cuMemFree_v2",
	"cuMemHostAlloc",
	"cuMemFreeHost",
	"cuMemHostRegister_v2",
	"cuMemHostUnregister",
	"cuMemAllocManaged",
	"cuDeviceCanAccessPeer",
	"cuCtxEnablePeerAccess",
	"cuStreamCreate",
	"cuStreamDestroy_v2",
	"cuStreamSynchronize",
	"cuStreamQuery",
	"cuStreamWaitEvent",
	"cuStreamGetCtx",
	"cuStreamGetCaptureInfo",
	"cuEventCreate",
	"cuEventDestroy_v2",
	"cuEventRecord",
	"cuEventQuery",
	"cuEventSynchronize",
	"cuMemsetD8Async",
	"cuMemcpyAsync",
	"cuMemAddressReserve",
	"cuMemAddressFree",
	"cuMemCreate",
	"cuMemRelease",
	"cuMemMap",
	"cuMemUnmap",
	"cuMemSetAccess",
	"cuMemGetAllocationGranularity",
	"cuMemExportToShareableHandle",
	"cuMemImportFromShareableHandle",
	"cuIpcGetMemHandle",
};

static void *context, *other_context, *other_stream;

static bool thread_is_as_it_was(void)
{
	int mode = MODE_THREAD_LOCAL, ignored = MODE_THREAD_LOCAL;

	if (driver.cuThreadExchangeStreamCaptureMode(&mode))
		return false;
	driver.cuThreadExchangeStreamCaptureMode(&ignored);
	return mode == MODE_THREAD_LOCAL && current_context() == context;
}

/* What a call that was to put the thread back has not done. */
static void put_back(void)
{
	int mode = MODE_THREAD_LOCAL;
	void *popped;

	while (current_context() && current_context() != context)
		driver.cuCtxPopCurrent_v2(&popped);
	driver.cuThreadExchangeStreamCaptureMode(&mode);
}

static bool is_around(const char *name)
{
	return !strncmp(name, "cuCtxPop", 8) || !strncmp(name, "cuThread", 8);
}

static unsigned unfelt_of(const char *name);

#include "../gpu/faults.h"

/* Without a context's number it is one that may be another's, for who adopts
 * it; where no node is known for memory that is pinned, any is good: two slots
 * ask for it. */
static unsigned unfelt_of(const char *name)
{
	if (!strcmp(name, "cuDevicePrimaryCtxRelease_v2"))
		return LAST;
	if (!strcmp(name, "cuDeviceGetAttribute"))
		return 2;
	return is_around(name) || !strcmp(name, "cuCtxGetId") ? ANY : 0;
}

/* An event that was recorded in two contexts is two of the driver's. */
static void own_steps(void *device, void *event)
{
	STEP(gpu->event_record(device, event, other_stream));
	STEP(gpu->event_query(device, event));
}

/* These go one by one: it is whole as long as the second is there. */
static void destroy(void *device, void *event)
{
	const char *call = "event_destroy";

	step_begins();
	if (gpu->event_destroy(device, event) == GPUMEM_OK)
		return;
	run.before.events = audit().events;
	step_failed(call);
	if (gpu->event_query(device, event) != GPUMEM_OK ||
	    gpu->event_record(device, event, other_stream) != GPUMEM_OK)
		wrong("failed and left no event", call);
	if (gpu->event_destroy(device, event) != GPUMEM_OK)
		wrong("fails a second time", call);
}

int main(void)
{
	int mode = MODE_THREAD_LOCAL;

	setenv("FAKECUDA_DEVICES", "2", 1);
	cuda_start();
	if (driver.cuCtxCreate_v2(&other_context, 0, 0))
		bail("cuCtxCreate");
	other_stream = new_stream(STREAM_NON_BLOCKING);
	if (driver.cuCtxCreate_v2(&context, 0, 0))
		bail("cuCtxCreate");
	driver.cuThreadExchangeStreamCaptureMode(&mode);
	fail_all();
	ok(thread_is_as_it_was(), "the thread is as it was");
	return done_testing();
}
