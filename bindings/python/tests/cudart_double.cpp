/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What of CUDA's runtime PyTorch calls before it launches a kernel, for
 * test_torch_subclass.py: preloaded, so that a PyTorch that was built for CUDA
 * has two devices where there is none, whose memory is that of gpumem's `host`.
 * There is no work; a stream is captured, and an event done, as a test says. A
 * forked child cannot use it, as it cannot use CUDA's.
 */
#include <cuda_runtime_api.h>
#include <pthread.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

static thread_local int current;
static std::mutex lock;
static std::set<cudaStream_t> captured;
static std::set<const void *>
	events; /* that were recorded, and not destroyed */
static bool busy, until_synchronized, fails, pinned;
static int synchronized_count, without_context = -1;
static std::atomic<int> device_asked;
static thread_local bool is_current; /* a context, in this thread */
static thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;

static bool forked;

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(nullptr, nullptr, [] { forked = true; });
}

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void double_capture(void *stream, int on)
{
	std::lock_guard<std::mutex> hold(lock);

	if (on)
		captured.insert(static_cast<cudaStream_t>(stream));
	else
		captured.erase(static_cast<cudaStream_t>(stream));
}

/* Whether events wait. */
EXPORT void double_busy(int on)
{
	busy = on;
	until_synchronized = false;
}

/* They do until the host waits for a device. */
EXPORT void double_busy_until_synchronized(void)
{
	busy = until_synchronized = true;
}

/* Whether the device does. */
EXPORT void double_fails(int on)
{
	fails = on;
}

EXPORT int double_synchronized(void)
{
	return synchronized_count;
}

EXPORT int double_events(void)
{
	std::lock_guard<std::mutex> hold(lock);

	return static_cast<int>(events.size());
}

/* Whether this thread has a context, as cuBLAS wants one. */
EXPORT int double_current(void)
{
	return is_current;
}

EXPORT cudaError_t
cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *other)
{
	std::swap(mode, *other);
	return cudaSuccess;
}

/* As cudaMalloc() would, forbidden beside a capture. */
EXPORT cudaError_t cudaFree(void *ptr)
{
	std::lock_guard<std::mutex> hold(lock);

	if (forked)
		return cudaErrorInitializationError;
	if (ptr)
		return cudaErrorInvalidValue;
	if (!captured.empty() && mode != cudaStreamCaptureModeRelaxed)
		return cudaErrorStreamCaptureUnsupported;
	is_current = true;
	return cudaSuccess;
}

EXPORT cudaError_t cudaGetDeviceCount(int *count)
{
	*count = 2;
	return cudaSuccess;
}

/* How often the runtime was asked. */
EXPORT int double_device_asked(void)
{
	return device_asked;
}

/* This device has no context; -1: all have one. */
EXPORT void double_without_context(int device)
{
	without_context = device;
}

EXPORT cudaError_t cudaGetDevice(int *device)
{
	device_asked++;
	*device = current;
	return forked ? cudaErrorInitializationError : cudaSuccess;
}

EXPORT cudaError_t cudaSetDevice(int device)
{
	current = device;
	return forked ? cudaErrorInitializationError : cudaSuccess;
}

EXPORT cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int)
{
	memset(prop, 0, sizeof(*prop));
	strcpy(prop->name, "double");
	prop->major = 9;
	prop->multiProcessorCount = 1;
	prop->warpSize = 32;
	return cudaSuccess;
}

/* The driver's: PyTorch asks it whether a device is in use. */
EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
	*flags = 0;
	*active = device != without_context;
	return 0;
}

EXPORT int cuDeviceGet(int *device, int number)
{
	*device = number;
	return 0;
}

EXPORT int cuCtxGetDevice(int *device)
{
	constexpr int INVALID_CONTEXT = 201;

	if (!is_current)
		return INVALID_CONTEXT;
	*device = current;
	return 0;
}

EXPORT cudaError_t cudaDriverGetVersion(int *version)
{
	*version = CUDART_VERSION;
	return cudaSuccess;
}

EXPORT cudaError_t cudaGetLastError(void)
{
	return cudaSuccess;
}

EXPORT cudaError_t cudaPeekAtLastError(void)
{
	return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceCanAccessPeer(int *can, int, int)
{
	*can = 0;
	return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	*least = *greatest = 0;
	return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceSynchronize(void)
{
	std::lock_guard<std::mutex> hold(lock);

	synchronized_count++;
	busy = busy && !until_synchronized;
	if (forked)
		return cudaErrorInitializationError;
	if (fails)
		return cudaErrorLaunchFailure;
	return captured.empty() ? cudaSuccess
				: cudaErrorStreamCaptureUnsupported;
}

/* Whether all memory of the host is said to be pinned. */
EXPORT void double_pinned(int on)
{
	pinned = on;
}

EXPORT cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *of,
					    const void *)
{
	memset(of, 0, sizeof(*of));
	of->type = pinned ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
	return cudaSuccess;
}

EXPORT cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
				   enum cudaMemcpyKind, cudaStream_t)
{
	memcpy(to, from, bytes);
	return cudaSuccess;
}

EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t)
{
	return cudaSuccess;
}

EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
					 enum cudaStreamCaptureStatus *status)
{
	std::lock_guard<std::mutex> hold(lock);

	*status = captured.count(stream) ? cudaStreamCaptureStatusActive
					 : cudaStreamCaptureStatusNone;
	return cudaSuccess;
}

/* What PyTorch asks since 2.13 instead. */
EXPORT cudaError_t cudaStreamGetCaptureInfo(
	cudaStream_t stream, enum cudaStreamCaptureStatus *status,
	unsigned long long *id, cudaGraph_t *, const cudaGraphNode_t **,
#if CUDART_VERSION >= 13000
	const cudaGraphEdgeData **,
#endif
	size_t *)
{
	if (id)
		*id = reinterpret_cast<unsigned long long>(stream);
	return cudaStreamIsCapturing(stream, status);
}

EXPORT cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
	*free = size_t{1} << 29;
	*total = size_t{1} << 30;
	return cudaSuccess;
}

EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
	std::lock_guard<std::mutex> hold(lock);

	*event = reinterpret_cast<cudaEvent_t>(new char);
	events.insert(*event);
	return cudaSuccess;
}

EXPORT cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t stream)
{
	std::lock_guard<std::mutex> hold(lock);

	return captured.count(stream) ? cudaErrorStreamCaptureIsolation
				      : cudaSuccess;
}

EXPORT cudaError_t cudaEventQuery(cudaEvent_t)
{
	return busy ? cudaErrorNotReady : cudaSuccess;
}

EXPORT cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	std::lock_guard<std::mutex> hold(lock);

	events.erase(event);
	delete reinterpret_cast<char *>(event);
	return cudaSuccess;
}

/* Of another process there is no work to wait for. */
EXPORT cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle,
					 cudaEvent_t)
{
	memset(handle, 1, sizeof(*handle));
	return cudaSuccess;
}

EXPORT cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event,
					  cudaIpcEventHandle_t)
{
	return cudaEventCreateWithFlags(event, 0);
}

EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned)
{
	return cudaSuccess;
}
