/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The double of NVIDIA's driver: starting, devices, contexts, faults, and what
 * the library exports.
 */
#include "cuda.h"

#include <pthread.h>
#include <sys/wait.h>

static void test_start(void)
{
	CUcontext context;
	int count = 0, version = 0;
	size_t bytes;

	is_int(cu.cuDeviceGetCount(&count), 3, "before cuInit: 3");
	is_int(cu.cuMemGetInfo_v2(&bytes, &bytes), 3, "memory too");
	is_int(cu.cuDriverGetVersion(&version), 0, "the version can be had");
	is_int(version, 13000, "13.0");
	is_int(cu.cuInit(1), 1, "cuInit knows no flags");
	is_int(control.fault("cuInit", 1, false, 100), 1, "a fault is armed");
	is_int(cu.cuInit(0), 100, "no device");
	is_int(cu.cuInit(0), 0, "cuInit");
	is_int(cu.cuDeviceGetCount(&count), 0, "count");
	is_int(count, 2, "two devices");
	is_int(cu.cuDevicePrimaryCtxRetain(&context, 2), 101, "no third");
}

static void test_devices(void)
{
	char name[64], pci[2][32];
	CUuuid uuid[2], old;
	size_t bytes = 0;
	int value = -1;

	is_int(cu.cuDeviceGetName(name, sizeof(name), 0), 0, "name");
	is_int(cu.cuDeviceGetUuid_v2(&uuid[0], 0), 0, "uuid");
	is_int(cu.cuDeviceGetUuid_v2(&uuid[1], 1), 0, "uuid of the second");
	is_int(cu.cuDeviceGetUuid(&old, 1), 0, "the older call");
	ok(memcmp(&uuid[0], &uuid[1], 16), "they differ");
	ok(!memcmp(&old, &uuid[1], 16), "both calls agree");
	(void)cu.cuDeviceGetPCIBusId(pci[0], 32, 0);
	(void)cu.cuDeviceGetPCIBusId(pci[1], 32, 1);
	is_str(pci[0], "0000:41:00.0", "a PCI address");
	ok(strcmp(pci[0], pci[1]), "another one");
	is_int(cu.cuDeviceTotalMem_v2(&bytes, 1), 0, "total memory");
	is_uint(bytes, 64 * MIB, "as the environment says");
	is_int(cu.cuDeviceGetAttribute(&value, 102, 0), 0, "attribute 102");
	is_int(value, 1, "virtual memory");
	is_int(cu.cuDeviceGetAttribute(&value, 0, 0), 1, "no attribute 0");
	is_int(cu.cuDeviceCanAccessPeer(&value, 0, 0), 0, "itself");
	is_int(value, 0, "no peer of itself");
	is_int(cu.cuDeviceCanAccessPeer(&value, 0, 1), 0, "the other");
	is_int(value, 1, "is a peer");
	is_uint(held().contexts, 0, "no context was made");
}

/* The calls that need a current context, each without one. */
static void test_no_context(void)
{
	CUcontext context = NULL;
	CUdeviceptr address;
	CUstream stream;
	CUevent event;
	CUdevice device;
	void *memory;
	size_t bytes;

	is_int(cu.cuCtxGetCurrent(&context), 0, "asking for none");
	is_ptr(context, NULL, "gives none");
	is_int(cu.cuCtxGetDevice(&device), 201, "cuCtxGetDevice: 201");
	is_int(cu.cuCtxPopCurrent_v2(&context), 201, "nothing to pop: 201");
	is_int(cu.cuMemAlloc_v2(&address, 1), 201, "cuMemAlloc: 201");
	is_int(cu.cuMemGetInfo_v2(&bytes, &bytes), 201, "cuMemGetInfo: 201");
	is_int(cu.cuStreamCreate(&stream, 0), 201, "cuStreamCreate: 201");
	is_int(cu.cuEventCreate(&event, 0), 201, "cuEventCreate: 201");
	is_int(cu.cuMemHostAlloc(&memory, 1, 0), 201, "cuMemHostAlloc: 201");
	is_int(cu.cuCtxSynchronize(), 201, "cuCtxSynchronize: 201");
	is_int(cu.cuStreamQuery(NULL), 201, "the legacy stream: 201");
	is_int(cu.cuStreamSynchronize(CU_STREAM_PER_THREAD), 201, "2: 201");
	is_int(cu.cuDevicePrimaryCtxRelease_v2(0), 201, "never retained");
}

