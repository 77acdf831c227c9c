/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * On a real NVIDIA GPU: pools in contexts that the program made, by
 * cuCtxCreate() and as green contexts (driver 12.4 or later), and what becomes
 * of one that is destroyed under its device. Built and run by
 * tests/device/run.sh.
 */
#include "calls.h"

#include <stdint.h>

enum { BYTES = 24 << 20 };

/* Writes the index of its thread. */
static const char ptx[] =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".visible .entry number(.param .u64 to) {\n"
	".reg .u64 %a<3>;\n.reg .u32 %i<4>;\n"
	"ld.param.u64 %a0, [to];\n"
	"mov.u32 %i0, %ctaid.x;\nmov.u32 %i1, %ntid.x;\nmov.u32 %i2, %tid.x;\n"
	"mad.lo.u32 %i3, %i0, %i1, %i2;\n"
	"mul.wide.u32 %a1, %i3, 4;\nadd.u64 %a2, %a0, %a1;\n"
	"st.global.u32 [%a2], %i3;\nret;\n}\n";

static CUdevice number;

/* A new one, not current. */
static CUcontext new_context(void)
{
	CUcontext context, popped;

#if CUDA_VERSION >= 13000
	CALL(cuCtxCreate(&context, NULL, 0, number));
#else
	CALL(cuCtxCreate(&context, 0, number));
#endif
	CALL(cuCtxPopCurrent(&popped));
	return context;
}

static gpumem_device *adopt(CUcontext context)
{
	gpumem_device *device;

	must(gpumem_device_adopt("cuda", context, (void *)(intptr_t)number,
				 &device));
	return device;
}

static CUcontext current(void)
{
	CUcontext context;

	CALL(cuCtxGetCurrent(&context));
	return context;
}

/* A kernel of the context's own writes to a block of its pool. */
static void run_kernel(CUcontext context, CUstream stream, void *block)
{
	CUdeviceptr to = (CUdeviceptr)(uintptr_t)block;
	void *arguments[] = {&to};
	unsigned last = 0;
	CUcontext popped;
	CUfunction kernel;

	CALL(cuCtxPushCurrent(context));
	kernel = load_kernel(ptx, "number");
	CALL(cuLaunchKernel(kernel, BYTES / 4 / 256, 1, 1, 256, 1, 1, 0, stream,
			    arguments, NULL));
	CALL(cuStreamSynchronize(stream));
	CALL(cuMemcpyDtoH(&last, to + BYTES - 4, 4));
	CALL(cuCtxPopCurrent(&popped));
	is_uint(last, BYTES / 4 - 1, "a kernel of the context writes to it");
}

static void use(CUcontext context, const char *what)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
	gpumem_device *device = adopt(context), *again = adopt(context);
	void *behind = NULL, *native = NULL, *block = NULL;
	CUcontext before = current(), of = NULL;
	gpumem_stream stream = NULL;
	gpumem_pool *pool = NULL;
	unsigned char byte = 0;

	diag("%s", what);
	ok(device == again, "the same context is the same device");
	must(gpumem_device_close(again));
	must(gpumem_device_native(device, &behind, &native));
	ok(behind == context && (CUdevice)(intptr_t)native == number,
	   "it is behind the device");
	must(gpumem_pool_create(device, NULL, &pool));
	must(gpumem_stream_create(device, &stream));
	CALL(cuStreamGetCtx(stream, &of));
	ok(of == context, "streams are the context's");
	must(gpumem_alloc(pool, BYTES, stream, &block));
	must(gpumem_fill(device, block, 0x5a, BYTES, stream));
	must(gpumem_copy(device, &byte, block, 1, stream));
	must(gpumem_stream_sync(device, stream));
	is_int(byte, 0x5a, "a block is filled and read");
	run_kernel(context, stream, block);
	must(gpumem_use_on(block, NULL));
	must(gpumem_free(block, stream));
	must(gpumem_stream_sync(device, stream));
	must(gpumem_stream_sync(device, NULL));
	must(gpumem_pool_trim(pool, 0, NULL));
	must(gpumem_pool_stats(pool, &stats));
	is_uint(stats.reserved.current, 0, "all memory goes back");
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_device_close(device));
	ok(current() == before, "the current context is what it was");
}

static void use_both_ways(CUcontext context, const char *what)
{
	must(gpumem_option_set("vm", NULL));
	use(context, what);
	must(gpumem_option_set("vm", "off"));
	use(context, "the same without virtual memory");
	must(gpumem_option_set("vm", NULL));
}

static void test_primary(CUcontext primary)
{
	gpumem_device *named;

	must(gpumem_device_open("cuda:0", &named));
	ok(adopt(primary) == named, "the primary context is that of cuda:0");
	must(gpumem_device_close(named));
	must(gpumem_device_close(named));
}

static void test_green(void)
{
#if CUDA_VERSION >= 12040
	unsigned groups = 1;
	CUdevResource all, part;
	CUdevResourceDesc description;
	CUgreenCtx green;
	CUcontext context;
	int version;

	CALL(cuDriverGetVersion(&version));
	if (version < 12040) {
		skip("the driver is too old for green contexts", 1);
		return;
	}
	CALL(cuDeviceGetDevResource(number, &all, CU_DEV_RESOURCE_TYPE_SM));
	CALL(cuDevSmResourceSplitByCount(&part, &groups, &all, NULL, 0, 8));
	CALL(cuDevResourceGenerateDesc(&description, &part, 1));
	CALL(cuGreenCtxCreate(&green, description, number,
			      CU_GREEN_CTX_DEFAULT_STREAM));
	CALL(cuCtxFromGreenCtx(&context, green));
	use_both_ways(context, "a green context");
	CALL(cuGreenCtxDestroy(green));
#else
	skip("CUDA's headers are too old for green contexts", 1);
#endif
}

static void is_refused(gpumem_status status, gpumem_status wanted,
		       const char *name)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	is_status(status, wanted, "%s", name);
	gpumem_last_error(&error);
	diag("%s", error.text);
}

/* What the driver says of it is shown, whichever code it is. */
static void test_destroyed(CUcontext other)
{
	CUcontext context = new_context();
	gpumem_device *device = adopt(context), *again = NULL;
	gpumem_pool *pool = NULL;
	void *block = NULL;

	must(gpumem_pool_create(device, NULL, &pool));
	must(gpumem_alloc(pool, BYTES, NULL, &block));
	CALL(cuCtxDestroy(context));
	is_refused(gpumem_alloc(pool, (size_t)4 * BYTES, NULL, &block),
		   GPUMEM_LOST, "a context that was destroyed");
	is_refused(gpumem_device_adopt("cuda", context,
				       (void *)(intptr_t)number, &again),
		   GPUMEM_INVALID, "is not adopted again");
	GPUMEM_IGNORE(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_device_close(device));
	use(other, "one that was there before it");
	context = new_context();
	use(context, "one that was made after it");
	CALL(cuCtxDestroy(context));
}

int main(void)
{
	CUcontext one, two, primary;

	number = start_cuda();
	primary = current();
	one = new_context();
	two = new_context();
	use_both_ways(one, "a context of the program's own");
	use_both_ways(two, "another one");
	test_primary(primary);
	test_green();
	is_refused(gpumem_device_adopt("cuda", two,
				       (void *)(intptr_t)(number + 1),
				       &(gpumem_device *){NULL}),
		   GPUMEM_INVALID, "the context of another device than stated");
	ok(current() == primary, "the primary context is current");
	test_destroyed(one); /* last: the driver need not survive it */
	CALL(cuCtxDestroy(one));
	CALL(cuCtxDestroy(two));
	done_testing();
}
