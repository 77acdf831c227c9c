/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The double of NVIDIA's driver: stream capture. Every line was seen on an
 * H200 with driver 580, but for those about streams that join a capture.
 */
#include "cuda.h"

#include <pthread.h>

#define GLOBAL CU_STREAM_CAPTURE_MODE_GLOBAL
#define LOCAL CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

/* What a call that is tried has. */
struct things {
	CUstream captured, other;
	CUevent event, fresh;
	CUdeviceptr block, more, base;
	CUmemGenericAllocationHandle handle;
	void *pinned;
};

static const CUmemAllocationProp prop = {
	.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
};
static CUcontext primary;
static char page[4096];
static size_t junk[2];

static struct things prepare(unsigned flags)
{
	struct things it = {
		.captured = new_stream(flags),
		.other = new_stream(1),
		.event = new_event(),
		.fresh = new_event(),
		.block = new_block(64),
	};

	if (cu.cuEventRecord(it.event, it.other) ||
	    cu.cuMemHostAlloc(&it.pinned, 64, 1) ||
	    cu.cuMemCreate(&it.handle, GRANULE, &prop, 0) ||
	    cu.cuMemAddressReserve(&it.base, 2 * GRANULE, 0, 0, 0) ||
	    cu.cuMemMap(it.base, GRANULE, 0, it.handle, 0))
		bail("nothing to try it with");
	return it;
}

/* What the tried call took away already is refused here, and no harm. */
static void clean_up(struct things *it)
{
	(void)cu.cuStreamDestroy_v2(it->captured);
	(void)cu.cuStreamDestroy_v2(it->other);
	(void)cu.cuEventDestroy_v2(it->event);
	(void)cu.cuEventDestroy_v2(it->fresh);
	(void)cu.cuMemFree_v2(it->block);
	(void)cu.cuMemFree_v2(it->more);
	(void)cu.cuMemFreeHost(it->pinned);
	(void)cu.cuMemHostUnregister(page);
	(void)cu.cuMemUnmap(it->base, GRANULE);
	(void)cu.cuMemUnmap(it->base + GRANULE, GRANULE);
	(void)cu.cuMemRelease(it->handle);
	(void)cu.cuMemAddressFree(it->base, 2 * GRANULE);
}

typedef CUresult (*try_fn)(struct things *it);

#define TRY(name, call)                                                        \
	static CUresult try_##name(struct things *it)                          \
	{                                                                      \
		(void)it;                                                      \
		return call;                                                   \
	}
TRY(alloc, cu.cuMemAlloc_v2(&it->more, 64))
TRY(free, cu.cuMemFree_v2(it->block))
TRY(free_nothing, cu.cuMemFree_v2(0))
TRY(host_alloc, cu.cuMemHostAlloc(&it->pinned, 64, 1))
TRY(free_host, cu.cuMemFreeHost(it->pinned))
TRY(host_register, cu.cuMemHostRegister_v2(page, 4096, 1))
TRY(managed, cu.cuMemAllocManaged(&it->block, 64, 1))
TRY(event_query, cu.cuEventQuery(it->event))
TRY(event_sync, cu.cuEventSynchronize(it->event))
TRY(stream_query, cu.cuStreamQuery(it->other))
TRY(stream_sync, cu.cuStreamSynchronize(it->other))
TRY(legacy_query, cu.cuStreamQuery(NULL))
TRY(info, cu.cuMemGetInfo_v2(&junk[0], &junk[1]))
TRY(release, cu.cuMemRelease(it->handle))
TRY(map, cu.cuMemMap(it->base + GRANULE, GRANULE, 0, it->handle, 0))
TRY(unmap, cu.cuMemUnmap(it->base, GRANULE))
TRY(event_create, cu.cuEventDestroy_v2(it->fresh)
			  ? CUDA_ERROR_UNKNOWN
			  : cu.cuEventCreate(&it->fresh, 2))
TRY(event_destroy, cu.cuEventDestroy_v2(it->event))
TRY(event_record, cu.cuEventRecord(it->fresh, it->other))
TRY(wait, cu.cuStreamWaitEvent(it->other, it->event, 0))
TRY(fill, cu.cuMemsetD8Async(it->block, 1, 64, it->other))
TRY(own_query, cu.cuStreamQuery(it->captured))
TRY(own_sync, cu.cuStreamSynchronize(it->captured))
TRY(own_record, cu.cuEventRecord(it->fresh, it->captured))
TRY(own_record_query, cu.cuEventRecord(it->fresh, it->captured)
			      ? CUDA_ERROR_UNKNOWN
			      : cu.cuEventQuery(it->fresh))
TRY(own_record_sync, cu.cuEventRecord(it->fresh, it->captured)
			     ? CUDA_ERROR_UNKNOWN
			     : cu.cuEventSynchronize(it->fresh))
