/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * HIP over the double of NVIDIA's driver, each of the three libraries: blocks,
 * copies, streams, events, functions of the host, and capture.
 */
#include "hip.h"

static void *new_memory(size_t bytes)
{
	void *block = NULL;

	if (hip.hipMalloc(&block, bytes))
		bail("hipMalloc");
	return block;
}

static hipStream_t new_work(unsigned flags)
{
	hipStream_t stream = NULL;

	if (hip.hipStreamCreateWithFlags(&stream, flags))
		bail("hipStreamCreateWithFlags");
	return stream;
}

static hipEvent_t new_mark(void)
{
	hipEvent_t event = NULL;

	if (hip.hipEventCreateWithFlags(&event, hipEventDisableTiming))
		bail("hipEventCreateWithFlags");
	return event;
}

static void test_blocks(void)
{
	void *block = (void *)1, *host = NULL, *shared = NULL;
	char text[64] = "";
	size_t total = 0;

	is_int(hip.hipMalloc(&block, 0), 0, "nothing");
	is_ptr(block, NULL, "is NULL");
	is_int(hip.hipFree(NULL), 0, "and can be freed");
	is_int(hip.hipHostFree(NULL), 0, "of the host, too");
	is_int(hip.hipFree(text), 1, "what is not HIP's: 1");
	is_int(hip.hipMalloc(&block, 65 * MIB), 2, "too much: 2");
	block = new_memory(64);
	is_int(hip.hipHostMalloc(&host, 64, 0x40000000), 0, "pinned, coherent");
	is_int(hip.hipMallocManaged(&shared, 64, 1), 0, "managed");
	memcpy(host, "over there and back", 20);
	is_int(hip.hipMemcpy(block, host, 64, hipMemcpyHostToDevice), 0, "to");
	is_int(hip.hipMemcpyDtoH(text, block, 64), 0, "fro");
	is_str(text, "over there and back", "a copy");
	is_int(hip.hipMemcpy(block, host, 64, (hipMemcpyKind)7), 21,
	       "no such direction: 21");
	is_int(hip.hipMemsetAsync(block, 7, 64, NULL), 0, "a fill");
	is_int(hip.hipMemsetD8Async(block, 8, 32, NULL), 0, "of half");
	is_int(hip.hipMemcpy(text, block, 64, hipMemcpyDefault), 0, "read");
	is_int(text[31] * 256 + text[32], 8 * 256 + 7, "as it was filled");
	is_int(hip.hipMemGetInfo(NULL, &total), 0, "only the total");
	is_uint(total, 64 * MIB, "memory");
	is_int(hip.hipFree(block), 0, "free");
	is_int(hip.hipFree(block), 1, "no more: 1");
	is_int(hip.hipHostFree(host), 0, "pinned");
	is_int(hip.hipHostRegister(text, 64, 1), 0, "what is there, pinned");
	is_uint(held().pinned, 1, "is known");
	is_int(hip.hipHostUnregister(text), 0, "and no more");
	is_int(hip.hipFree(shared), 0, "managed");
	is_uint(held().allocs + held().pinned, 0, "all are gone");
}

/* The first int is `memoryType`, or `type`, by the header. */
static int type_of(const void *address, hipPointerAttribute_t *out)
{
	int type = -1;
	hipError_t error = hip.hipPointerGetAttributes(out, address);

	memcpy(&type, out, sizeof(type));
	return error ? -(int)error : type;
}

static void test_pointers(void)
{
	hipPointerAttribute_t is;
	void *host = NULL, *shared = NULL;
	char *block;
	int local;

	(void)hip.hipSetDevice(1);
	block = new_memory(64);
	(void)hip.hipHostMalloc(&host, 64, 0);
	(void)hip.hipMallocManaged(&shared, 64, 1);
	is_int(type_of(block + 8, &is), major >= 6 ? 2 : 1, "of the device");
	is_int(is.device, 1, "the second");
	is_ptr(is.devicePointer, block + 8, "there");
	is_ptr(is.hostPointer, NULL, "and nowhere else");
	is_int(is.isManaged, 0, "not managed");
	is_int(type_of(host, &is), major >= 6 ? 1 : 0, "of the host");
	is_ptr(is.hostPointer, host, "there");
	is_int(type_of(shared, &is), major >= 6 ? 3 : 0, "managed");
	is_int(is.isManaged, 1, "as it says");
	is_int(type_of(&local, &is), major >= 6 ? 0 : -1, "unknown");
	is_int(type_of(NULL, &is), -1, "none: 1");
	(void)hip.hipFree(block);
	(void)hip.hipHostFree(host);
	(void)hip.hipFree(shared);
	(void)hip.hipSetDevice(0);
}

