/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * For tests of HIP over the double of NVIDIA's driver: the functions of one of
 * its three libraries in `hip` and `quirky`, and that driver's in `cu` and
 * `control`. One program includes this once.
 */
#ifndef GPUMEM_TESTS_UNIT_FAKE_HIP_H
#define GPUMEM_TESTS_UNIT_FAKE_HIP_H

#include "../../fake/hip/fakehip.h"
#include "../../fake/hip/hip_symbols.h"
#include "cuda.h"

#include <sys/wait.h>

static struct {
#define FIELD(name, age) __typeof__(name) *name;
	HIP_SYMBOLS(FIELD)
#undef FIELD
} hip;

static struct {
	__typeof__(fakehip_quirk) *quirk;
	__typeof__(fakehip_fault) *fault;
	__typeof__(fakehip_heal) *heal;
	__typeof__(fakehip_calls) *calls;
} quirky;

static int major; /* of the one in `hip` */

static void *hip_open(int which)
{
	const char *build = getenv("top_builddir");
	char path[4096];
	void *library;

	snprintf(path, sizeof(path),
		 "%s/tests/fake/hip/%d/.libs/libamdhip64.so.%d",
		 build ? build : ".", which, which);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		bail("%s", dlerror());
	return library;
}

/* The driver must have been loaded. Calls nothing. */
static void hip_load(int which)
{
	void *library = hip_open(which);

	major = which;
	memset(&hip, 0, sizeof(hip));
#define LOAD_ALL(name) find(library, #name, &hip.name);
#define LOAD_NEW(name)                                                         \
	if (which >= 6)                                                        \
		find(library, #name, &hip.name);
#define LOAD(name, age) LOAD_##age(name)
	HIP_SYMBOLS(LOAD)
#undef LOAD
#define LOAD(name) find(library, "fakehip_" #name, &quirky.name)
	LOAD(quirk);
	LOAD(fault);
	LOAD(heal);
	LOAD(calls);
#undef LOAD
}

/* Runs `test` in a process whose environment says so; nothing may have been
 * called yet. Prints what the test says on the way. */
__attribute__((unused)) static bool
in_process(const char *variable, const char *value, bool (*test)(void))
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		setenv(variable, value, 1);
		_exit(test() ? 0 : 1);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* For such a test. */
#define need(condition)                                                        \
	do {                                                                   \
		if (!(condition)) {                                            \
			diag("false: %s", #condition);                         \
			return false;                                          \
		}                                                              \
	} while (0)

/* hipMemAllocationProp as this library's callers have it. */
__attribute__((unused)) static const hipMemAllocationProp *
properties(int device, int handle_type)
{
	static _Alignas(8) int fields[8];

	memset(fields, 0, sizeof(fields));
	if (major >= 6) {
		fields[0] = hipMemAllocationTypePinned;
		fields[1] = handle_type;
		fields[2] = hipMemLocationTypeDevice;
		fields[3] = device;
	} else {
		fields[1] = hipMemLocationTypeDevice;
		fields[2] = device;
		fields[3] = handle_type;
		fields[4] = hipMemAllocationTypePinned;
	}
	return (const void *)fields;
}

__attribute__((unused)) static uint64_t free_bytes(void)
{
	size_t bytes = 0, total;

	if (hip.hipMemGetInfo(&bytes, &total))
		bail("hipMemGetInfo");
	return bytes;
}

/* ---- Virtual memory, in granules ------------------------------------------
 */

#define TOTAL (64 * MIB)

__attribute__((unused)) static const hipMemAccessDesc both = {
	{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};

__attribute__((unused)) static char *new_range(size_t granules)
{
	void *range = NULL;

	if (hip.hipMemAddressReserve(&range, granules * GRANULE, 0, NULL, 0))
		bail("hipMemAddressReserve");
	return range;
}

__attribute__((unused)) static hipMemGenericAllocationHandle_t
new_handle(size_t granules)
{
	hipMemGenericAllocationHandle_t handle = NULL;

	if (hip.hipMemCreate(&handle, granules * GRANULE, properties(0, 1), 0))
		bail("hipMemCreate");
	return handle;
}

__attribute__((unused)) static hipError_t
map(char *address, hipMemGenericAllocationHandle_t handle)
{
	return hip.hipMemMap(address, GRANULE, 0, handle, 0);
}

__attribute__((unused)) static hipError_t unmap(char *address, size_t granules)
{
	return hip.hipMemUnmap(address, granules * GRANULE);
}

__attribute__((unused)) static hipError_t allow(char *address, size_t granules)
{
	return hip.hipMemSetAccess(address, granules * GRANULE, &both, 1);
}

__attribute__((unused)) static void drop_range(char *range, size_t granules)
{
	is_int(hip.hipMemAddressFree(range, granules * GRANULE), 0,
	       "the range goes");
}

#endif
