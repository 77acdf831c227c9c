/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * On a real NVIDIA GPU, without the library: which calls of the driver may be
 * made while a stream is being captured into a graph. Each is made under each
 * mode of capture, by the thread that captures and by another one, in the mode
 * RELAXED as the backend makes them; another stream is busy meanwhile. A call
 * is harmless if it succeeds, the capture survives it, and the graph computes
 * what it should. All have to be but to ask the legacy stream: that is what
 * CAP_FREES_IN_CAPTURE says. Built and run by tests/device/run.sh.
 */
#include "spin.h"

#include <pthread.h>

#define PAGE (2 * MIB)

static const char add_ptx[] = ".version 7.0\n"
			      ".target sm_52\n"
			      ".address_size 64\n"
			      ".visible .entry add(.param .u64 at)\n"
			      "{\n"
			      ".reg .u64 %at;\n"
			      ".reg .u32 %value;\n"
			      "ld.param.u64 %at, [at];\n"
			      "ld.global.u32 %value, [%at];\n"
			      "add.u32 %value, %value, 1;\n"
			      "st.global.u32 [%at], %value;\n"
			      "ret;\n"
			      "}\n";

static const uint64_t spin_ns = 20000000u;

static CUcontext context;
static CUfunction add_kernel;
static CUmemAllocationProp prop;
static CUmemAccessDesc access_desc;
static CUdeviceptr counter, range, spare, plain, managed;
static void *pinned;
static CUmemGenericAllocationHandle handle, second;
static CUstream other;
static CUevent recorded, legacy;

/* ---- the calls: each undoes what it did ---- */

static CUresult pages_come(void)
{
	CUresult result = cuMemAddressReserve(&spare, PAGE, 0, 0, 0);

	if (!result)
		result = cuMemCreate(&second, PAGE, &prop, 0);
	if (!result)
		result = cuMemMap(spare, PAGE, 0, second, 0);
	return result ? result : cuMemSetAccess(spare, PAGE, &access_desc, 1);
}

static CUresult pages_go(void)
{
	CUresult result = cuMemUnmap(spare, PAGE);

	if (!result)
		result = cuMemRelease(second);
	return result ? result : cuMemAddressFree(spare, PAGE);
}

/* What was mapped before the capture began, many times. */
static CUresult pages_move(void)
{
	CUresult result = CUDA_SUCCESS;

	for (int i = 0; !result && i < 100; i++) {
		result = cuMemUnmap(range + i % 2 * PAGE, PAGE);
		if (!result)
			result = cuMemMap(range + (i + 1) % 2 * PAGE, PAGE, 0,
					  handle, 0);
		if (!result)
			result = cuMemSetAccess(range + (i + 1) % 2 * PAGE,
						PAGE, &access_desc, 1);
	}
	return result;
}

static CUresult page_is_lent(void)
{
	CUresult result = cuMemMap(range + PAGE, PAGE, 0, handle, 0);

	if (!result)
		result = cuMemSetAccess(range + PAGE, PAGE, &access_desc, 1);
	return result ? result : cuMemUnmap(range + PAGE, PAGE);
}

static CUresult plain_comes(void)
{
	return cuMemAlloc(&plain, 64 * MIB);
}

static CUresult plain_goes(void)
{
	return cuMemFree(plain);
}

static CUresult kinds_come(void)
{
	CUresult result = cuMemAllocHost(&pinned, MIB);

	return result ? result
		      : cuMemAllocManaged(&managed, MIB, CU_MEM_ATTACH_GLOBAL);
}

static CUresult kinds_go(void)
{
	CUresult result = cuMemFreeHost(pinned);

	return result ? result : cuMemFree(managed);
}

static CUresult event_is_recorded(void)
{
	return cuEventRecord(recorded, other);
}

static CUresult event_is_asked(void)
{
	return cuEventQuery(recorded);
}

static CUresult event_is_awaited(void)
{
	return cuEventSynchronize(recorded);
}

/* It was recorded there before the capture. */
static CUresult legacy_event_is_asked(void)
{
	return cuEventQuery(legacy);
}

static CUresult legacy_event_is_awaited(void)
{
	return cuEventSynchronize(legacy);
}

static CUresult stream_is_asked(void)
{
	CUresult result = cuStreamQuery(spin_stream);

	return result == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : result;
}

static CUresult stream_is_awaited(void)
{
	return cuStreamSynchronize(other);
}

static CUresult legacy_is_asked(void)
{
	return cuStreamQuery(NULL);
}

static const struct {
	const char *name;
	CUresult (*call)(void);
	bool waits; /* for all of the device */
	bool harms;
} calls[] = {
	{"pages are created and mapped", pages_come, false, false},
	{"pages are unmapped and destroyed", pages_go, false, false},
	{"pages move", pages_move, false, false},
	{"a page is mapped twice", page_is_lent, false, false},
	{"an event is recorded in another stream", event_is_recorded, false,
	 false},
	{"an event is asked", event_is_asked, false, false},
	{"an event of the legacy stream is asked", legacy_event_is_asked,
	 false, false},
	{"another stream is asked", stream_is_asked, false, false},
	{"an event is waited for", event_is_awaited, false, false},
	{"an event of the legacy stream is waited for",
	 legacy_event_is_awaited, false, false},
	{"another stream is waited for", stream_is_awaited, false, false},
	{"cuMemAlloc", plain_comes, false, false},
	{"cuMemFree", plain_goes, true, false},
	{"pinned and managed memory comes", kinds_come, true, false},
	{"pinned and managed memory goes", kinds_go, true, false},
	{"the legacy stream is asked", legacy_is_asked, false, true},
};

