/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * HIP over the double of NVIDIA's driver, each of the three libraries: virtual
 * memory, and sharing.
 */
#include "hip.h"

static bool without(void)
{
	void *range;
	size_t bytes;

	need(hip.hipMemAddressReserve(&range, GRANULE, 0, NULL, 0) == 801);
	need(hip.hipMemGetAllocationGranularity(
		     &bytes, properties(0, 0),
		     hipMemAllocationGranularityMinimum) == 801);
	return true;
}

static void test_memory(void)
{
	char *range = new_range(4);
	hipMemGenericAllocationHandle_t one = new_handle(1), two;
	size_t granule = 0;

	is_int(hip.hipMemGetAllocationGranularity(
		       &granule, properties(1, 0),
		       hipMemAllocationGranularityMinimum),
	       0, "granularity");
	is_uint(granule, GRANULE, "of the driver");
	is_int(hip.hipMemCreate(&two, GRANULE, properties(2, 0), 0), 1,
	       "on no such device: 1");
	is_int(hip.hipMemCreate(&two, 64 * GRANULE, properties(0, 0), 0), 2,
	       "too much: 2");
	is_int(hip.hipMemMap(range, GRANULE, GRANULE, one, 0), 1,
	       "an offset: 1");
	is_int(hip.hipMemMap(range, GRANULE, 0, one, 1), 1, "a flag: 1");
	is_int(map(range, one), 0, "map");
	is_int(allow(range, 1), 0, "access");
	is_int(hip.hipMemsetAsync(range, 5, 64, NULL), 0, "use");
	is_int(range[63], 5, "it is memory");
	two = new_handle(1);
	is_int(map(range + GRANULE, two), 0, "the next");
	is_int(allow(range, 2), 0, "access to both");
	is_int(hip.hipMemUnmap(range, GRANULE / 2), 1, "not in halves: 1");
	is_int(unmap(range, 3), 1, "nor more than there is: 1");
	is_int(hip.hipMemRelease(one), 0, "release while mapped");
	is_int(hip.hipMemRelease(one), 1, "once: 1");
	is_uint(free_bytes(), TOTAL - 2 * GRANULE, "it stays");
	is_int(unmap(range, 2), 0, "unmap both");
	is_uint(free_bytes(), TOTAL - GRANULE, "it goes");
	is_int(hip.hipMemAddressFree(range + GRANULE, GRANULE), 1,
	       "not a part of a range: 1");
	drop_range(range, 4);
	is_int(hip.hipMemRelease(two), 0, "release");
	is_uint(free_bytes(), TOTAL, "all is free");
}

static void test_placement(void)
{
	hipMemGenericAllocationHandle_t handle = NULL;

	(void)hip.hipSetDevice(1);
	is_int(hip.hipMemCreate(&handle, GRANULE, properties(1, 0), 0), 0,
	       "on the second");
	is_uint(free_bytes(), TOTAL - GRANULE, "it is there");
	(void)hip.hipSetDevice(0);
	is_uint(free_bytes(), TOTAL, "and not on the first");
	(void)hip.hipMemRelease(handle);
}

/* ---- Sharing --------------------------------------------------------------
 */

static void test_descriptor(void)
{
	hipMemGenericAllocationHandle_t handle = new_handle(1), again = NULL;
	char *range = new_range(2);
	int fd = -1, version = 0;
	bool by_value;

	(void)hip.hipRuntimeGetVersion(&version);
	by_value = version >= 70100000;
	is_int(hip.hipMemExportToShareableHandle(
		       &fd, handle, hipMemHandleTypePosixFileDescriptor, 0),
	       0, "export");
	is_int(hip.hipMemExportToShareableHandle(&fd, handle,
						 hipMemHandleTypeWin32, 0),
	       1, "as a descriptor only: 1");
	is_int(hip.hipMemImportFromShareableHandle(
		       &again, by_value ? (void *)(intptr_t)fd : &fd,
		       hipMemHandleTypePosixFileDescriptor),
	       0, "import");
	close(fd);
	(void)map(range, handle);
	(void)map(range + GRANULE, again);
	(void)allow(range, 1);
	(void)allow(range + GRANULE, 1);
	range[7] = 77;
	is_int(range[GRANULE + 7], 77, "the same memory");
	(void)unmap(range, 2);
	(void)hip.hipMemRelease(handle);
	is_int(hip.hipMemRelease(again), 0, "release the import");
	drop_range(range, 2);
}

/* The one that opens: 0, or what went wrong. */
static int open_there(int from)
{
	unsigned flags = major >= 6;
	hipIpcMemHandle_t handle;
	void *inside = NULL;

	if (read(from, &handle, sizeof(handle)) != sizeof(handle))
		return 1;
	if (hip.hipIpcOpenMemHandle(&inside, handle, !flags) != 1)
		return 2;
	if (hip.hipIpcOpenMemHandle(&inside, handle, flags))
		return 3;
	if (strcmp(inside, "in the middle"))
		return 4;
	if (hip.hipIpcCloseMemHandle(inside))
		return 5;
	return hip.hipIpcCloseMemHandle(inside) == 1 ? 0 : 6;
}

/* A process that opens what it reads from the pipe; before any call. */
static pid_t start_opener(int *to_out)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		bail("pipe");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		_exit(open_there(ends[0]));
	}
	close(ends[0]);
	*to_out = ends[1];
	return pid;
}

static void test_handle(pid_t opener, int to)
{
	hipIpcMemHandle_t handle;
	char *block = NULL;
	void *again;
	int status = -1;

	(void)hip.hipMalloc((void **)&block, GRANULE);
	(void)hip.hipMemcpy(block + 4096, "in the middle", 14,
			    hipMemcpyDefault);
	is_int(hip.hipIpcGetMemHandle(&handle, &status), 1,
	       "of what is not HIP's: 1");
	is_int(hip.hipIpcGetMemHandle(&handle, block + 4096), 0,
	       "a handle of an address inside");
	is_int(hip.hipIpcOpenMemHandle(&again, handle, major >= 6), 201,
	       "not for the same process: 201");
	ok(write(to, &handle, sizeof(handle)) == sizeof(handle), "sent");
	close(to);
	ok(waitpid(opener, &status, 0) == opener, "the other process");
	is_int(status, 0, "finds it at that address");
	(void)hip.hipFree(block);
}

int main(void)
{
	pid_t openers[8];
	int to[8];

	setenv("FAKECUDA_DEVICES", "2", 1);
	setenv("FAKECUDA_MEMORY", "64MiB", 1);
	setenv("FAKEHIP_VM", "1", 1); /* in .5, too */
	fake_load();
	for (int which = 5; which <= 7; which++) {
		hip_load(which);
		openers[which] = start_opener(&to[which]);
		ok(in_process("FAKEHIP_VM", "0", without),
		   "libamdhip64.so.%d without virtual memory", which);
	}
	for (int which = 5; which <= 7; which++) {
		hip_load(which);
		test_memory();
		test_placement();
		test_descriptor();
		test_handle(openers[which], to[which]);
		is_uint(held().handles + held().mappings + held().reservations,
			0, "all are gone");
	}
	return done_testing();
}
