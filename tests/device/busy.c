/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * On a real NVIDIA GPU: nothing of ours waits for a kernel that runs on a
 * stream which is none of ours. The kernel does nothing for some seconds, and
 * must still be running after each step. Built and run by tests/device/run.sh.
 */
#include "calls.h"
#include "meanwhile.h"

static const uint64_t spin_ns = 4000000000u;

/* Runs until so many nanoseconds are over. */
static const char ptx[] = ".version 7.0\n"
			  ".target sm_52\n"
			  ".address_size 64\n"
			  ".visible .entry spin(.param .u64 ns)\n"
			  "{\n"
			  ".reg .u64 %now, %end;\n"
			  ".reg .pred %more;\n"
			  "ld.param.u64 %end, [ns];\n"
			  "mov.u64 %now, %globaltimer;\n"
			  "add.u64 %end, %end, %now;\n"
			  "again:\n"
			  "mov.u64 %now, %globaltimer;\n"
			  "setp.lt.u64 %more, %now, %end;\n"
			  "@%more bra again;\n"
			  "ret;\n"
			  "}\n";

static CUfunction spin;
static CUstream stream;
static CUevent event;

static void begin_work(void)
{
	uint64_t ns = spin_ns;
	void *arguments[] = {&ns};

	CALL(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, arguments,
			    NULL));
	CALL(cuEventRecord(event, stream));
}

static bool working(void)
{
	return cuEventQuery(event) == CUDA_ERROR_NOT_READY;
}

static void end_work(void)
{
	CALL(cuEventSynchronize(event));
}

int main(void)
{
	(void)start_cuda();
	spin = load_kernel(ptx, "spin");
	CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CALL(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	test_meanwhile("cuda:0");
	done_testing();
}
