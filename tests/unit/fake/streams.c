/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The double of NVIDIA's driver: streams and events, stepped by hand.
 */
#include "cuda.h"

static void count(void *number)
{
	++*(int *)number;
}

static CUresult inner;

static void call_driver(void *arg)
{
	int device;

	(void)arg;
	inner = cu.cuDeviceGetCount(&device);
}

static void test_at_once(void)
{
	CUstream stream = new_stream(1);
	CUdeviceptr block = new_block(64);
	unsigned flags = 9;
	int ran = 0;

	is_int(cu.cuStreamGetFlags(stream, &flags), 0, "flags");
	is_uint(flags, 1, "as it was made");
	(void)cu.cuStreamGetFlags(NULL, &flags);
	is_uint(flags, 0, "the legacy stream has none");
	is_int(cu.cuStreamGetFlags(stream, NULL), 1, "nowhere to: 1");
	is_int(cu.cuMemsetD8Async(block, 9, 64, stream), 0, "fill");
	is_int(*(char *)memory_at(block + 63), 9, "it ran at once");
	is_int(cu.cuLaunchHostFunc(stream, count, &ran), 0, "host function");
	is_int(ran, 1, "so did it");
	(void)cu.cuLaunchHostFunc(stream, call_driver, NULL);
	is_int(inner, 800, "which may not call the driver: 800");
	is_uint(control.waits(), 0, "nobody waited");
	is_int(cu.cuMemsetD8Async(block, 9, 0, stream), 0, "nothing to fill");
	is_int(cu.cuMemsetD8Async(12345, 9, 1, stream), 1, "nowhere: 1");
	(void)cu.cuMemFree_v2(block);
	(void)cu.cuStreamDestroy_v2(stream);
}

static void test_steps(void)
{
	CUstream stream = new_stream(1);
	CUevent event = new_event(), never = new_event();
	uint64_t waits = control.waits();
	int ran = 0;

	is_int(cu.cuEventQuery(never), 0, "never recorded: over");
	(void)cu.cuLaunchHostFunc(stream, count, &ran);
	(void)cu.cuEventRecord(event, stream);
	(void)cu.cuLaunchHostFunc(stream, count, &ran);
	is_uint(control.pending(stream), 3, "three items");
	is_int(cu.cuStreamQuery(stream), 600, "stream: 600");
	is_int(cu.cuEventQuery(event), 600, "event: 600");
	is_uint(control.step(stream, 1), 1, "a step");
	is_int(ran, 1, "one ran");
	is_int(cu.cuEventQuery(event), 600, "not the event yet");
	is_uint(control.step(stream, 1), 1, "a step");
	is_int(cu.cuEventQuery(event), 0, "now the event");
	is_int(cu.cuStreamQuery(stream), 600, "not the stream yet");
	is_int(cu.cuEventSynchronize(event), 0, "no need to wait");
	is_uint(control.waits(), waits, "nobody waited");
	is_int(cu.cuStreamSynchronize(stream), 0, "synchronise");
	is_uint(control.waits(), waits + 1, "that waited");
	is_int(ran, 2, "all ran");
	(void)cu.cuLaunchHostFunc(stream, count, &ran);
	is_int(cu.cuCtxSynchronize(), 0, "synchronise the context");
	is_int(ran, 3, "that ran, too");
	is_uint(control.step(stream, 9), 0, "nothing is left");
	(void)cu.cuEventDestroy_v2(never);
	(void)cu.cuEventDestroy_v2(event);
	is_int(cu.cuEventQuery(event), 400, "a dead event: 400");
	never = new_event(); /* takes its place */
	is_int(cu.cuEventQuery(event), 400, "still a dead event: 400");
	(void)cu.cuEventDestroy_v2(never);
	is_int(cu.cuEventDestroy_v2(event), 400, "twice: 400");
	is_int(cu.cuEventRecord(event, stream), 400, "recorded: 400");
	is_int(cu.cuStreamDestroy_v2(stream), 0, "destroy");
	is_int(cu.cuStreamQuery(stream), 400, "a dead stream: 400");
	is_int(cu.cuStreamDestroy_v2(stream), 400, "twice: 400");
	is_int(cu.cuStreamDestroy_v2(NULL), 400, "the default's: 400");
}

