/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Each driver call of each slot of the cuda backend fails once. The slot must
 * say so, have undone what it did, have left the thread's context and capture
 * mode alone, and work when it is called again.
 */
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
	"cuCtxPushCurrent_v2",
	"cuCtxPopCurrent_v2",
	"cuCtxGetDevice",
	"cuThreadExchangeStreamCaptureMode",
	"cuMemGetInfo_v2",
	"cuMemAlloc_v2",
	"cuMemFree_v2",
	"cuMemHostAlloc",
	"cuMemFreeHost",
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

#define NAME_COUNT (sizeof(names) / sizeof(names[0]))
#define COUNT 4

static void *context, *other_context, *other_stream;

/* Of the run under way. */
static struct {
	bool putting_back; /* the call that fails puts the thread back */
	unsigned failed, wrong;
	struct fakecuda_held before;
	unsigned said;
} run;

static void wrong(const char *what, const char *call)
{
	run.wrong++;
	diag("%s: %s (%s)", call, what, said.text);
}

static bool thread_is_as_it_was(void)
{
	int mode = MODE_THREAD_LOCAL, ignored = MODE_THREAD_LOCAL;

	if (driver.cuThreadExchangeStreamCaptureMode(&mode))
		return false;
	driver.cuThreadExchangeStreamCaptureMode(&ignored);
	return mode == MODE_THREAD_LOCAL && current_context() == context;
}

static void step_begins(void)
{
	run.before = audit();
	run.said = said.count;
}

static void step_failed(const char *call)
{
	struct fakecuda_held after = audit();

	run.failed++;
	if (said.count == run.said)
		wrong("failed without a word", call);
	if (memcmp(&after, &run.before, sizeof(after)) != 0)
		wrong("failed and left something changed", call);
	if (!run.putting_back && !thread_is_as_it_was())
		wrong("failed and left the thread changed", call);
}

