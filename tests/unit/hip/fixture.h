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

#include "../../fake/cuda/fakecuda.h"
#include "../../fake/hip/fakehip.h"
#include "../../tap.h"
#include <dlfcn.h>
#include <gpumem/backend.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define HIP_USE __attribute__((unused)) static
#define MIB (UINT64_C(1) << 20)
#define PAGE (2 * MIB)
#define UNTOUCHED UINT64_C(0x5555555555555555)

enum { STREAM_BLOCKING = 0, STREAM_NON_BLOCKING = 1 };
enum { MODE_GLOBAL = 0, MODE_THREAD_LOCAL = 1, MODE_RELAXED = 2 };
enum { CAPTURE_NONE = 0, CAPTURE_ACTIVE = 1, CAPTURE_INVALIDATED = 2 };

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

#define POINTER(type, name, parameters) type(*name) parameters;
#define OWN_POINTER(name) __typeof__(name) *name;
static struct {
	RUNTIME_LIST(POINTER)
	QUIRKY_LIST(OWN_POINTER)
} runtime;
static struct {
	DRIVER_LIST(OWN_POINTER)
} driver;
#undef OWN_POINTER
#undef POINTER

/* What the plugin said last, and how often it said anything. */
static struct {
	int64_t code;
	char name[64];
	char text[1024];
	unsigned count;
} said;

static int release; /* 5, 6 or 7 */
/* The option hip.vm. */
static const char *hip_vm = "auto";
/* The option hip.sysfs. */
static const char *hip_sysfs = "/nowhere";
/* The option hip.alias. */
static const char *hip_alias = "auto";
static char hip_library[4096];
static const struct gpumem_backend *hip;

__attribute__((format(printf, 2, 3))) static void
say_nothing(gpumem_log_level severity, const char *format, ...)
{
	(void)severity;
	(void)format;
}

__attribute__((format(printf, 3, 4))) static void
say(int64_t code, const char *name, const char *format, ...)
{
	va_list args;

	said.code = code;
	said.count++;
	snprintf(said.name, sizeof(said.name), "%s", name);
	va_start(args, format);
	vsnprintf(said.text, sizeof(said.text), format, args);
	va_end(args);
}

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

static const struct gpumem_services hip_services = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(struct gpumem_services),
	.log = say_nothing,
	.error = say,
	.option = option,
};

/* Also leaves its path in `path`, which has room for 4096. */
static void *load(char *path, const char *file)
{
	const char *folder = getenv("top_builddir");
	void *library;

	snprintf(path, 4096, "%s/%s", folder ? folder : ".", file);
	if (access(path, F_OK))
		skip_all("configured without hip or cuda");
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		bail("%s", dlerror());
	return library;
}

static void find(void *library, const char *name, void *slot)
{
	void *address = dlsym(library, name);

	if (!address)
		bail("no %s", name);
	memcpy(slot, &address, sizeof(address));
}

/* The double is the runtime from now on, and the plugin is started. */
static void hip_start(void)
{
	char path[4096], file[64];
	gpumem_plugin_fn plugin;
	void *library;

	alarm(300);
	find(load(path, "backends/.libs/hip.so"), GPUMEM_PLUGIN_SYMBOL,
	     &plugin);
	library = load(path, "tests/fake/cuda/.libs/libcuda.so.1");
#define FIND_OWN(name) find(library, #name, &driver.name);
	DRIVER_LIST(FIND_OWN)
#undef FIND_OWN
	snprintf(file, sizeof(file),
		 "tests/fake/hip/%d/.libs/libamdhip64.so.%d", release, release);
	library = load(hip_library, file);
#define FIND_OWN(name) find(library, #name, &runtime.name);
#define FIND(type, name, parameters) FIND_OWN(name)
	RUNTIME_LIST(FIND)
	QUIRKY_LIST(FIND_OWN)
#undef FIND
#undef FIND_OWN
	hip = plugin();
	if (hip->init(&hip_services) != GPUMEM_OK)
		bail("init: %s", said.text);
}

static void need_doubles(void)
{
	const char *folder = getenv("top_builddir");
	char path[4096];

	snprintf(path, sizeof(path),
		 "%s/tests/fake/hip/6/.libs/libamdhip64.so.6",
		 folder ? folder : ".");
	if (access(path, F_OK))
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

HIP_USE void *open_device(int index)
{
	void *device = NULL;

	if (hip->device_open(index, &device) != GPUMEM_OK)
		bail("device_open: %s", said.text);
	return device;
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
