/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * HIP over the double of NVIDIA's driver, each of the three libraries: what it
 * exports, versions, devices, and the thread's current one.
 */
#include "hip.h"

#include <ctype.h>
#include <pthread.h>

static void test_symbols(int which)
{
	void *library = hip_open(which);
	int missing = 0, early = 0;

#define ABSENT_ALL(name) missing += !dlsym(library, name)
#define ABSENT_NEW(name)                                                       \
	missing += which >= 6 && !dlsym(library, name);                        \
	early += which < 6 && dlsym(library, name)
#define LOOK(name, age) ABSENT_##age(#name);
	HIP_SYMBOLS(LOOK)
#undef LOOK
	is_int(missing, 0, "libamdhip64.so.%d has what it is to have", which);
	is_int(early, 0, "and nothing newer");
	ok(!dlsym(library, "hip_enter"), "nothing of the inside is exported");
}

/* ---- In processes of their own --------------------------------------------
 */

static bool without_device(void)
{
	int other = major >= 6 ? 100 : 101, count = -1, version = 0;
	void *block;

	need(hip.hipRuntimeGetVersion(&version) == 0 && version > 0);
	need(hip.hipGetDeviceCount(&count) == 100 && count == 0);
	need(hip.hipInit(0) == (hipError_t)other);
	need(hip.hipSetDevice(0) == (hipError_t)other);
	need(hip.hipMalloc(&block, 1) == (hipError_t)other);
	return true;
}

static bool other_version(void)
{
	int version = 0, value = -1;

	need(hip.hipRuntimeGetVersion(&version) == 0 && version == 60032830);
	need(hip.hipDeviceGetAttribute(&value, (hipDeviceAttribute_t)89, 0) ==
	     (major >= 6 ? 0 : 1));
	need(value == (major >= 6 ? 0 : -1));
	return true;
}

static bool faulty(void)
{
	int count;

	need(hip.hipGetDeviceCount(&count) == 0);
	need(hip.hipGetDeviceCount(&count) == 999);
	need(hip.hipGetDeviceCount(&count) == 999);
	return true;
}

/* What somebody else took does not count. */
static bool optimistic(void)
{
	CUcontext context;

	need(free_bytes() == 64 * MIB);
	need(cu.cuCtxCreate_v2(&context, 0, 0) == CUDA_SUCCESS);
	(void)new_block(4 * MIB);
	need(free_bytes() == 64 * MIB);
	return true;
}

static bool starts(void)
{
	need(hip.hipSetDevice(0) == 0);
	return true;
}

static void test_processes(void)
{
	ok(in_process("FAKECUDA_INIT", "100", without_device),
	   "without a device");
	ok(in_process("FAKECUDA_INIT", "34", without_device),
	   "with the toolkit's stub");
	ok(in_process("FAKEHIP_VERSION", "60032830", other_version),
	   "6.0 has no virtual memory");
	ok(in_process("FAKEHIP_FAULT", "hipGetDeviceCount:2+:999", faulty),
	   "faults of the environment");
	ok(in_process("FAKEHIP_QUIRKS", "never,optimistic", optimistic),
	   "quirks of the environment");
	ok(!in_process("FAKEHIP_QUIRKS", "stuk", starts),
	   "one that does not exist ends the process");
	ok(!in_process("FAKEHIP_FAULT", "hipMaloc:1:2", starts),
	   "so does a function");
}

/* ---- Devices --------------------------------------------------------------
 */

static void test_versions(void)
{
	int runtime = 0, driver = 0;

	is_int(hip.hipRuntimeGetVersion(&runtime), 0, "version");
	is_int(runtime / 10000000, major, "of that release");
	is_int(hip.hipDriverGetVersion(&driver), 0, "of the driver");
	is_int(driver, runtime, "is the same");
	is_int(hip.hipInit(1), 1, "hipInit knows no flags");
	is_int(hip.hipInit(0), 0, "hipInit");
}

static void test_devices(void)
{
	char name[64], pci[32];
	hipUUID uuid[2];
	size_t bytes = 0;
	int value = -1, digits = 0;

	is_int(hip.hipGetDeviceCount(&value), 0, "count");
	is_int(value, 2, "two");
	is_int(hip.hipDeviceGet(&value, 1), 0, "the second");
	is_int(hip.hipDeviceGet(&value, 2), 101, "no third: 101");
	is_int(hip.hipDeviceGetName(name, sizeof(name), 0), 0, "name");
	is_int(hip.hipDeviceTotalMem(&bytes, 1), 0, "total memory");
	is_uint(bytes, 64 * MIB, "as the environment says");
	is_int(hip.hipDeviceGetPCIBusId(pci, sizeof(pci), 1), 0, "place");
	is_str(pci, "0000:42:00.0", "of the second");
	is_int(hip.hipDeviceGetUuid(&uuid[0], 0), 0, "uuid");
	is_int(hip.hipDeviceGetUuid(&uuid[1], 1), 0, "of the second");
	for (int i = 0; i < 16; i++)
		digits += isxdigit((unsigned char)uuid[1].bytes[i]) != 0;
	is_int(digits, 16, "digits");
	ok(memcmp(&uuid[0], &uuid[1], 16), "they differ");
	is_int(hip.hipDeviceCanAccessPeer(&value, 0, 1), 0, "peers");
	is_int(value, 1, "they are");
}

