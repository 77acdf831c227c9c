/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Whether this process was forked by one that had used a device: it can use
 * none. PyTorch's functions throw that then, and what ends memory does nothing,
 * for all of it is the parent's. Both before they take a lock, which another
 * thread of the parent's may have held.
 */
#include "allocator.hpp"

#include <pthread.h>

namespace gpumem_torch
{

std::atomic<bool> child;
static std::atomic<bool> used;

void watch_forks()
{
	static int watched = pthread_atfork(nullptr, nullptr,
					    [] { child.store(used.load()); });

	TORCH_CHECK(watched == 0, "pthread_atfork: ", strerror(watched));
}

void note_use()
{
	used.store(true);
}

void refuse_child()
{
	TORCH_CHECK(false,
		    "the process was forked after gpumem was used; only its "
		    "parent can use devices: start it by \"spawn\"");
}

} /* namespace gpumem_torch */