static void test_streams(void)
{
	hipStream_t stream = new_work(hipStreamNonBlocking), plain;
	void *block = new_memory(64);
	char text[64] = "";
	unsigned flags = 9;
	hipDevice_t device = -1;

	is_int(hip.hipStreamGetFlags(stream, &flags), 0, "flags");
	is_uint(flags, hipStreamNonBlocking, "as it was made");
	is_int(hip.hipStreamCreate(&plain), 0, "a plain one");
	(void)hip.hipStreamGetFlags(plain, &flags);
	is_uint(flags, 0, "has none");
	(void)control.stepping(true);
	(void)hip.hipMemsetAsync(block, 1, 64, stream);
	is_int(hip.hipStreamQuery(stream), 600, "busy: 600");
	is_int(hip.hipStreamQuery(plain), 0, "the other is not");
	is_int(hip.hipStreamSynchronize(stream), 0, "await");
	is_int(hip.hipStreamQuery(stream), 0, "idle");
	(void)hip.hipMemsetAsync(block, 1, 64, stream);
	is_int(hip.hipDeviceSynchronize(), 0, "await the device");
	is_int(hip.hipStreamQuery(stream), 0, "idle");
	(void)hip.hipMemsetAsync(block, 1, 64, stream);
	is_int(hip.hipFree(block), 0, "hipFree");
	is_int(hip.hipStreamQuery(stream), 0, "awaits the device");
	block = new_memory(64);
	(void)hip.hipMemsetAsync(block, 6, 64, NULL);
	is_int(hip.hipMemcpyDtoH(text, block, 64), 0, "a copy");
	is_int(text[63], 6, "is there when the call returns");
	(void)hip.hipFree(block);
	(void)control.stepping(false);
	is_int(hip.hipStreamDestroy(NULL), 400, "not the null stream: 400");
	is_int(hip.hipStreamDestroy(hipStreamPerThread), 400, "nor a thread's");
	is_int(hip.hipStreamQuery(hipStreamPerThread), 0, "which there is");
	if (hip.hipStreamGetDevice) {
		(void)hip.hipSetDevice(1);
		is_int(hip.hipStreamGetDevice(stream, &device), 0, "device");
		is_int(device, 0, "of a stream");
		(void)hip.hipStreamGetDevice(NULL, &device);
		is_int(device, 1, "of the null stream");
		(void)hip.hipSetDevice(0);
	}
	(void)hip.hipStreamDestroy(plain);
	is_int(hip.hipStreamDestroy(stream), 0, "destroy");
	is_int(hip.hipStreamQuery(stream), 709, "destroyed: 709");
	is_int(hip.hipStreamSynchronize(stream), 709, "to await");
	is_int(hip.hipStreamDestroy(stream), 709, "and to destroy");
}

static void test_events(void)
{
	hipStream_t one = new_work(hipStreamNonBlocking);
	hipStream_t two = new_work(hipStreamNonBlocking), far;
	hipEvent_t event = new_mark(), flagged = NULL;
	void *block = new_memory(64);

	is_int(hip.hipEventCreateWithFlags(&flagged, 0x80000000), 0,
	       "a flag of HIP alone");
	(void)hip.hipEventDestroy(flagged);
	is_int(hip.hipEventQuery(event), 0, "never recorded");
	(void)control.stepping(true);
	(void)hip.hipMemsetAsync(block, 1, 64, one);
	is_int(hip.hipEventRecord(event, one), 0, "record");
	is_int(hip.hipEventQuery(event), 600, "not yet: 600");
	is_int(hip.hipStreamWaitEvent(two, event, 0), 0, "another waits");
	is_int(hip.hipStreamQuery(two), 600, "it does");
	is_int(hip.hipEventSynchronize(event), 0, "await");
	is_int(hip.hipEventQuery(event), 0, "over");
	(void)control.stepping(false);
	is_int(hip.hipEventRecord(NULL, one), 400, "no event: 400");
	(void)hip.hipSetDevice(1);
	far = new_work(0);
	is_int(hip.hipEventRecord(event, far), 400, "another device's: 400");
	is_int(hip.hipEventRecord(event, one), 0, "its own, from anywhere");
	is_int(hip.hipMemsetAsync(block, 2, 64, one), 0, "work, too");
	(void)hip.hipSetDevice(0);
	(void)hip.hipStreamDestroy(far);
	(void)hip.hipStreamDestroy(one);
	is_int(hip.hipEventRecord(event, one), 709, "destroyed: 709");
	(void)hip.hipStreamDestroy(two);
	(void)hip.hipFree(block);
	is_int(hip.hipEventDestroy(event), 0, "destroy");
	is_int(hip.hipEventQuery(event), 400, "destroyed: 400");
	is_uint(held().events + held().streams, 0, "all are gone");
}

