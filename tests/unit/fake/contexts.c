/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The double of NVIDIA's driver: contexts told apart. A strict one refuses what
 * belongs to another context than the current one; a handle can come again,
 * and the context behind it has another number.
 */
#include "cuda.h"

static CUcontext a, b;

static void test_numbers(void)
{
	unsigned long long one = 0, two = 0, current = 0;

	is_int(cu.cuCtxGetId(a, &one), 0, "a context's number");
	is_int(cu.cuCtxGetId(b, &two), 0, "another's");
	is_int(cu.cuCtxGetId(NULL, &current), 0, "the current one's");
	ok(one && two && one != two && current == one, "are not the same");
	is_int(cu.cuCtxGetId(a, NULL), 1, "nowhere to: 1");
	is_int(cu.cuCtxGetId((CUcontext)(uintptr_t)0x1234, &one), 709,
	       "none: 709");
	is_int(cu.cuCtxDestroy_v2(NULL), 1, "NULL is not destroyed: 1");
}

static void test_primary(void)
{
	CUcontext primary = NULL;
	unsigned flags = 7;
	int active = 7;

	is_int(cu.cuDevicePrimaryCtxGetState(0, &flags, &active), 0, "state");
	is_int(active, 0, "nobody has it");
	(void)cu.cuDevicePrimaryCtxRetain(&primary, 0);
	(void)cu.cuDevicePrimaryCtxGetState(0, &flags, &active);
	is_int(active, 1, "somebody has it");
	(void)cu.cuDevicePrimaryCtxRelease_v2(0);
	is_int(cu.cuDevicePrimaryCtxGetState(9, &flags, &active), 101,
	       "no such device: 101");
	is_int(cu.cuDevicePrimaryCtxGetState(0, NULL, &active), 1,
	       "nowhere to: 1");
}

/* Made in `a`, used with `current`. */
static void each(CUcontext current, int block_result, int result)
{
	CUstream stream = new_stream(1), own;
	CUdeviceptr block = new_block(64);
	CUevent event = new_event();

	(void)cu.cuCtxSetCurrent(current);
	own = new_stream(1);
	is_int(cu.cuMemsetD8Async(block, 1, 64, own), block_result, "fill");
	is_int(cu.cuStreamQuery(stream), result, "query a stream");
	is_int(cu.cuStreamSynchronize(stream), result, "synchronise it");
	is_int(cu.cuEventRecord(event, stream), result, "record an event");
	is_int(cu.cuEventQuery(event), result, "query it");
	is_int(cu.cuStreamWaitEvent(own, event, 0), result, "wait for it");
	(void)cu.cuStreamDestroy_v2(own);
	if (result) {
		is_int(cu.cuEventDestroy_v2(event), result, "destroy it");
		is_int(cu.cuStreamDestroy_v2(stream), result, "the stream");
		is_int(cu.cuMemFree_v2(block), block_result, "free");
	}
	(void)cu.cuCtxSetCurrent(a);
	is_int(cu.cuEventDestroy_v2(event), 0, "destroy it");
	is_int(cu.cuStreamDestroy_v2(stream), 0, "the stream");
	is_int(cu.cuMemFree_v2(block), 0, "free");
}

static void test_again(void)
{
	unsigned long long before = 0, after = 0;
	CUcontext first, second;

	(void)cu.cuCtxCreate_v2(&first, 0, 0);
	(void)cu.cuCtxGetId(first, &before);
	(void)cu.cuCtxDestroy_v2(first);
	is_int(cu.cuCtxPushCurrent_v2(first), 201, "destroyed: 201");
	control.recycle();
	(void)cu.cuCtxCreate_v2(&second, 0, 0);
	ok(first == second, "its handle comes again");
	(void)cu.cuCtxGetId(second, &after);
	ok(before != after, "not its number");
	(void)cu.cuCtxDestroy_v2(second);
	(void)cu.cuCtxCreate_v2(&second, 0, 0);
	ok(first != second, "once");
	(void)cu.cuCtxDestroy_v2(second);
}

int main(void)
{
	CUcontext popped;

	setenv("FAKECUDA_STRICT", "1", 1);
	fake_load();
	if (cu.cuInit(0) || cu.cuCtxCreate_v2(&b, 0, 0) ||
	    cu.cuCtxPopCurrent_v2(&popped) || cu.cuCtxCreate_v2(&a, 0, 0))
		bail("the double does not start");
	test_numbers();
	test_primary();
	each(a, 0, 0);
	each(b, 1, 201);
	test_again();
	return done_testing();
}