TRY(own_wait, cu.cuStreamWaitEvent(it->captured, it->event, 0))
TRY(own_fill, cu.cuMemsetD8Async(it->block, 1, 64, it->captured))
TRY(legacy_record, cu.cuEventRecord(it->fresh, NULL))
TRY(legacy_fill, cu.cuMemsetD8Async(it->block, 1, 64, NULL))
TRY(legacy_wait, cu.cuStreamWaitEvent(NULL, it->event, 0))
TRY(legacy_info,
    cu.cuStreamGetCaptureInfo(NULL, (CUstreamCaptureStatus *)junk, NULL))
#undef TRY

struct other_thread {
	try_fn call;
	struct things *it;
	CUresult result;
};

static void *in_thread(void *arg)
{
	struct other_thread *job = arg;

	(void)cu.cuCtxPushCurrent_v2(primary);
	job->result = job->call(job->it);
	return NULL;
}

static CUresult elsewhere(try_fn call, struct things *it)
{
	struct other_thread job = {call, it, CUDA_SUCCESS};
	pthread_t thread;

	if (pthread_create(&thread, NULL, in_thread, &job))
		bail("no thread");
	pthread_join(thread, NULL);
	return job.result;
}

/* Begins a capture, tries the call, and looks at what it did to it. */
static void attempt(const char *name, try_fn call, int mode, unsigned flags,
		    bool other_thread, CUresult want, bool survives)
{
	struct things it = prepare(flags);
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUgraph graph = NULL;
	CUresult got, ended;
	uint64_t id = 0;

	(void)cu.cuStreamBeginCapture_v2(it.captured,
					 (CUstreamCaptureMode)mode);
	got = other_thread ? elsewhere(call, &it) : call(&it);
	is_int(got, want, "%s, mode %d%s", name, mode,
	       other_thread ? ", other thread" : "");
	(void)cu.cuStreamGetCaptureInfo(it.captured, &status, &id);
	is_int(status, survives ? 1 : 2, "%s: the capture", name);
	ok((id != 0) == survives, "%s: its number", name);
	ended = cu.cuStreamEndCapture(it.captured, &graph);
	is_int(ended, survives ? 0 : 901, "%s: its end", name);
	ok((graph != NULL) == survives, "%s: its graph", name);
	(void)cu.cuGraphDestroy(graph);
	clean_up(&it);
}