/* ---- a capture ---- */

static CUresult result;

static void *make_call(void *call)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUcontext ours;

	CALL(cuCtxPushCurrent(context));
	CALL(cuThreadExchangeStreamCaptureMode(&mode));
	result = (*(CUresult(*const *)(void))call)();
	CALL(cuThreadExchangeStreamCaptureMode(&mode));
	CALL(cuCtxPopCurrent(&ours));
	return NULL;
}

static void add(CUstream stream)
{
	void *arguments[] = {&counter};

	CALL(cuLaunchKernel(add_kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments,
			    NULL));
}

/* What a graph with two additions, launched twice, adds; 0: there is none. */
static unsigned run_graph(CUgraph graph, CUstream stream)
{
	CUgraphExec exec;
	unsigned sum = 0;

	CALL(cuMemsetD32(counter, 0, 1));
	if (cuGraphInstantiate(&exec, graph, 0))
		return 0;
	for (int i = 0; i < 2; i++)
		CALL(cuGraphLaunch(exec, stream));
	CALL(cuStreamSynchronize(stream));
	CALL(cuMemcpyDtoH(&sum, counter, sizeof(sum)));
	CALL(cuGraphExecDestroy(exec));
	CALL(cuGraphDestroy(graph));
	return sum;
}

static void try_call(size_t i, CUstream stream, CUstreamCaptureMode mode,
		     bool thread)
{
	static const char *const names[] = {"global", "thread local",
					    "relaxed"};
	const char *name = "0", *end_name = "0";
	CUgraph graph = NULL;
	CUresult end;
	pthread_t helper;
	unsigned sum;
	bool spun;
	double ms;

	CALL(cuEventRecord(legacy, NULL));
	spin_begin(spin_ns);
	CALL(cuStreamBeginCapture(stream, mode));
	add(stream);
	ms = now_ms();
	if (!thread)
		make_call((void *)(uintptr_t)&calls[i].call);
	else if (pthread_create(&helper, NULL, make_call,
				(void *)(uintptr_t)&calls[i].call) ||
		 pthread_join(helper, NULL))
		bail("no thread");
	ms = now_ms() - ms;
	if (cuStreamIsCapturing(stream, &(CUstreamCaptureStatus){0}) ==
	    CUDA_SUCCESS)
		(void)cuLaunchKernel(add_kernel, 1, 1, 1, 1, 1, 1, 0, stream,
				     (void *[]){&counter}, NULL);
	end = cuStreamEndCapture(stream, &graph);
	spun = spin_runs();
	spin_wait();
	sum = end ? 0 : run_graph(graph, stream);
	(void)cuGetErrorName(result, &name);
	(void)cuGetErrorName(end, &end_name);
	if (!calls[i].harms)
		ok(!result && !end && sum == 4 && (spun || calls[i].waits),
		   "%s: %s capture, by %s thread", calls[i].name, names[mode],
		   thread ? "another" : "the same");
	diag("%s, %s, %s: %s, capture %s, sum %u, %.2f ms%s", calls[i].name,
	     names[mode], thread ? "another" : "same", name, end_name, sum, ms,
	     spun ? "" : ", the other stream's kernel is over");
}

static void start(CUdevice device)
{
	CALL(cuCtxGetCurrent(&context));
	spin_load();
	add_kernel = load_kernel(add_ptx, "add");
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	prop.location.id = device;
	access_desc.location = prop.location;
	access_desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	CALL(cuMemAlloc(&counter, sizeof(unsigned)));
	CALL(cuMemAddressReserve(&range, 2 * PAGE, 0, 0, 0));
	CALL(cuMemCreate(&handle, PAGE, &prop, 0));
	CALL(cuMemMap(range, PAGE, 0, handle, 0));
	CALL(cuMemSetAccess(range, PAGE, &access_desc, 1));
	CALL(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	CALL(cuEventCreate(&recorded, CU_EVENT_DISABLE_TIMING));
	CALL(cuEventCreate(&legacy, CU_EVENT_DISABLE_TIMING));
}

int main(void)
{
	static const CUstreamCaptureMode modes[] = {
		CU_STREAM_CAPTURE_MODE_GLOBAL,
		CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
		CU_STREAM_CAPTURE_MODE_RELAXED};
	static const unsigned kinds[] = {CU_STREAM_NON_BLOCKING,
					 CU_STREAM_DEFAULT};

	start(start_cuda());
	for (size_t kind = 0; kind < 2; kind++) {
		CUstream stream;

		CALL(cuStreamCreate(&stream, kinds[kind]));
		diag("a stream that is %s", kind ? "blocking" : "not blocking");
		for (size_t mode = 0; mode < 3; mode++)
			for (int thread = 0; thread < 2; thread++)
				for (size_t i = 0;
				     i < sizeof(calls) / sizeof(*calls); i++)
					try_call(i, stream, modes[mode],
						 thread);
		CALL(cuStreamDestroy(stream));
	}
	return done_testing();
}
