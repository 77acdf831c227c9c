/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The way into every call and out of it, and what the environment says.
 */
#include "cuda_fake.h"

#include <time.h>

#ifdef FAKECUDA_OLD
#define DEFAULT_VERSION 10020
#define HAS_VMM false
#else
#define DEFAULT_VERSION 13000
#define HAS_VMM true
#endif

struct fake_state fake = {
	.changed = PTHREAD_COND_INITIALIZER,
};

_Thread_local bool fake_in_host_function;

/* A child has the parent's memory but not its driver, nor its threads. */
static void after_fork(void)
{
	fake.forked = true;
}

void fake_configure(void)
{
	uint64_t count = fake_amount("FAKECUDA_DEVICES", 1);

	fake.device_count =
		count > FAKE_DEVICES_MAX ? FAKE_DEVICES_MAX : (int)count;
	fake.capacity_bytes = fake_amount("FAKECUDA_MEMORY", 16ull << 30) &
			      ~(FAKE_GRANULE - 1);
	fake.version = (int)fake_amount("FAKECUDA_VERSION", DEFAULT_VERSION);
	fake.init_result = (int)fake_amount("FAKECUDA_INIT", 0);
	fake.vmm = HAS_VMM && !fake_amount("FAKECUDA_NO_VMM", 0);
	fake.host_node = -1;
	fake.decompresses = (int)fake_amount("FAKECUDA_DECOMPRESSES", 0);
	fake.peers = !fake_amount("FAKECUDA_NO_PEERS", 0);
	fake.async = fake_amount("FAKECUDA_ASYNC", 0);
	fake.stepping = fake_amount("FAKECUDA_STEPPING", 0);
	fake.strict = fake_amount("FAKECUDA_STRICT", 0);
	for (int i = 0; i < FAKE_DEVICES_MAX; i++)
		fake.devices[i].fd = -1;
	fake_fault_configure("FAKECUDA_FAULT");
	fake_latency_configure();
	pthread_atfork(NULL, NULL, after_fork);
}

/* These answer without cuInit(). */
static bool always_there(enum fake_call call)
{
	return call == FAKE_cuDriverGetVersion || call == FAKE_cuInit ||
	       call == FAKE_cuGetProcAddress ||
	       call == FAKE_cuGetProcAddress_v2 ||
	       call == FAKE_cuGetErrorName || call == FAKE_cuGetErrorString;
}

/* Holds up nobody else. */
static void pass_time(uint64_t ns)
{
	struct timespec time = {(time_t)(ns / 1000000000),
				(long)(ns % 1000000000)};

	fake_unlock();
	nanosleep(&time, NULL);
	fake_lock();
}

CUresult fake_enter(enum fake_call call)
{
	CUresult result;
	uint64_t ns;

	fake_lock();
	result = (CUresult)fake_fault_next(call);
	ns = fake_latency_ns(call);
	if (ns)
		pass_time(ns);
	if (result != CUDA_SUCCESS)
		return result;
	if (fake_in_host_function)
		return CUDA_ERROR_NOT_PERMITTED;
	if (fake.shut_down && call != FAKE_cuGetErrorName &&
	    call != FAKE_cuGetErrorString)
		return CUDA_ERROR_DEINITIALIZED;
	if (always_there(call))
		return CUDA_SUCCESS;
	if (!fake.initialised || fake.forked)
		return CUDA_ERROR_NOT_INITIALIZED;
	return CUDA_SUCCESS;
}

CUresult fake_leave(CUresult result)
{
	fake_unlock();
	return result;
}