static void test_contexts(void)
{
	CUcontext one, again, two, top;
	CUdeviceptr address;
	CUdevice device;
	CUevent event;
	size_t bytes;

	is_int(cu.cuDevicePrimaryCtxRetain(&one, 0), 0, "retain");
	is_int(cu.cuDevicePrimaryCtxRetain(&again, 0), 0, "again");
	is_ptr(again, one, "the same");
	is_int(cu.cuCtxGetDevice(&device), 201, "it is not current");
	is_int(cu.cuCtxPushCurrent_v2(one), 0, "push");
	is_int(cu.cuCtxCreate_v2(&two, 0, 1), 0, "create pushes, too");
	is_int(cu.cuCtxGetDevice(&device), 0, "device");
	is_int(device, 1, "of the top");
	event = new_event();
	address = new_block(1);
	is_uint(held().allocs, 1, "a block");
	is_int(cu.cuCtxPopCurrent_v2(&top), 0, "pop");
	is_ptr(top, two, "what was pushed last");
	is_int(cu.cuCtxPushCurrent_v2(two), 0, "and back");
	is_int(cu.cuEventRecord(event, NULL), 0, "event on its own stream");
	is_int(cu.cuCtxDestroy_v2(two), 0, "destroy pops");
	is_uint(held().allocs + held().events, 0, "all of it went");
	is_int(cu.cuEventQuery(event), 400, "a dead event: 400");
	is_int(cu.cuMemFree_v2(address), 1, "a dead block: 1");
	is_int(cu.cuCtxPushCurrent_v2(two), 201, "a dead context: 201");
	is_int(cu.cuDevicePrimaryCtxRelease_v2(0), 0, "one reference");
	is_int(cu.cuMemGetInfo_v2(&bytes, &bytes), 0, "there is another");
	is_int(cu.cuDevicePrimaryCtxRelease_v2(0), 0, "the last");
	is_int(cu.cuMemGetInfo_v2(&bytes, &bytes), 709, "709 under us");
	is_int(cu.cuMemAlloc_v2(&address, 1), 709, "and again");
	is_int(cu.cuCtxSetCurrent(NULL), 0, "none");
	is_uint(held().contexts, 0, "none held");
}

static void test_peers(void)
{
	CUcontext one, two;
	CUdeviceptr address;

	(void)cu.cuDevicePrimaryCtxRetain(&one, 0);
	(void)cu.cuDevicePrimaryCtxRetain(&two, 1);
	(void)cu.cuCtxPushCurrent_v2(two);
	address = new_block(64);
	(void)cu.cuCtxPushCurrent_v2(one);
	is_int(cu.cuMemsetD8Async(address, 1, 64, NULL), 1,
	       "another device's memory: 1");
	is_int(cu.cuCtxEnablePeerAccess(one, 0), 217, "of itself: 217");
	is_int(cu.cuCtxEnablePeerAccess(two, 1), 1, "no flags");
	is_int(cu.cuCtxEnablePeerAccess(two, 0), 0, "enable");
	is_int(cu.cuCtxEnablePeerAccess(two, 0), 704, "again: 704");
	is_int(cu.cuMemsetD8Async(address, 1, 64, NULL), 0, "now it may");
	is_int(cu.cuCtxDisablePeerAccess(two), 0, "disable");
	is_int(cu.cuCtxDisablePeerAccess(two), 705, "again: 705");
	is_int(cu.cuMemsetD8Async(address, 1, 64, NULL), 1, "no more: 1");
	(void)cu.cuCtxSetCurrent(NULL);
	(void)cu.cuCtxSetCurrent(NULL);
	(void)cu.cuDevicePrimaryCtxRelease_v2(0);
	(void)cu.cuDevicePrimaryCtxRelease_v2(1);
}

