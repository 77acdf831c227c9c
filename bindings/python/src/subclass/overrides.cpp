/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * No code: of each function that says no `override`, since some versions of
 * PyTorch's base class lack it or have it with other arguments, that it
 * overrides what the base class has of that name. Else this does not compile.
 */
#include "pinned.hpp"

namespace gpumem_torch
{

template <class Own, class Base, class Result, class... Arguments>
static void same(Result (Base::*)(Arguments...), Result (Own::*)(Arguments...))
{
}

template <class Own, class Base, class Result, class... Arguments>
static void same(Result (Base::*)(Arguments...) const,
		 Result (Own::*)(Arguments...) const)
{
}

/* The name is ambiguous in `both` if the base class has it, however often. */
#define OVERRIDDEN(own, base, name)                                            \
	struct has_##name {                                                    \
		int name;                                                      \
	};                                                                     \
	template <class Base> struct both_##name : Base, has_##name {          \
	};                                                                     \
	template <class Base> static void check_##name()                       \
	{                                                                      \
		if constexpr (!requires { &both_##name<Base>::name; })         \
			same<own>(&Base::name, &own::name);                    \
	}                                                                      \
	template void check_##name<base>();

#define OF_DEVICES(name) OVERRIDDEN(allocator, cca::CUDAAllocator, name)

OF_DEVICES(getExpandableSegmentSizes)
OF_DEVICES(createOrIncrefPool)
OF_DEVICES(setUseOnOOM)
OF_DEVICES(setNoSplit)
OF_DEVICES(snapshot)
OF_DEVICES(recordHistory)
OF_DEVICES(setUserMetadata)
OF_DEVICES(getUserMetadata)
OF_DEVICES(attachOomRejectionObserver)
OF_DEVICES(getContextForPointer)
OF_DEVICES(supportsUserMetadata)
OF_DEVICES(annotateMemory)

#define OF_THE_HOST(name) OVERRIDDEN(pinned_allocator, at::HostAllocator, name)

OF_THE_HOST(begin_allocate_to_pool)
OF_THE_HOST(end_allocate_to_pool)
OF_THE_HOST(release_pool)
OF_THE_HOST(record_history)
OF_THE_HOST(is_history_enabled)
OF_THE_HOST(get_segments)
OF_THE_HOST(get_traces)
OF_THE_HOST(record_external_register)
OF_THE_HOST(record_external_unregister)

} /* namespace gpumem_torch */
