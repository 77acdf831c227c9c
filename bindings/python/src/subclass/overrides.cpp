/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * No code: of each function that says no `override`, since some versions of
 * PyTorch's base class lack it or have it with other arguments, that it
 * overrides what the base class has of that name. Else this does not compile.
 */
#include "allocator.hpp"

namespace gpumem_torch
{

template <class Base, class Result, class... Arguments>
static void same(Result (Base::*)(Arguments...),
		 Result (allocator::*)(Arguments...))
{
}

/* The name is ambiguous in `both` if the base class has it, however often. */
#define OVERRIDDEN(name)                                                       \
	struct has_##name {                                                    \
		int name;                                                      \
	};                                                                     \
	template <class Base> struct both_##name : Base, has_##name {          \
	};                                                                     \
	template <class Base> static void check_##name()                       \
	{                                                                      \
		if constexpr (!requires { &both_##name<Base>::name; })         \
			same(&Base::name, &allocator::name);                   \
	}                                                                      \
	template void check_##name<cca::CUDAAllocator>();

OVERRIDDEN(getExpandableSegmentSizes)
OVERRIDDEN(createOrIncrefPool)
OVERRIDDEN(setUseOnOOM)
OVERRIDDEN(setNoSplit)
OVERRIDDEN(snapshot)
OVERRIDDEN(recordHistory)
OVERRIDDEN(setUserMetadata)
OVERRIDDEN(getUserMetadata)
OVERRIDDEN(attachOomRejectionObserver)
OVERRIDDEN(getContextForPointer)
OVERRIDDEN(supportsUserMetadata)
OVERRIDDEN(annotateMemory)

} /* namespace gpumem_torch */