static void test_faults(void)
{
	int count;
	uint64_t calls = control.calls("cuDeviceGetCount");
	uint64_t all = control.calls(NULL);

	ok(!control.fault("cuNothing", 1, false, 1), "no such function");
	ok(!control.fault("cuMem", 1, false, 1), "nor a part of a name");
	ok(control.fault("cuDeviceGetCount", 2, true, 999), "from the 2nd on");
	is_int(cu.cuDeviceGetCount(&count), 0, "the first is good");
	is_int(cu.cuDeviceGetCount(&count), 999, "the second is not");
	is_int(cu.cuDeviceGetCount(&count), 999, "nor the third");
	control.heal();
	is_int(cu.cuDeviceGetCount(&count), 0, "healed");
	is_uint(control.calls("cuDeviceGetCount") - calls, 4, "all counted");
	is_uint(control.calls(NULL) - all, 4, "among all");
	ok(control.fault("cuMemAlloc", 1, false, 2), "a name without _v2");
	ok(control.fault("cuMemAlloc_v2", 1, false, 2), "and with it");
	control.heal();
	ok(control.latency("cuInit", 1), "latency can be set");
	ok(!control.latency("cuExit", 1), "not of what there is not");
	is_int(cu.cuInit(0), 0, "later");
	(void)control.latency("cuInit", 0);
}

static void test_lost(void)
{
	CUcontext context;
	CUdeviceptr address;
	CUstream stream;
	CUevent event;
	size_t bytes;

	(void)cu.cuDevicePrimaryCtxRetain(&context, 0);
	(void)cu.cuCtxPushCurrent_v2(context);
	stream = new_stream(1);
	event = new_event();
	address = new_block(1);
	control.lose(0, 719);
	is_int(cu.cuMemGetInfo_v2(&bytes, &bytes), 719, "lost");
	is_int(cu.cuMemFree_v2(address), 719, "for free, too");
	is_int(cu.cuStreamQuery(stream), 719, "for a stream");
	is_int(cu.cuEventQuery(event), 719, "for an event");
	is_int(cu.cuMemAddressReserve(&address, GRANULE, 0, 0, 0), 0,
	       "but virtual memory is no context's");
	is_int(cu.cuMemAddressFree(address, GRANULE), 0, "and goes on");
	(void)cu.cuCtxSetCurrent(NULL);
	is_int(cu.cuDevicePrimaryCtxRelease_v2(0), 0, "it can be released");
	(void)cu.cuDevicePrimaryCtxRetain(&context, 0);
	(void)cu.cuCtxPushCurrent_v2(context);
	is_int(cu.cuMemGetInfo_v2(&bytes, &bytes), 0, "and taken anew");
}

static void test_end(void)
{
	const char *name;
	size_t bytes;
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(cu.cuMemGetInfo_v2(&bytes, &bytes) == 3 ? 0 : 1);
	ok(waitpid(pid, &status, 0) == pid && status == 0,
	   "in a forked child: 3");
	is_int(cu.cuGetErrorName(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, &name), 0,
	       "names");
	is_str(name, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "as in cuda.h");
	is_int(cu.cuGetErrorName(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, &name), 0,
	       "a code of the double's own");
	is_int(cu.cuGetErrorString((CUresult)12345, &name), 1, "of no code: 1");
	control.deinit();
	is_int(cu.cuMemGetInfo_v2(&bytes, &bytes), 4, "shut down: 4");
	is_int(cu.cuDevicePrimaryCtxRelease_v2(0), 4, "also for this");
}

static void test_symbols(void *library)
{
	void *old = fake_open("old/");
	int missing = 0, present = 0, lacking = 0;

#define COUNT_OLD(have) missing += !(have)
#define COUNT_NEW(have) present += (have), lacking += !(have)
#define LOOK(name, type, age)                                                  \
	ok(dlsym(library, #name), "%s is there", #name);                       \
	COUNT_##age(dlsym(old, #name) != NULL);
	FAKE_SYMBOLS(LOOK)
#undef LOOK
	is_int(missing, 0, "the old double has what is old");
	is_int(present, 0, "and nothing that is new");
	ok(lacking > 0, "there is something new");
	ok(!dlsym(library, "fake_lock"), "nothing of the inside is exported");
	ok(!dlsym(library, "cuMemAlloc"), "nor the names of 2007");
}

int main(void)
{
	void *library;

	setenv("FAKECUDA_DEVICES", "2", 1);
	setenv("FAKECUDA_MEMORY", "64MiB", 1);
	library = fake_load();
	test_symbols(library);
	test_start();
	test_devices();
	test_no_context();
	test_contexts();
	test_peers();
	test_faults();
	test_lost();
	test_end();
	return done_testing();
}
