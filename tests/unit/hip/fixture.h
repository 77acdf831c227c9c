/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of the hip backend share: the plugin as it was built, and a
 * double of AMD's runtime, found beside it, that speaks to the double of
 * NVIDIA's driver. They know no vendor's header: the few functions that a test
 * calls itself are declared here, so every test compiles everywhere and skips
 * where the plugin was not built. A process has one runtime, so each release
 * has a process of its own, which ends with its checks. For the main thread.
 */
#ifndef HIP_FIXTURE_H
#define HIP_FIXTURE_H

#include "../gpu/double.h"
#include "../../fake/hip/fakehip.h"
#include <sys/mman.h>
#include <sys/wait.h>

#define HIP_USE GPU_USE

#define RUNTIME_LIST(X)                                                        \
	X(int, hipEventCreateWithFlags, (void **out, unsigned flags))          \
	X(int, hipEventDestroy, (void *event))                                 \
	X(int, hipEventRecord, (void *event, void *stream))                    \
	X(int, hipGetDevice, (int *out))                                       \
	X(int, hipGetLastError, (void))                                        \
	X(int, hipGraphDestroy, (void *graph))                                 \
	X(int, hipMalloc, (void **out, size_t bytes))                          \
	X(int, hipPeekAtLastError, (void))                                     \
	X(int, hipSetDevice, (int device))                                     \
	X(int, hipStreamBeginCapture, (void *stream, int mode))                \
	X(int, hipStreamCreateWithFlags, (void **out, unsigned flags))         \
	X(int, hipStreamDestroy, (void *stream))                               \
	X(int, hipStreamEndCapture, (void *stream, void **graph))              \
	X(int, hipStreamGetCaptureInfo,                                        \
	  (void *stream, int *status, unsigned long long *id))                 \
	X(int, hipStreamSynchronize, (void *stream))                           \
	X(int, hipThreadExchangeStreamCaptureMode, (int *mode))

#define QUIRKY_LIST(X)                                                         \
	X(fakehip_calls)                                                       \
	X(fakehip_fault)                                                       \
	X(fakehip_heal)                                                        \
	X(fakehip_quirk)

#define DRIVER_LIST(X)                                                         \
	X(fakecuda_audit)                                                      \
	X(fakecuda_deinit)                                                     \
	X(fakecuda_lose)                                                       \
	X(fakecuda_pinned_node)                                                \
	X(fakecuda_stepping)                                                   \
	X(fakecuda_waits)

static struct {
	RUNTIME_LIST(CALL_POINTER)
	QUIRKY_LIST(CONTROL_POINTER)
} runtime;
static struct {
	DRIVER_LIST(CONTROL_POINTER)
} driver;

/* What the bodies in ../gpu call. */
#define VENDOR(cu, hip) hip
#define raw_stream_destroy runtime.hipStreamDestroy
#define raw_stream_sync runtime.hipStreamSynchronize
#define raw_begin_capture runtime.hipStreamBeginCapture
#define raw_end_capture runtime.hipStreamEndCapture
#define raw_graph_destroy runtime.hipGraphDestroy
#define raw_capture_info runtime.hipStreamGetCaptureInfo
#define raw_exchange_mode runtime.hipThreadExchangeStreamCaptureMode
#define fail_call runtime.fakehip_fault
#define heal_calls runtime.fakehip_heal
#define count_calls runtime.fakehip_calls
#define has_virtual() (release >= 6)

static int release; /* 5, 6 or 7 */
/* The option hip.vm. */
static const char *hip_vm = "auto";
/* The option hip.sysfs. */
static const char *hip_sysfs = "/nowhere";
/* The option hip.alias. */
static const char *hip_alias = "auto";
static char hip_library[4096];

static bool option(const char *key, char *value_out, size_t bytes)
{
	const char *value = !strcmp(key, "hip.vm")	  ? hip_vm
			    : !strcmp(key, "hip.alias")	  ? hip_alias
			    : !strcmp(key, "hip.library") ? hip_library
			    : !strcmp(key, "hip.sysfs")	  ? hip_sysfs
							  : "/nowhere";

	snprintf(value_out, bytes, "%s", value);
	return true;
}

/* The double is the runtime from now on, and the plugin is started. */
static void hip_start(void)
{
	static const char why[] = "configured without hip or cuda";
	char path[4096], file[64];
	void *library;

	plugin_load("backends/.libs/hip.so", why);
	library = load(path, "tests/fake/cuda/.libs/libcuda.so.1", why);
#define CONTROL(name) CONTROL_FIND(library, driver, name)
	DRIVER_LIST(CONTROL)
#undef CONTROL
	snprintf(file, sizeof(file),
		 "tests/fake/hip/%d/.libs/libamdhip64.so.%d", release, release);
	library = load(hip_library, file, why);
#define CONTROL(name) CONTROL_FIND(library, runtime, name)
#define CALL(type, name, parameters) CONTROL(name)
	RUNTIME_LIST(CALL)
	QUIRKY_LIST(CONTROL)
#undef CALL
#undef CONTROL
	plugin_start();
}

static void need_doubles(void)
{
	char path[4096];

	if (access(built(path, "tests/fake/hip/6/.libs/libamdhip64.so.6"),
		   F_OK))
		skip_all("configured without hip or cuda");
}

/* The checks of one release, in a process of its own. */
HIP_USE void on_release(int major, void (*checks)(void))
{
	static void *shared;
	pid_t child;
	int status;

	if (!shared) {
		need_doubles();
		shared = mmap(NULL, sizeof(tap), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	}
	if (shared == MAP_FAILED)
		bail("mmap");
	child = fork();
	if (!child) {
		diag("ROCm %d", major);
		release = major;
		hip_start();
		checks();
		memcpy(shared, &tap, sizeof(tap));
		exit(EXIT_SUCCESS);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		bail("no child");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		bail("ROCm %d ends with 0x%x", major, (unsigned)status);
	memcpy(&tap, shared, sizeof(tap));
}

/* For return from main(): the same on each release. */
HIP_USE int on_all_releases(void (*checks)(void))
{
	for (int major = 5; major <= 7; major++)
		on_release(major, checks);
	return done_testing();
}

/* A stream of the runtime's own, of the device that is current. */
HIP_USE void *new_stream(unsigned flags)
{
	void *stream = NULL;

	if (runtime.hipStreamCreateWithFlags(&stream, flags))
		bail("hipStreamCreateWithFlags");
	return stream;
}

HIP_USE int current_device(void)
{
	int device = -1;

	return runtime.hipGetDevice(&device) ? -1 : device;
}

HIP_USE int capture_mode(void)
{
	int mode = MODE_RELAXED, ignored;

	if (runtime.hipThreadExchangeStreamCaptureMode(&mode))
		return -1;
	ignored = mode;
	return runtime.hipThreadExchangeStreamCaptureMode(&ignored) ? -1 : mode;
}

HIP_USE void set_capture_mode(int mode)
{
	if (runtime.hipThreadExchangeStreamCaptureMode(&mode))
		bail("hipThreadExchangeStreamCaptureMode");
}

HIP_USE struct fakecuda_held audit(void)
{
	struct fakecuda_held held;

	memset(&held, 0, sizeof(held));
	driver.fakecuda_audit(&held);
	return held;
}

#endif
