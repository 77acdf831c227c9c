/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A kernel that does nothing for some time, on a stream of its own. For one
 * file of a program, after start_cuda().
 */
#ifndef GPUMEM_TESTS_DEVICE_SPIN_H
#define GPUMEM_TESTS_DEVICE_SPIN_H

#include "calls.h"

/* Runs until so many nanoseconds are over. */
static const char spin_ptx[] = ".version 7.0\n"
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

static CUfunction spin_kernel;
static CUstream spin_stream;
static CUevent spin_event;

static inline void spin_load(void)
{
	spin_kernel = load_kernel(spin_ptx, "spin");
	CALL(cuStreamCreate(&spin_stream, CU_STREAM_NON_BLOCKING));
	CALL(cuEventCreate(&spin_event, CU_EVENT_DISABLE_TIMING));
}

static inline void spin_begin(uint64_t ns)
{
	void *arguments[] = {&ns};

	CALL(cuLaunchKernel(spin_kernel, 1, 1, 1, 1, 1, 1, 0, spin_stream,
			    arguments, NULL));
	CALL(cuEventRecord(spin_event, spin_stream));
}

static inline bool spin_runs(void)
{
	return cuEventQuery(spin_event) == CUDA_ERROR_NOT_READY;
}

static inline void spin_wait(void)
{
	CALL(cuEventSynchronize(spin_event));
}

#endif
