/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What PyTorch's versions from 2.8 on name or place differently, found by what
 * their headers have and never by a version's number. Of a function that takes
 * other arguments in other versions the class has one for each (allocator.hpp),
 * without `override`: overrides.cpp sees to it that one of them does. No locks.
 */
#ifndef GPUMEM_PYTHON_SUBCLASS_NAMES_HPP
#define GPUMEM_PYTHON_SUBCLASS_NAMES_HPP

#include <c10/cuda/CUDAAllocatorConfig.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/ApproximateClock.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpumem_torch
{

namespace cca = c10::cuda::CUDACachingAllocator;
using c10::DeviceIndex;
using c10::cuda::MempoolId_t;
using context = std::shared_ptr<c10::GatheredContext>;

/* Of c10::CachingDeviceAllocator since 2.11, of cca before. */
using SegmentInfo = decltype(cca::SnapshotInfo::segments)::value_type;
using BlockInfo = decltype(SegmentInfo::blocks)::value_type;
using TraceEntry =
	decltype(cca::SnapshotInfo::device_traces)::value_type::value_type;
using AnnotationEntry =
	decltype(cca::SnapshotInfo::external_annotations)::value_type;
using RecordContext = cca::RecordContext;
using action = TraceEntry::Action;

/* What getExpandableSegmentSizes() returns, since 2.10; else anything. */
template <class Base> auto sizes_of(Base &base)
{
	if constexpr (requires { base.getExpandableSegmentSizes(0); })
		return base.getExpandableSegmentSizes(0);
	else
		return std::vector<size_t>();
}
using expandable_sizes =
	decltype(sizes_of(std::declval<cca::CUDAAllocator &>()));

/* With a user's text since 2.10. */
template <class Entry = TraceEntry>
Entry entry_of(action what, int device, size_t addr, size_t bytes, void *on,
	       MempoolId_t id, context where, std::string compiled,
	       std::string text)
{
	auto number = DeviceIndex(device);
	auto stream = static_cast<cudaStream_t>(on);
	auto now = c10::getApproximateTime();

	if constexpr (requires {
			      Entry(what, number, addr, bytes, stream, id, now,
				    where, compiled, text);
		      })
		return Entry(what, number, addr, bytes, stream, id, now,
			     std::move(where), std::move(compiled),
			     std::move(text));
	else
		return Entry(what, number, addr, bytes, stream, id, now,
			     std::move(where), std::move(compiled));
}

/* That a live block was annotated, since 2.14; nobody asks for it before. */
template <class Entry = TraceEntry> constexpr action annotated()
{
	if constexpr (requires { Entry::ANNOTATE; })
		return Entry::ANNOTATE;
	else
		return Entry::SNAPSHOT;
}

/* In what order segments came, since 2.11: NCCL registers them in it. */
template <class Info> void number_segment(Info &of, int number)
{
	if constexpr (requires { of.registration_counter; })
		of.registration_counter = number;
}

/* What each private pool has, since 2.13. */
template <class Stats, class Array>
void note_private(Stats &into, MempoolId_t id, const Array &of)
{
	if constexpr (requires { into.reserved_bytes_by_private_pools; })
		into.reserved_bytes_by_private_pools[id] = of;
}

/* Whether the program asked to be told of what a limit refuses, since 2.12. */
template <class Config = cca::CUDAAllocatorConfig> bool tells_of_rejections()
{
	if constexpr (requires { Config::throw_on_cudamalloc_oom(); })
		return Config::throw_on_cudamalloc_oom();
	else
		return false;
}

template <class Stats> void note_rejections(Stats &into, int64_t count)
{
	if constexpr (requires { into.num_oom_rejections; })
		into.num_oom_rejections = count;
}

/* PyTorch's parser of an action's name, since 2.11; nobody names one before. */
namespace names
{
using namespace c10::CachingDeviceAllocator;

template <class Text> action parsed(const Text &text)
{
	if constexpr (requires { parseTraceEntryAction(text); })
		return parseTraceEntryAction(text);
	else
		TORCH_CHECK(false, "there is no such action: ", text);
}
} /* namespace names */

} /* namespace gpumem_torch */

#endif
