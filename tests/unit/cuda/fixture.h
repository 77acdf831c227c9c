/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of the cuda backend share: the plugin as it was built, and the
 * double of the driver, found beside it, as the libcuda.so.1 that it gets. The
 * few driver functions that a test calls itself are declared here, so every
 * test compiles without a CUDA Toolkit and skips where the plugin was not
 * built. For the main thread.
 */
#ifndef CUDA_FIXTURE_H
#define CUDA_FIXTURE_H

#include "../gpu/double.h"

#define CUDA_USE GPU_USE

#define DOUBLE_LIST(X)                                                         \
	X(int, cuInit, (unsigned flags))                                       \
	X(int, cuCtxCreate_v2, (void **out, unsigned flags, int device))       \
	X(int, cuCtxDestroy_v2, (void *context))                               \
	X(int, cuCtxSetCurrent, (void *context))                               \
	X(int, cuCtxGetCurrent, (void **out))                                  \
	X(int, cuCtxPopCurrent_v2, (void **out))                               \
	X(int, cuDevicePrimaryCtxRetain, (void **out, int device))             \
	X(int, cuDevicePrimaryCtxRelease_v2, (int device))                     \
	X(int, cuThreadExchangeStreamCaptureMode, (int *mode))                 \
	X(int, cuStreamCreate, (void **out, unsigned flags))                   \
	X(int, cuStreamDestroy_v2, (void *stream))                             \
	X(int, cuStreamSynchronize, (void *stream))                            \
	X(int, cuStreamGetCtx, (void *stream, void **out))                     \
	X(int, cuPointerGetAttribute,                                          \
	  (void *out, int which, uint64_t address))                            \
	X(int, cuStreamBeginCapture_v2, (void *stream, int mode))              \
	X(int, cuStreamEndCapture, (void *stream, void **graph))               \
	X(int, cuStreamGetCaptureInfo,                                         \
	  (void *stream, int *status, uint64_t *id))                           \
	X(int, cuEventCreate, (void **out, unsigned flags))                    \
	X(int, cuEventRecord, (void *event, void *stream))                     \
	X(int, cuEventQuery, (void *event))                                    \
	X(int, cuEventDestroy_v2, (void *event))                               \
	X(int, cuGraphDestroy, (void *graph))

#define CONTROL_LIST(X)                                                        \
	X(fakecuda_audit)                                                      \
	X(fakecuda_calls)                                                      \
	X(fakecuda_decompresses)                                               \
	X(fakecuda_deinit)                                                     \
	X(fakecuda_fault)                                                      \
	X(fakecuda_heal)                                                       \
	X(fakecuda_host_node)                                                  \
	X(fakecuda_lose)                                                       \
	X(fakecuda_pinned_node)                                                \
	X(fakecuda_recycle)                                                    \
	X(fakecuda_step)                                                       \
	X(fakecuda_stepping)                                                   \
	X(fakecuda_waits)

static struct {
	DOUBLE_LIST(CALL_POINTER)
	CONTROL_LIST(CONTROL_POINTER)
} driver;

/* What the bodies in ../gpu call. */
#define VENDOR(cu, hip) cu
#define raw_stream_destroy driver.cuStreamDestroy_v2
#define raw_stream_sync driver.cuStreamSynchronize
#define raw_begin_capture driver.cuStreamBeginCapture_v2
#define raw_end_capture driver.cuStreamEndCapture
#define raw_graph_destroy driver.cuGraphDestroy
#define raw_capture_info driver.cuStreamGetCaptureInfo
#define raw_exchange_mode driver.cuThreadExchangeStreamCaptureMode
#define fail_call driver.fakecuda_fault
#define heal_calls driver.fakecuda_heal
#define count_calls driver.fakecuda_calls
#define has_virtual() true

static char cuda_library[4096] = "libcuda.so.1";

static bool option(const char *key, char *value_out, size_t bytes)
{
	if (strcmp(key, "cuda.library") != 0)
		return false;
	snprintf(value_out, bytes, "%s", cuda_library);
	return true;
}

/* Opens the plugin without starting it; a test that cannot ends here. */
static void cuda_load(void)
{
	plugin_load("backends/.libs/cuda.so", "configured without cuda");
}

/* The double is libcuda.so.1 from now on, for the plugin too. */
static void double_load(void)
{
	char path[4096];
	void *library = load(path, "tests/fake/cuda/.libs/libcuda.so.1",
			     "configured without cuda");

#define CONTROL(name) CONTROL_FIND(library, driver, name)
#define CALL(type, name, parameters) CONTROL(name)
	DOUBLE_LIST(CALL)
	CONTROL_LIST(CONTROL)
#undef CALL
#undef CONTROL
}

CUDA_USE void cuda_start(void)
{
	cuda_load();
	double_load();
	plugin_start();
}

/* A stream of the driver's own in the context that is current. */
CUDA_USE void *new_stream(unsigned flags)
{
	void *stream = NULL;

	if (driver.cuStreamCreate(&stream, flags))
		bail("cuStreamCreate");
	return stream;
}

CUDA_USE void *current_context(void)
{
	void *context = NULL;

	return driver.cuCtxGetCurrent(&context) ? NULL : context;
}

CUDA_USE struct fakecuda_held audit(void)
{
	struct fakecuda_held held;

	memset(&held, 0, sizeof(held));
	driver.fakecuda_audit(&held);
	return held;
}

#endif
