/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Whether this process was forked by one that had used a device: it can use
 * none. What allocates throws that then, and what frees does nothing, for all
 * of it is the parent's. Both before they take a lock, which another thread of
 * the parent's may have held.
 */
#include "plug.hpp"

#include <pthread.h>
#include <stdexcept>

namespace plug
{

static std::atomic<bool> used, child;

bool watch_forks()
{
	static int failed = pthread_atfork(nullptr, nullptr,
					   [] { child.store(used.load()); });

	return !failed;
}

void note_use()
{
	used.store(true);
}

bool is_child()
{
	return child.load(std::memory_order_relaxed);
}

void check_process()
{
	if (is_child())
		throw std::runtime_error(
			"the process was forked after gpumem was used; only "
			"its parent can use devices: start it by \"spawn\"");
}

} /* namespace plug */