static void test_waits(void)
{
	CUstream first = new_stream(1), second = new_stream(1);
	CUevent event = new_event();
	int ran = 0, late = 0;

	(void)cu.cuLaunchHostFunc(first, count, &ran);
	(void)cu.cuEventRecord(event, first);
	is_int(cu.cuStreamWaitEvent(second, event, 0), 0, "wait");
	(void)cu.cuLaunchHostFunc(first, count, &late);
	(void)cu.cuEventRecord(event, first); /* makes no difference */
	(void)cu.cuLaunchHostFunc(second, count, &ran);
	is_uint(control.step(second, 9), 0, "it cannot go on");
	is_uint(control.step(first, 2), 2, "the other goes on");
	is_uint(control.step(second, 9), 2, "now it can");
	is_int(ran, 2, "both ran");
	is_int(late, 0, "not what was queued later");
	(void)cu.cuStreamWaitEvent(second, event, 0);
	(void)cu.cuLaunchHostFunc(second, count, &ran);
	is_int(cu.cuStreamSynchronize(second), 0, "waiting runs the other");
	is_int(late * 10 + ran, 13, "as far as need be");
	(void)cu.cuLaunchHostFunc(first, count, &ran);
	(void)cu.cuEventRecord(event, first);
	(void)cu.cuStreamDestroy_v2(first);
	is_int(cu.cuEventQuery(event), 600, "a dead stream's work goes on");
	is_int(cu.cuEventSynchronize(event), 0, "to its end");
	is_int(ran, 4, "it ran");
	(void)cu.cuStreamDestroy_v2(second);
	(void)cu.cuEventDestroy_v2(event);
}

static void test_legacy(void)
{
	CUstream blocking = new_stream(0), other = new_stream(1);
	int ran = 0;

	(void)cu.cuLaunchHostFunc(blocking, count, &ran);
	(void)cu.cuLaunchHostFunc(other, count, &ran);
	is_int(cu.cuStreamQuery(NULL), 600, "0 stands for blocking streams");
	is_int(cu.cuStreamQuery(CU_STREAM_LEGACY), 600, "1 is the same");
	(void)cu.cuLaunchHostFunc(NULL, count, &ran);
	is_uint(control.step(NULL, 9), 0, "its work waits for theirs");
	(void)cu.cuLaunchHostFunc(blocking, count, &ran);
	(void)cu.cuLaunchHostFunc(CU_STREAM_PER_THREAD, count, &ran);
	is_uint(control.step(blocking, 9), 1, "their later work for its");
	is_uint(control.step(CU_STREAM_PER_THREAD, 9), 0, "2 is blocking");
	is_uint(control.step(other, 9), 1, "NON_BLOCKING waits for none");
	is_uint(control.step(NULL, 9), 2, "now the legacy stream");
	is_uint(control.step(CU_STREAM_PER_THREAD, 9), 2, "then 2");
	is_int(cu.cuStreamQuery(NULL), 600, "one is still busy");
	is_int(cu.cuStreamSynchronize(NULL), 0, "synchronise");
	is_int(cu.cuStreamQuery(blocking), 0, "waits for it, too");
	is_int(ran, 5, "all ran");
	(void)cu.cuStreamDestroy_v2(blocking);
	(void)cu.cuStreamDestroy_v2(other);
}