static int attribute(int which, int device)
{
	int value = -1;
	hipError_t error = hip.hipDeviceGetAttribute(
		&value, (hipDeviceAttribute_t)which, device);

	return error ? -(int)error : value;
}

static void test_attributes(void)
{
	is_int(attribute(88, 0), 1, "pools");
	is_int(attribute(89, 0), major >= 6 ? 1 : -1, "virtual memory");
	is_int(attribute(hipDeviceAttributeManagedMemory, 0), 1, "managed");
	is_int(attribute(hipDeviceAttributeConcurrentManagedAccess, 0), 1,
	       "by host and device at once");
	is_int(attribute(hipDeviceAttributeIntegrated, 0), 0, "a card");
	is_int(attribute(hipDeviceAttributeUnifiedAddressing, 0), 1, "unified");
	is_int(attribute(hipDeviceAttributePciBusId, 1), 0x42, "its bus");
	is_int(attribute(hipDeviceAttributePciDomainID, 1), 0, "its domain");
	is_int(attribute(9998, 0), -1, "no such attribute");
	is_int(attribute(88, 2), -101, "no such device");
}

/* ---- The current device ---------------------------------------------------
 */

static void *in_other_thread(void *device_out)
{
	(void)hip.hipGetDevice(device_out);
	(void)hip.hipSetDevice(0);
	return NULL;
}

static void test_current(void)
{
	uint64_t before;
	CUcontext mine, top = NULL;
	pthread_t thread;
	int device = -1;
	void *block;

	is_int(hip.hipGetDevice(&device), 0, "current");
	is_int(device, 0, "is the first");
	is_int(hip.hipSetDevice(2), 101, "no third: 101");
	is_int(hip.hipSetDevice(1), 0, "the second");
	pthread_create(&thread, NULL, in_other_thread, &device);
	pthread_join(thread, NULL);
	is_int(device, 0, "another thread has its own");
	is_int(hip.hipGetDevice(&device), 0, "this one");
	is_int(device, 1, "keeps it");
	before = free_bytes();
	is_int(hip.hipMalloc(&block, 4 * MIB), 0, "a block");
	is_uint(before - free_bytes(), 4 * MIB, "of the current device");
	(void)hip.hipSetDevice(0);
	is_uint(free_bytes(), 64 * MIB, "and not of the first");
	is_int(hip.hipFree(block), 0, "any device frees it");
	(void)hip.hipSetDevice(1);
	is_uint(free_bytes(), before, "where it was");
	(void)hip.hipSetDevice(0);
	is_int(cu.cuCtxGetCurrent(&top), 0, "CUDA's current context");
	is_ptr(top, NULL, "is none, as before");
	(void)cu.cuCtxCreate_v2(&mine, 0, 1);
	is_uint(free_bytes(), 64 * MIB, "a call beside one's own context");
	(void)cu.cuCtxGetCurrent(&top);
	is_ptr(top, mine, "leaves that");
	(void)cu.cuCtxDestroy_v2(mine);
}

static void test_peers(void)
{
	is_int(hip.hipDeviceEnablePeerAccess(0, 0), 101, "of itself: 101");
	is_int(hip.hipDeviceEnablePeerAccess(2, 0), 101, "of none: 101");
	is_int(hip.hipDeviceDisablePeerAccess(1), 705, "not enabled: 705");
	is_int(hip.hipDeviceEnablePeerAccess(1, 0), 0, "enable");
	is_int(hip.hipDeviceEnablePeerAccess(1, 0), 704, "again: 704");
	is_int(hip.hipDeviceDisablePeerAccess(1), 0, "disable");
	is_int(hip.hipDeviceEnablePeerAccess(1, 0), 0, "and enable again");
	(void)hip.hipDeviceDisablePeerAccess(1);
}

int main(void)
{
	setenv("FAKECUDA_DEVICES", "2", 1);
	setenv("FAKECUDA_MEMORY", "64MiB", 1);
	fake_load();
	for (int which = 5; which <= 7; which++) {
		hip_load(which);
		test_symbols(which);
		test_processes();
	}
	for (int which = 5; which <= 7; which++) {
		hip_load(which);
		test_versions();
		test_devices();
		test_attributes();
		test_current();
		test_peers();
	}
	return done_testing();
}
