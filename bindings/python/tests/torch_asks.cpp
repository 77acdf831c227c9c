/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What C++ asks of PyTorch's allocator and Python cannot, for
 * test_torch_subclass.py: as NCCL does, and the profiler. One thread.
 */
#include "names.hpp"

#include <map>

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