/* Which calls wait for work that has nothing to do with them. */
static void test_implicit_waits(void)
{
	const CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
	};
	CUmemGenericAllocationHandle handle = 0;
	CUstream stream = new_stream(1);
	CUdeviceptr block = new_block(64), base = 0;
	uint64_t waits = control.waits();
	void *pinned = NULL;
	int ran = 0;

	(void)cu.cuMemHostAlloc(&pinned, 64, 1);
	(void)cu.cuLaunchHostFunc(stream, count, &ran);
	(void)cu.cuMemAddressReserve(&base, GRANULE, 0, 0, 0);
	(void)cu.cuMemCreate(&handle, GRANULE, &prop, 0);
	(void)cu.cuMemMap(base, GRANULE, 0, handle, 0);
	(void)cu.cuMemUnmap(base, GRANULE);
	(void)cu.cuMemRelease(handle);
	is_int(cu.cuMemAddressFree(base, GRANULE), 0, "virtual memory");
	is_uint(control.waits() - waits, 0, "never waits");
	is_int(cu.cuMemFree_v2(block), 0, "cuMemFree");
	is_uint(control.waits() - waits, 1, "waits");
	is_int(ran, 1, "for all work of the device");
	(void)cu.cuLaunchHostFunc(stream, count, &ran);
	is_int(cu.cuMemFreeHost(pinned), 0, "cuMemFreeHost");
	is_uint(control.waits() - waits, 2, "waits, too");
	is_int(ran, 2, "for all work of the device");
	(void)cu.cuStreamDestroy_v2(stream);
}

static void test_contexts(CUcontext primary)
{
	CUstream stream = new_stream(1), foreign;
	CUevent event = new_event();
	CUcontext other, of = NULL;

	(void)cu.cuCtxCreate_v2(&other, 0, 0);
	foreign = new_stream(1);
	is_int(cu.cuEventRecord(event, foreign), 400, "another context's: 400");
	is_int(cu.cuEventRecord(event, NULL), 400, "0 is the current one's");
	is_int(cu.cuEventRecord(event, stream), 0, "its own, not current");
	is_int(cu.cuStreamWaitEvent(foreign, event, 0), 0, "waiting is free");
	is_int(cu.cuStreamGetCtx(stream, &of), 0, "whose is it");
	is_ptr(of, primary, "the primary context's");
	(void)cu.cuStreamGetCtx(NULL, &of);
	is_ptr(of, other, "0 is the current one's");
	(void)cu.cuStreamSynchronize(foreign);
	(void)cu.cuLaunchHostFunc(foreign, count, NULL); /* is dropped */
	is_int(cu.cuCtxDestroy_v2(other), 0, "destroyed with work in it");
	is_int(cu.cuStreamQuery(foreign), 400, "its stream is dead: 400");
	(void)cu.cuStreamDestroy_v2(stream);
	(void)cu.cuEventDestroy_v2(event);
}

/* Memory that goes while work for it is queued. */
static void test_too_early(void)
{
	const CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
	};
	const CUmemAccessDesc desc = {
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	CUmemGenericAllocationHandle handle = 0;
	CUstream stream = new_stream(1);
	CUdeviceptr base = 0;
	size_t bytes;

	(void)cu.cuMemAddressReserve(&base, GRANULE, 0, 0, 0);
	(void)cu.cuMemCreate(&handle, GRANULE, &prop, 0);
	(void)cu.cuMemMap(base, GRANULE, 0, handle, 0);
	(void)cu.cuMemSetAccess(base, GRANULE, &desc, 1);
	is_int(cu.cuMemsetD8Async(base, 1, 64, stream), 0, "queued");
	is_int(cu.cuMemUnmap(base, GRANULE), 0, "unmapped too early");
	is_int(cu.cuStreamSynchronize(stream), 700, "700");
	is_int(cu.cuMemGetInfo_v2(&bytes, &bytes), 700, "from then on");
}

int main(void)
{
	CUcontext context = fake_start();

	test_at_once();
	ok(!control.stepping(true), "step by hand");
	test_steps();
	test_waits();
	test_legacy();
	test_implicit_waits();
	test_contexts(context);
	is_uint(held().streams + held().events, 0, "nothing is held");
	test_too_early();
	return done_testing();
}
