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

#include "../../fake/cuda/fakecuda.h"
#include "../../tap.h"
#include <dlfcn.h>
#include <gpumem/backend.h>
#include <stdlib.h>
#include <unistd.h>

#define CUDA_USE __attribute__((unused)) static
#define MIB (UINT64_C(1) << 20)
#define PAGE (2 * MIB)

enum { STREAM_BLOCKING = 0, STREAM_NON_BLOCKING = 1 };
enum { MODE_GLOBAL = 0, MODE_THREAD_LOCAL = 1, MODE_RELAXED = 2 };
enum { CAPTURE_NONE = 0, CAPTURE_ACTIVE = 1, CAPTURE_INVALIDATED = 2 };

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
#define DOUBLE_POINTER(type, name, parameters) type(*name) parameters;
	DOUBLE_LIST(DOUBLE_POINTER)
#undef DOUBLE_POINTER
#define CONTROL_POINTER(name) __typeof__(name) *name;
	CONTROL_LIST(CONTROL_POINTER)
#undef CONTROL_POINTER
} driver;

/* What the plugin said last, and how often it said anything. */
static struct {
	int64_t code;
	char name[64];
	char text[1024];
	unsigned count;
} said;

static char cuda_library[512] = "libcuda.so.1";
static const struct gpumem_backend *cuda;

static char *built(char *path, size_t bytes, const char *file)
{
	const char *folder = getenv("top_builddir");

	snprintf(path, bytes, "%s/%s", folder ? folder : ".", file);
	return path;
}

__attribute__((format(printf, 2, 3))) static void
say_nothing(gpumem_log_level level, const char *format, ...)
{
	(void)level;
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
	if (strcmp(key, "cuda.library") != 0)
		return false;
	snprintf(value_out, bytes, "%s", cuda_library);
	return true;
}

static const struct gpumem_services cuda_services = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(struct gpumem_services),
	.log = say_nothing,
	.error = say,
	.option = option,
};

/* Opens the plugin without starting it; a test that cannot ends here. */
static void cuda_load(void)
{
	union {
		void *object;
		gpumem_plugin_fn function;
	} symbol;
	char path[4096];
	void *plugin;

	alarm(300);
	if (access(built(path, sizeof(path), "backends/.libs/cuda.so"), F_OK))
		skip_all("configured without cuda");
	plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!plugin)
		bail("%s", dlerror());
	symbol.object = dlsym(plugin, GPUMEM_PLUGIN_SYMBOL);
	cuda = symbol.function();
}

/* The double is libcuda.so.1 from now on, for the plugin too. */
static void double_load(void)
{
	char path[4096];
	void *library = dlopen(
		built(path, sizeof(path), "tests/fake/cuda/.libs/libcuda.so.1"),
		RTLD_NOW | RTLD_LOCAL);
	void *address;

	if (!library)
		bail("%s", dlerror());
#define CONTROL_FIND(name)                                                     \
	address = dlsym(library, #name);                                       \
	if (!address)                                                          \
		bail("the double has no %s", #name);                           \
	memcpy(&driver.name, &address, sizeof(address));
#define DOUBLE_FIND(type, name, parameters) CONTROL_FIND(name)
	DOUBLE_LIST(DOUBLE_FIND)
	CONTROL_LIST(CONTROL_FIND)
#undef DOUBLE_FIND
#undef CONTROL_FIND
}

CUDA_USE void cuda_start(void)
{
	cuda_load();
	double_load();
	if (cuda->init(&cuda_services) != GPUMEM_OK)
		bail("init: %s", said.text);
}

CUDA_USE void *open_device(int index)
{
	void *device = NULL;

	if (cuda->device_open(index, &device) != GPUMEM_OK)
		bail("device_open: %s", said.text);
	return device;
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
