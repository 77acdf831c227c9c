/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Each call of the runtime in each slot of the hip backend fails once, without
 * virtual memory and at each of its levels. The slot must say so, have undone
 * what it did, have left the thread's device, capture mode and last error
 * alone, and work when it is called again. Not the trials at open, for which see
 * levels.c.
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

#define NAME_COUNT (sizeof(names) / sizeof(names[0]))
#define COUNT 3
#define SOME 64 /* bytes to work on: what is touched costs time */

/* Of the run under way. */
static struct {
	bool around; /* the call that fails is also made to put the thread back
		      */
	unsigned failed, wrong;
	struct fakecuda_held before;
	unsigned said;
} run;

static bool has_vm;

static void wrong(const char *what, const char *call)
{
	run.wrong++;
	diag("%s: %s (%s)", call, what, said.text);
}

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

static void step_begins(void)
{
	run.before = audit();
	run.said = said.count;
}

static void step_failed(const char *call)
{
	struct fakecuda_held after = audit();

	run.failed++;
	if (said.count != run.said + 1)
		wrong("failed, and did not say one thing", call);
	if (memcmp(&after, &run.before, sizeof(after)) != 0)
		wrong("failed and left something changed", call);
	if (!run.around && !thread_is_as_it_was())
		wrong("failed and left the thread changed", call);
	if (run.around)
		put_back();
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

static void streams(void *device, void *stream)
{
	void *event = NULL;
	uint64_t id;

	STEP(hip->event_create(device, &event));
	STEP(hip->event_record(device, event, stream));
	STEP(hip->event_query(device, event));
	STEP(hip->event_sync(device, event));
	STEP(hip->stream_wait(device, stream, event));
	STEP(hip->event_record(device, event, NULL));
	STEP(hip->capture_id(device, stream, &id));
	STEP(hip->stream_query(device, stream));
	STEP(hip->stream_sync(device, stream));
	STEP(hip->event_destroy(device, event));
}

/* The peer is let in to what there is already. At the level RESERVE that has no
 * name for other processes. */
static void memory(void *device, void *peer, void *stream)
{
	unsigned char handle[GPUMEM_SHARE_HANDLE_BYTES];
	struct gpumem_memory info = GPUMEM_INIT(struct gpumem_memory);
	uint64_t address = 0;

	STEP(hip->memory_info(device, &info));
	STEP(hip->alloc(device, PAGE, &address));
	STEP(hip->peer_enable(device, peer));
	STEP(hip->fill(device, address, 1, SOME, stream));
	STEP(hip->copy(device, address, address + MIB, SOME, stream));
	if (strcmp(hip_vm, "reserve") != 0)
		STEP(hip->ipc_export(device, address, PAGE, handle));
	STEP(hip->free(device, address, PAGE));
	for (int i = 1; i <= 2; i++) {
		gpumem_kind kind = (gpumem_kind)i;

		STEP(hip->kind_alloc(device, kind, MIB, &address));
		STEP(hip->kind_free(device, kind, address, MIB));
	}
}

/* A map or unmap that failed has left all as it was: the next is of all. */
static void virtual(void *device, void *stream)
{
	gpumem_page pages[COUNT] = {0};
	uint64_t address = 0;

	STEP(hip->va_reserve(device, COUNT * PAGE, PAGE, &address));
	for (int i = 0; i < COUNT; i++)
		STEP(hip->page_create(device, PAGE, &pages[i]));
	STEP(hip->map(device, address, pages, COUNT, PAGE));
	STEP(hip->fill(device, address + PAGE, 1, SOME, stream));
	STEP(hip->unmap(device, address, COUNT, PAGE));
	STEP(hip->map(device, address, pages, COUNT, PAGE));
	STEP(hip->unmap(device, address, COUNT, PAGE));
	for (int i = 0; i < COUNT; i++)
		STEP(hip->page_destroy(device, pages[i], PAGE));
	STEP(hip->va_release(device, address, COUNT * PAGE));
}

/* Of one process: an import is another page of the same memory. */
static void shared(void *device, void *peer)
{
	gpumem_page page = 0, again = 0;
	uint64_t address = 0;
	int fd = -1;

	STEP(hip->page_create_shared(device, PAGE, &page));
	STEP(hip->page_export(device, page, PAGE, &fd));
	STEP(hip->page_import(device, fd, PAGE, &again));
	STEP(hip->va_reserve(device, PAGE, PAGE, &address));
	STEP(hip->map_peers(device, address, &page, 1, PAGE, &peer, 1));
	STEP(hip->open_mapped(device, address, 1, PAGE, &peer, 1));
	STEP(hip->unmap(device, address, 1, PAGE));
	STEP(hip->va_release(device, address, PAGE));
	STEP(hip->page_destroy(device, again, PAGE));
	STEP(hip->page_destroy(device, page, PAGE));
	close(fd);
}

static void life(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	void *device = NULL, *stream = NULL, *peer = NULL;
	bool can = false;
	int count;

	STEP(hip->device_count(&count));
	STEP(hip->device_info(0, &info));
	STEP(hip->device_open(0, &device));
	STEP(hip->device_open(1, &peer));
	STEP(hip->peer_query(device, peer, &can));
	STEP(hip->stream_create(device, &stream));
	memory(device, peer, stream);
	streams(device, stream);
	if (has_vm) {
		virtual(device, stream);
		shared(device, peer);
	}
	STEP(hip->stream_destroy(device, stream));
	hip->device_close(peer);
	hip->device_close(device);
}

/* These put the thread back, and a failure of theirs may be felt or not. */
static bool is_around(const char *name)
{
	return !strcmp(name, "hipSetDevice") ||
	       !strcmp(name, "hipGetLastError") ||
	       !strcmp(name, "hipPeekAtLastError") ||
	       !strcmp(name, "hipThreadExchangeStreamCaptureMode");
}

/* Addresses are offered again later, the last time when the device closes. */
static bool may_go_unfelt(const char *name)
{
	return run.around || (!strcmp(hip_vm, "reserve") &&
			      !strcmp(name, "hipMemAddressFree"));
}

/* Each of the two opens asks whether there are names at all, with an address
 * for which there is none: only one answer of all is felt. */
static unsigned asked_only(const char *name)
{
	return strcmp(hip_vm, "reserve") && !strcmp(name, "hipIpcGetMemHandle")
		       ? 2
		       : 0;
}

static void fail_each(const char *name, uint64_t calls, int code)
{
	struct fakecuda_held before = audit(), after;
	unsigned unfelt = 0, bad = 0;

	run.around = is_around(name);
	for (unsigned nth = 1; nth <= calls; nth++) {
		run.failed = run.wrong = 0;
		runtime.fakehip_fault(name, nth, false, code);
		life();
		runtime.fakehip_heal();
		if (run.around)
			put_back();
		unfelt += !run.failed;
		after = audit();
		bad += run.wrong || !thread_is_as_it_was() ||
		       memcmp(&before, &after, sizeof(after)) != 0;
	}
	is_uint(bad, 0, "%s fails with %d at each of %llu calls", name, code,
		(unsigned long long)calls);
	if (!may_go_unfelt(name))
		is_uint(unfelt, asked_only(name), "and each is felt");
}

/* Which calls one life makes, each of which there is a name for. */
static void at_level(const char *level)
{
	uint64_t before[NAME_COUNT], calls[NAME_COUNT];
	uint64_t all = runtime.fakehip_calls(NULL);
	size_t i;

	hip_vm = level;
	has_vm = !strcmp(level, "full") || !strcmp(level, "single");
	diag("hip.vm is %s", level);
	run.failed = run.wrong = 0;
	for (i = 0; i < NAME_COUNT; i++)
		before[i] = runtime.fakehip_calls(names[i]);
	life();
	all = runtime.fakehip_calls(NULL) - all;
	is_uint(run.failed + run.wrong, 0, "nothing fails by itself");
	for (i = 0; i < NAME_COUNT; i++) {
		calls[i] = runtime.fakehip_calls(names[i]) - before[i];
		all -= calls[i];
	}
	is_uint(all, 0, "every call of it is one that is made to fail");
	for (i = 0; i < NAME_COUNT; i++) {
		fail_each(names[i], calls[i], 999);
		fail_each(names[i], calls[i], 2);
	}
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
	for (int i = 0; i < (release >= 6 ? 4 : 1); i++)
		at_level(levels[i]);
	ok(thread_is_as_it_was(), "the thread is as it was");
}

int main(void)
{
	setenv("FAKECUDA_DEVICES", "2", 1);
	return on_all_releases(checks);
}
