/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * For tests of the double of NVIDIA's driver: its functions, by their names in
 * `cu` and `control`. One program includes this once.
 */
#ifndef GPUMEM_TESTS_UNIT_FAKE_CUDA_H
#define GPUMEM_TESTS_UNIT_FAKE_CUDA_H

#include "../../fake/cuda/cuda_symbols.h"
#include "../../fake/cuda/fakecuda.h"
#include "../../tap.h"

#include <dlfcn.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)
#define GRANULE (2 * MIB)

static struct {
#define FIELD(name, type, age) type name;
	FAKE_SYMBOLS(FIELD)
#undef FIELD
} cu;

static struct {
	__typeof__(fakecuda_audit) *audit;
	__typeof__(fakecuda_stepping) *stepping;
	__typeof__(fakecuda_step) *step;
	__typeof__(fakecuda_pending) *pending;
	__typeof__(fakecuda_waits) *waits;
	__typeof__(fakecuda_fault) *fault;
	__typeof__(fakecuda_heal) *heal;
	__typeof__(fakecuda_calls) *calls;
	__typeof__(fakecuda_latency) *latency;
	__typeof__(fakecuda_lose) *lose;
	__typeof__(fakecuda_recycle) *recycle;
	__typeof__(fakecuda_deinit) *deinit;
} control;

static void *fake_open(const char *folder)
{
	const char *build = getenv("top_builddir");
	char path[4096];
	void *library;

	snprintf(path, sizeof(path), "%s/tests/fake/cuda/%s.libs/libcuda.so.1",
		 build ? build : ".", folder);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		bail("%s", dlerror());
	return library;
}

/* ISO C has no conversion from dlsym()'s result to a function. */
static void find(void *library, const char *name, void *function_out)
{
	void *symbol = dlsym(library, name);

	if (!symbol)
		bail("%s is not there", name);
	memcpy(function_out, &symbol, sizeof(symbol));
}

__attribute__((unused)) static void *fake_load(void)
{
	void *library = fake_open("");

#define LOAD(name, type, age) find(library, #name, &cu.name);
	FAKE_SYMBOLS(LOAD)
#undef LOAD
#define LOAD(name) find(library, "fakecuda_" #name, &control.name)
	LOAD(audit);
	LOAD(stepping);
	LOAD(step);
	LOAD(pending);
	LOAD(waits);
	LOAD(fault);
	LOAD(heal);
	LOAD(calls);
	LOAD(latency);
	LOAD(lose);
	LOAD(recycle);
	LOAD(deinit);
#undef LOAD
	return library;
}

/* Initialised, with the primary context of device 0 current. */
__attribute__((unused)) static CUcontext fake_start(void)
{
	CUcontext context;

	fake_load();
	if (cu.cuInit(0) || cu.cuDevicePrimaryCtxRetain(&context, 0) ||
	    cu.cuCtxPushCurrent_v2(context))
		bail("the double does not start");
	return context;
}

__attribute__((unused)) static struct fakecuda_held held(void)
{
	struct fakecuda_held now;

	control.audit(&now);
	return now;
}

__attribute__((unused)) static CUstream new_stream(unsigned flags)
{
	CUstream stream;

	if (cu.cuStreamCreate(&stream, flags))
		bail("cuStreamCreate");
	return stream;
}

__attribute__((unused)) static CUevent new_event(void)
{
	CUevent event;

	if (cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING))
		bail("cuEventCreate");
	return event;
}

__attribute__((unused)) static CUdeviceptr new_block(size_t bytes)
{
	CUdeviceptr address;

	if (cu.cuMemAlloc_v2(&address, bytes))
		bail("cuMemAlloc");
	return address;
}

__attribute__((unused)) static void *memory_at(CUdeviceptr address)
{
	return (void *)(uintptr_t)address;
}

#endif