static hipStream_t called_of;
static int called_with = -1;

static void call_back(hipStream_t stream, hipError_t status, void *argument)
{
	called_of = stream;
	called_with = (int)status + *(int *)argument;
}

static void call(void *argument)
{
	called_with = *(int *)argument;
}

static void test_functions(void)
{
	hipStream_t stream = new_work(hipStreamNonBlocking);
	int answer = 42;

	called_with = -1;
	(void)control.stepping(true);
	is_int(hip.hipStreamAddCallback(stream, call_back, &answer, 0), 0,
	       "a callback");
	is_int(called_with, -1, "waits its turn");
	(void)hip.hipStreamSynchronize(stream);
	is_int(called_with, 42, "and is called, all being well");
	is_ptr(called_of, stream, "for its stream");
	is_int(hip.hipStreamAddCallback(stream, call_back, &answer, 1), 1,
	       "it knows no flags");
	if (hip.hipLaunchHostFunc) {
		answer = 43;
		is_int(hip.hipLaunchHostFunc(stream, call, &answer), 0,
		       "the newer call");
		(void)hip.hipStreamSynchronize(stream);
		is_int(called_with, 43, "calls");
	}
	(void)control.stepping(false);
	(void)hip.hipStreamDestroy(stream);
}

static hipStreamCaptureStatus capture_of(hipStream_t stream,
					 unsigned long long *id_out)
{
	hipStreamCaptureStatus state = (hipStreamCaptureStatus)9, again = state;

	(void)hip.hipStreamGetCaptureInfo(stream, &state, id_out);
	(void)hip.hipStreamIsCapturing(stream, &again);
	return state == again ? state : (hipStreamCaptureStatus)8;
}

static void test_capture(void)
{
	hipStream_t stream = new_work(hipStreamNonBlocking);
	hipStreamCaptureStatus state;
	hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
	hipEvent_t event = new_mark();
	hipGraph_t graph = NULL;
	unsigned long long id = 0, same = 0;
	void *block;

	is_int(capture_of(stream, &id), 0, "no capture");
	is_int(hip.hipStreamBeginCapture(NULL, hipStreamCaptureModeGlobal), 900,
	       "never of the null stream: 900");
	is_int(hip.hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), 0,
	       "begin");
	is_int(capture_of(stream, &id), 1, "active");
	is_int(hip.hipStreamGetCaptureInfo_v2(stream, &state, &same, NULL, NULL,
					      NULL),
	       0, "asked otherwise");
	ok(id && same == id, "it has a number");
	is_int(hip.hipStreamGetCaptureInfo_v2(stream, &state, &same, &graph,
					      NULL, NULL),
	       801, "but no nodes: 801");
	is_int(hip.hipThreadExchangeStreamCaptureMode(&mode), 0, "relax");
	is_int(mode, hipStreamCaptureModeGlobal, "from global");
	is_int(hip.hipMalloc(&block, 1), 0, "a block in between");
	is_int(hip.hipFree(block), 0, "and away");
	(void)hip.hipThreadExchangeStreamCaptureMode(&mode);
	is_int(hip.hipEventRecord(event, stream), 0, "record");
	is_int(capture_of(stream, &id), 1, "still active");
	is_int(hip.hipEventQuery(event), 907, "a captured event: 907");
	is_int(capture_of(stream, &id), 2, "that spoils it");
	is_int(hip.hipEventRecord(event, stream), 901, "for all later: 901");
	is_int(hip.hipStreamEndCapture(stream, &graph), 901, "to the end");
	is_int(capture_of(stream, &id), 0, "over");
	(void)hip.hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal);
	is_int(hip.hipMalloc(&block, 1), 900, "no block meanwhile: 900");
	(void)hip.hipStreamEndCapture(stream, &graph);
	(void)hip.hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed);
	is_int(hip.hipStreamEndCapture(stream, &graph), 0, "a graph");
	is_int(hip.hipGraphDestroy(graph), 0, "destroy");
	(void)hip.hipEventDestroy(event);
	(void)hip.hipStreamDestroy(stream);
	is_uint(held().captures + held().graphs, 0, "all are gone");
}

int main(void)
{
	setenv("FAKECUDA_DEVICES", "2", 1);
	setenv("FAKECUDA_MEMORY", "64MiB", 1);
	fake_load();
	for (int which = 5; which <= 7; which++) {
		hip_load(which);
		test_blocks();
		test_pointers();
		test_streams();
		test_events();
		test_functions();
		test_capture();
	}
	return done_testing();
}
