/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What C++ asks of PyTorch's allocators and Python cannot, for
 * test_torch_subclass.py and test_torch_pinned.py: as NCCL does, the profiler,
 * and a graph that is captured. And an allocator for a MemPool that calls
 * Python, and leaves its errors, as vLLM's. One thread.
 */
#include "names.hpp"

#include <ATen/core/CachingHostAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include <map>

extern "C" {
extern void *PyExc_KeyError;
int PyGILState_Ensure(void);
void PyGILState_Release(int before);
void *PyErr_Occurred(void);
void PyErr_SetString(void *type, const char *text);
}

using namespace gpumem_torch;

#define EXPORT extern "C" __attribute__((visibility("default")))

static std::map<action, int> told;

template <class Info> static int number_of(const Info &of)
{
	if constexpr (requires { of.registration_counter; })
		return of.registration_counter;
	else
		return -2;
}

/* Of a pool's segment; -1: it has none, -2: nor has PyTorch, -3: no segment. */
EXPORT int asks_number(unsigned long long first, unsigned long long second,
		       size_t address)
{
	for (auto &each : cca::get()->snapshot({first, second}).segments)
		if (each.address == address)
			return number_of(each);
	return -3;
}

EXPORT void asks_track(void)
{
	cca::get()->attachAllocatorTraceTracker(
		[](const TraceEntry &entry) { told[entry.action_]++; });
}

EXPORT int asks_told_of_segments(void)
{
	return told[TraceEntry::SEGMENT_ALLOC];
}

/* The device that a new annotation has. */
EXPORT int asks_annotation(void)
{
	cca::get()->recordAnnotation({{"a", "b"}});
	auto found = cca::get()->snapshot({0, 0}).external_annotations;

	return found.empty() ? -1 : found.back().device_;
}

template <class Base> static int context_of(Base &base, const void *ptr)
{
	if constexpr (requires { base.getContextForPointer(ptr); })
		return base.getContextForPointer(ptr) != nullptr;
	else
		return -2;
}

/* Whether it is known; -2: PyTorch does not ask that. */
EXPORT int asks_context(const void *ptr)
{
	return context_of(*cca::get(), ptr);
}

static int rejections;

template <class Base> static bool watch_rejections(Base &base)
{
	if constexpr (requires { base.attachOomRejectionObserver(nullptr); }) {
		base.attachOomRejectionObserver([](auto...) { rejections++; });
		return true;
	}
	return false;
}

/* Whether PyTorch has such observers. */
EXPORT int asks_watch_rejections(void)
{
	return watch_rejections(*cca::get());
}

EXPORT int asks_rejections(void)
{
	return rejections;
}

/* ---- pinned memory: a graph's pool, (7, number), for the streams that are
 * captured
 * ----------------------------------------------------------------------- */

template <class Base> static bool begin(Base &base, MempoolId_t id)
{
	if constexpr (requires { base.release_pool(id); }) {
		base.begin_allocate_to_pool(id, [](c10::Stream on) {
			cudaStreamCaptureStatus status;

			C10_CUDA_CHECK(cudaStreamIsCapturing(
				c10::cuda::CUDAStream(on), &status));
			return status != cudaStreamCaptureStatusNone;
		});
		return true;
	}
	return false;
}

template <class Base> static void end(Base &base, MempoolId_t id)
{
	if constexpr (requires { base.release_pool(id); })
		base.end_allocate_to_pool(id);
}

template <class Base> static void release(Base &base, MempoolId_t id)
{
	if constexpr (requires { base.release_pool(id); })
		base.release_pool(id);
}

static at::HostAllocator &host()
{
	return *at::getHostAllocator(c10::DeviceType::CUDA);
}

/* Whether PyTorch has such pools. */
EXPORT int asks_host_begin(unsigned number)
{
	return begin(host(), {7, number});
}

EXPORT void asks_host_end(unsigned number)
{
	end(host(), {7, number});
}

EXPORT void asks_host_release(unsigned number)
{
	release(host(), {7, number});
}

static int freed, found_errors;

/* Nobody uses it. */
EXPORT void *asks_alloc(size_t bytes, int, void *)
{
	static uintptr_t at = 0x7d0000000000;

	at += bytes;
	return reinterpret_cast<void *>(at - bytes);
}

EXPORT void asks_free(void *, size_t, int, void *)
{
	int gil = PyGILState_Ensure();

	freed++;
	found_errors += PyErr_Occurred() != nullptr;
	PyErr_SetString(PyExc_KeyError, "it was given back before");
	PyGILState_Release(gil);
}

EXPORT int asks_freed(void)
{
	return freed;
}

/* Calls that found an error which they had not made. */
EXPORT int asks_found_errors(void)
{
	return found_errors;
}
