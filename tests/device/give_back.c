/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * On a real NVIDIA GPU, without the library: how long the driver takes to take
 * back 8 GiB, by the size of the handles that they were created in, while the
 * device is idle and while a kernel runs; and the same of plain allocations.
 * That is the least that a trim of any pool takes. It decides nothing but that
 * no call waits for the kernel. Built and run by tests/device/run.sh.
 */
#include "spin.h"

#include <stdlib.h>

#define ALL (8 * GIB)

static const uint64_t spin_ns = 2000000000u;

static CUmemAllocationProp prop;
static CUmemAccessDesc access_desc;
static CUdeviceptr range;

static void fill(CUmemGenericAllocationHandle *handle, size_t bytes)
{
	for (size_t i = 0; i < ALL / bytes; i++) {
		CALL(cuMemCreate(&handle[i], bytes, &prop, 0));
		CALL(cuMemMap(range + i * bytes, bytes, 0, handle[i], 0));
	}
	CALL(cuMemSetAccess(range, ALL, &access_desc, 1));
}

static void give_back(CUmemGenericAllocationHandle *handle, size_t bytes,
		      bool busy)
{
	double at[3];

	fill(handle, bytes);
	if (busy)
		spin_begin(spin_ns);
	at[0] = now_ms();
	CALL(cuMemUnmap(range, ALL));
	at[1] = now_ms();
	for (size_t i = 0; i < ALL / bytes; i++)
		CALL(cuMemRelease(handle[i]));
	at[2] = now_ms();
	if (busy) {
		ok(spin_runs(), "handles of %zu MiB go back beside a kernel",
		   bytes / MIB);
		spin_wait();
	}
	diag("%s: handles of %5zu MiB: unmap %7.2f ms, release %7.2f ms",
	     busy ? "busy" : "idle", bytes / MIB, at[1] - at[0], at[2] - at[1]);
}

static void test_handles(void)
{
	CUmemGenericAllocationHandle *handle =
		calloc(ALL / (2 * MIB), sizeof(*handle));

	if (!handle)
		bail("no host memory");
	CALL(cuMemAddressReserve(&range, ALL, 0, 0, 0));
	for (size_t bytes = 2 * MIB; bytes <= ALL; bytes *= 8)
		for (int busy = 0; busy < 2; busy++)
			for (int round = 0; round < 3; round++)
				give_back(handle, bytes, busy);
	CALL(cuMemAddressFree(range, ALL));
	free(handle);
}

/* Beside a kernel, cuMemFree() waits for it: that is why nobody frees so. */
static void test_plain(void)
{
	for (size_t bytes = 64 * MIB; bytes <= ALL; bytes *= 128) {
		CUdeviceptr block[ALL / (64 * MIB)];
		double ms;

		for (size_t i = 0; i < ALL / bytes; i++)
			CALL(cuMemAlloc(&block[i], bytes));
		ms = now_ms();
		for (size_t i = 0; i < ALL / bytes; i++)
			CALL(cuMemFree(block[i]));
		diag("idle: cuMemFree() of %5zu MiB each: %7.2f ms",
		     bytes / MIB, now_ms() - ms);
	}
}

int main(void)
{
	CUdevice device = start_cuda();

	spin_load();
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	prop.location.id = device;
	access_desc.location = prop.location;
	access_desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	test_handles();
	test_plain();
	return done_testing();
}
