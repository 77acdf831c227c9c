/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * On a real NVIDIA GPU: nothing of ours waits for a kernel that runs on a
 * stream which is none of ours. The kernel does nothing for some seconds, and
 * must still be running after each step. Built and run by tests/device/run.sh.
 */
#include "meanwhile.h"
#include "spin.h"

static const uint64_t spin_ns = 4000000000u;

static void begin_work(void)
{
	spin_begin(spin_ns);
}

static bool working(void)
{
	return spin_runs();
}

static void end_work(void)
{
	spin_wait();
}

int main(void)
{
	(void)start_cuda();
	spin_load();
	test_meanwhile("cuda:0");
	return done_testing();
}