#define STEP(call)                                                             \
	do {                                                                   \
		step_begins();                                                 \
		if ((call) == GPUMEM_OK)                                       \
			break;                                                 \
		step_failed(#call);                                            \
		if ((call) != GPUMEM_OK)                                       \
			wrong("fails a second time", #call);                   \
	} while (0)

/* An event that was recorded in two contexts is two of the driver's, which go
 * one by one: it is whole as long as the second is there. */
static void destroy(void *device, void *event)
{
	const char *call = "event_destroy";

	step_begins();
	if (cuda->event_destroy(device, event) == GPUMEM_OK)
		return;
	run.before.events = audit().events;
	step_failed(call);
	if (cuda->event_query(device, event) != GPUMEM_OK ||
	    cuda->event_record(device, event, other_stream) != GPUMEM_OK)
		wrong("failed and left no event", call);
	if (cuda->event_destroy(device, event) != GPUMEM_OK)
		wrong("fails a second time", call);
}

static void events(void *device, void *stream)
{
	void *event = NULL;

	STEP(cuda->event_create(device, &event));
	STEP(cuda->event_record(device, event, stream));
	STEP(cuda->event_query(device, event));
	STEP(cuda->event_record(device, event, other_stream));
	STEP(cuda->event_query(device, event));
	STEP(cuda->event_sync(device, event));
	STEP(cuda->stream_wait(device, stream, event));
	STEP(cuda->stream_sync(device, stream));
	STEP(cuda->event_record(device, event, NULL));
	destroy(device, event);
}

static void memory(void *device, void *stream)
{
	struct gpumem_memory info = GPUMEM_INIT(struct gpumem_memory);
	uint64_t address = 0, id;

	STEP(cuda->memory_info(device, &info));
	STEP(cuda->alloc(device, PAGE, &address));
	STEP(cuda->fill(device, address, 1, PAGE, stream));
	STEP(cuda->copy(device, address, address + MIB, MIB, stream));
	STEP(cuda->capture_id(device, stream, &id));
	STEP(cuda->stream_query(device, stream));
	STEP(cuda->stream_sync(device, stream));
	STEP(cuda->free(device, address, PAGE));
}

static void virtual(void *device)
{
	gpumem_page pages[COUNT] = {0};
	uint64_t address = 0;

	STEP(cuda->va_reserve(device, COUNT * PAGE, PAGE, &address));
	for (int i = 0; i < COUNT; i++)
		STEP(cuda->page_create(device, PAGE, &pages[i]));
	STEP(cuda->map(device, address, pages, COUNT, PAGE));
	STEP(cuda->unmap(device, address, COUNT, PAGE));
	for (int i = 0; i < COUNT; i++)
		STEP(cuda->page_destroy(device, pages[i], PAGE));
	STEP(cuda->va_release(device, address, COUNT * PAGE));
}

static void kinds(void *device)
{
	for (int i = 1; i <= 2; i++) {
		gpumem_kind kind = (gpumem_kind)i;
		uint64_t address = 0;

		STEP(cuda->kind_alloc(device, kind, MIB, &address));
		STEP(cuda->kind_free(device, kind, address, MIB));
	}
}

static void peers(void *device, void *peer)
{
	gpumem_page page = 0;
	uint64_t address = 0;
	bool can = false;

	STEP(cuda->peer_query(device, peer, &can));
	STEP(cuda->peer_enable(device, peer));
	STEP(cuda->va_reserve(device, PAGE, PAGE, &address));
	STEP(cuda->page_create(device, PAGE, &page));
	STEP(cuda->map_peers(device, address, &page, 1, PAGE, &peer, 1));
	STEP(cuda->open_mapped(device, address, 1, PAGE, &peer, 1));
	STEP(cuda->unmap(device, address, 1, PAGE));
	STEP(cuda->page_destroy(device, page, PAGE));
	STEP(cuda->va_release(device, address, PAGE));
}

/* Of one process: an import is another page of the same memory. What is shared
 * can be a peer's too. */
static void shared(void *device, void *peer)
{
	unsigned char handle[GPUMEM_SHARE_HANDLE_BYTES];
	gpumem_page page = 0, again = 0;
	uint64_t address = 0;
	int fd = -1;

	STEP(cuda->page_create_shared(device, PAGE, &page));
	STEP(cuda->page_export(device, page, PAGE, &fd));
	STEP(cuda->page_import(device, fd, PAGE, &again));
	STEP(cuda->va_reserve(device, PAGE, PAGE, &address));
	STEP(cuda->map_peers(device, address, &page, 1, PAGE, &peer, 1));
	STEP(cuda->unmap(device, address, 1, PAGE));
	STEP(cuda->va_release(device, address, PAGE));
	STEP(cuda->page_destroy(device, again, PAGE));
	STEP(cuda->page_destroy(device, page, PAGE));
	close(fd);
	STEP(cuda->alloc(device, PAGE, &address));
	STEP(cuda->ipc_export(device, address, PAGE, handle));
	STEP(cuda->free(device, address, PAGE));
}

static void life(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	void *device = NULL, *stream = NULL, *peer = NULL;
	int count;

	STEP(cuda->device_count(&count));
	STEP(cuda->device_info(0, &info));
	STEP(cuda->device_open(0, &device));
	STEP(cuda->stream_create(device, &stream));
	memory(device, stream);
	events(device, stream);
	virtual(device);
	kinds(device);
	STEP(cuda->device_open(1, &peer));
	peers(device, peer);
	shared(device, peer);
	cuda->device_close(peer);
	STEP(cuda->stream_destroy(device, stream));
	cuda->device_close(device);
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

static void fail_each(const char *name, uint64_t calls, int code)
{
	struct fakecuda_held before = audit(), after;
	unsigned unfelt = 0, bad = 0;

	run.putting_back = strncmp(name, "cuCtxPop", 8) == 0 ||
			   strncmp(name, "cuThread", 8) == 0;
	for (unsigned nth = 1; nth <= calls; nth++) {
		run.failed = run.wrong = 0;
		driver.fakecuda_fault(name, nth, false, code);
		life();
		driver.fakecuda_heal();
		if (run.putting_back)
			put_back();
		unfelt += !run.failed;
		after = audit();
		bad += run.wrong || !thread_is_as_it_was() ||
		       memcmp(&before, &after, sizeof(after)) != 0;
	}
	is_uint(bad, 0, "%s fails with %d at each of %llu calls", name, code,
		(unsigned long long)calls);
	if (!run.putting_back)
		is_uint(unfelt, 0, "and each is felt");
}

int main(void)
{
	int mode = MODE_THREAD_LOCAL;
	uint64_t before[NAME_COUNT], calls[NAME_COUNT];
	size_t i;

	setenv("FAKECUDA_DEVICES", "2", 1);
	cuda_start();
	if (driver.cuCtxCreate_v2(&other_context, 0, 0))
		bail("cuCtxCreate");
	other_stream = new_stream(STREAM_NON_BLOCKING);
	if (driver.cuCtxCreate_v2(&context, 0, 0))
		bail("cuCtxCreate");
	driver.cuThreadExchangeStreamCaptureMode(&mode);
	for (i = 0; i < NAME_COUNT; i++)
		before[i] = driver.fakecuda_calls(names[i]);
	life();
	is_uint(run.failed + run.wrong, 0, "nothing fails by itself");
	for (i = 0; i < NAME_COUNT; i++) {
		calls[i] = driver.fakecuda_calls(names[i]) - before[i];
		ok(calls[i], "%s is called", names[i]);
	}
	for (i = 0; i < NAME_COUNT; i++) {
		fail_each(names[i], calls[i], 999);
		fail_each(names[i], calls[i], 2);
	}
	ok(thread_is_as_it_was(), "the thread is as it was");
	return done_testing();
}