#define GOOD(name, mode) attempt(#name, try_##name, mode, 1, false, 0, true)
#define BAD(name, mode, code)                                                  \
	attempt(#name, try_##name, mode, 1, false, (CUresult)(code), false)

static void test_unsafe(void)
{
	BAD(alloc, GLOBAL, 900);
	BAD(free, GLOBAL, 900);
	BAD(free_nothing, GLOBAL, 900);
	BAD(host_alloc, GLOBAL, 900);
	BAD(free_host, GLOBAL, 900);
	BAD(host_register, GLOBAL, 900);
	BAD(managed, GLOBAL, 900);
	BAD(event_query, GLOBAL, 900);
	BAD(event_sync, GLOBAL, 900);
	BAD(stream_query, GLOBAL, 900);
	BAD(stream_sync, GLOBAL, 900);
	BAD(legacy_query, GLOBAL, 900);
	BAD(alloc, LOCAL, 900);
	GOOD(alloc, RELAXED);
	GOOD(event_query, RELAXED);
	GOOD(info, GLOBAL);
	GOOD(release, GLOBAL);
	GOOD(map, GLOBAL);
	GOOD(unmap, GLOBAL);
	GOOD(event_create, GLOBAL);
	GOOD(event_destroy, GLOBAL);
	GOOD(event_record, GLOBAL);
	GOOD(wait, GLOBAL);
	GOOD(fill, GLOBAL);
}

static void test_own(void)
{
	for (int mode = GLOBAL; mode <= (int)RELAXED; mode += 2) {
		BAD(own_query, mode, 900);
		BAD(own_sync, mode, 900);
		GOOD(own_record, mode);
		BAD(own_record_query, mode, 907);
		BAD(own_record_sync, mode, 907);
		BAD(own_wait, mode, 905);
		GOOD(own_fill, mode);
	}
}

static void test_threads(void)
{
	attempt("alloc", try_alloc, GLOBAL, 1, true, 900, false);
	attempt("event_query", try_event_query, GLOBAL, 1, true, 900, false);
	attempt("unmap", try_unmap, GLOBAL, 1, true, 0, true);
	attempt("alloc", try_alloc, LOCAL, 1, true, 0, true);
	attempt("event_query", try_event_query, LOCAL, 1, true, 0, true);
	attempt("stream_sync", try_stream_sync, RELAXED, 1, true, 0, true);
}

static void test_legacy(void)
{
	attempt("legacy_record", try_legacy_record, 2, 0, false, 906, false);
	attempt("legacy_query", try_legacy_query, 2, 0, false, 906, false);
	attempt("legacy_fill", try_legacy_fill, 2, 0, false, 906, false);
	attempt("legacy_wait", try_legacy_wait, 2, 0, false, 906, false);
	attempt("legacy_info", try_legacy_info, 2, 0, false, 906, true);
	attempt("free", try_free, 2, 0, false, 0, true);
	attempt("legacy_record", try_legacy_record, 2, 1, false, 0, true);
	attempt("legacy_fill", try_legacy_fill, 2, 1, false, 0, true);
}

/* The mode of the thread, pushed and popped. */
static void test_exchange(void)
{
	struct things it = prepare(1);
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUdeviceptr block;
	CUgraph graph;

	(void)cu.cuStreamBeginCapture_v2(it.captured, GLOBAL);
	is_int(cu.cuThreadExchangeStreamCaptureMode(&mode), 0, "exchange");
	is_int(mode, GLOBAL, "what it was");
	is_int(cu.cuMemAlloc_v2(&block, 64), 0, "now it may");
	is_int(cu.cuMemFree_v2(block), 0, "also this");
	is_int(cu.cuEventQuery(it.event), 0, "and this");
	(void)cu.cuThreadExchangeStreamCaptureMode(&mode);
	is_int(cu.cuMemAlloc_v2(&block, 64), 900, "then no more");
	is_int(cu.cuMemsetD8Async(it.block, 1, 1, it.captured), 901, "901");
	is_int(cu.cuEventRecord(it.fresh, it.captured), 901, "also to record");
	is_int(cu.cuStreamGetCtx(it.captured, &primary), 901, "even that");
	is_int(cu.cuStreamEndCapture(it.captured, &graph), 901, "to the end");
	clean_up(&it);
}

static CUresult end_it(struct things *it)
{
	CUgraph graph;

	return cu.cuStreamEndCapture(it->captured, &graph);
}

/* A stream that joins a capture, and work of it that the origin waits for. */
static void test_join(void)
{
	struct things it = prepare(1);
	CUgraph graph = NULL;

	(void)cu.cuStreamBeginCapture_v2(it.captured, RELAXED);
	(void)cu.cuEventRecord(it.fresh, it.captured);
	(void)cu.cuStreamWaitEvent(it.other, it.fresh, 0);
	(void)cu.cuMemsetD8Async(it.block, 1, 1, it.other);
	(void)cu.cuEventRecord(it.fresh, it.other);
	is_int(cu.cuStreamWaitEvent(it.captured, it.fresh, 0), 0, "a join");
	is_int(cu.cuStreamEndCapture(it.other, &graph), 903,
	       "not where it began: 903");
	is_int(cu.cuStreamEndCapture(it.captured, &graph), 0, "all is joined");
	(void)cu.cuGraphDestroy(graph);
	clean_up(&it);
}

static void test_begin_end(void)
{
	struct things it = prepare(1);
	CUstreamCaptureStatus status;
	CUgraph graph;

	is_int(cu.cuStreamBeginCapture_v2(NULL, RELAXED), 900, "0: 900");
	is_int(cu.cuStreamBeginCapture_v2(CU_STREAM_PER_THREAD, RELAXED), 0,
	       "2 can be captured");
	is_int(cu.cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph), 0, "end");
	(void)cu.cuGraphDestroy(graph);
	is_int(cu.cuGraphDestroy(graph), 1, "a dead graph: 1");
	is_int(end_it(&it), 401, "no capture: 401");
	(void)cu.cuStreamBeginCapture_v2(it.captured, GLOBAL);
	is_int(elsewhere(end_it, &it), 908, "another thread: 908");
	is_int(cu.cuStreamIsCapturing(it.captured, &status), 0, "which");
	is_int(status, 0, "ended it");
	(void)cu.cuStreamBeginCapture_v2(it.captured, RELAXED);
	(void)cu.cuEventRecord(it.fresh, it.captured);
	is_int(cu.cuStreamWaitEvent(it.other, it.fresh, 0), 0, "a fork");
	(void)cu.cuStreamIsCapturing(it.other, &status);
	is_int(status, 1, "joins the capture");
	(void)cu.cuMemsetD8Async(it.block, 1, 1, it.other);
	is_int(end_it(&it), 904, "unjoined work: 904");
	(void)cu.cuStreamIsCapturing(it.other, &status);
	is_int(status, 0, "the other is free, too");
	is_int(cu.cuEventQuery(it.fresh), 1, "its event later: 1");
	is_int(cu.cuStreamWaitEvent(it.other, it.fresh, 0), 1, "to wait: 1");
	is_int(cu.cuEventRecord(it.fresh, it.other), 0, "recorded again");
	is_int(cu.cuEventQuery(it.fresh), 0, "it is good again");
	(void)cu.cuStreamBeginCapture_v2(it.captured, GLOBAL);
	clean_up(&it);
	is_uint(held().captures, 0, "a capture ends with its stream");
}

int main(void)
{
	primary = fake_start();
	test_unsafe();
	test_own();
	test_threads();
	test_legacy();
	test_exchange();
	test_join();
	test_begin_end();
	is_uint(held().streams + held().events + held().graphs +
			held().captures + held().pinned + held().reservations,
		0, "nothing is held");
	is_uint(held().used_bytes, 0, "nor memory");
	return done_testing();
}
