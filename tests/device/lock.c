/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * On a real NVIDIA GPU, without the library: how long one call of the driver
 * takes while another thread unmaps and releases memory, in steps as a trim
 * does. What pools make of it is in give_way.c. It decides nothing. Built and
 * run by tests/device/run.sh.
 */
#include "calls.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define PAGE ((size_t)2 << 20)

enum { PAGES = 5120, STEP = 64, CALLS = 5 };

static const char *const name[CALLS] = {"create", "map", "set access", "unmap",
					"release"};

static CUmemAllocationProp prop;
static CUmemAccessDesc access_desc;
static CUmemGenericAllocationHandle handle[PAGES];
static CUdeviceptr range, place;
static CUcontext context;
static atomic_bool over;

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void fill_range(void)
{
	for (size_t i = 0; i < PAGES; i++) {
		CALL(cuMemCreate(&handle[i], PAGE, &prop, 0));
		CALL(cuMemMap(range + i * PAGE, PAGE, 0, handle[i], 0));
	}
	CALL(cuMemSetAccess(range, PAGES * PAGE, &access_desc, 1));
}

static void *give_range_back(void *unused)
{
	(void)unused;
	CALL(cuCtxSetCurrent(context));
	for (size_t i = 0; i < PAGES; i += STEP) {
		CALL(cuMemUnmap(range + i * PAGE, STEP * PAGE));
		for (size_t k = 0; k < STEP; k++)
			CALL(cuMemRelease(handle[i + k]));
	}
	atomic_store(&over, true);
	return NULL;
}

/* One page comes and goes; how long each call took. */
static void page_once(double us[CALLS])
{
	CUmemGenericAllocationHandle page;
	double at[CALLS + 1];

	at[0] = now_us();
	CALL(cuMemCreate(&page, PAGE, &prop, 0));
	at[1] = now_us();
	CALL(cuMemMap(place, PAGE, 0, page, 0));
	at[2] = now_us();
	CALL(cuMemSetAccess(place, PAGE, &access_desc, 1));
	at[3] = now_us();
	CALL(cuMemUnmap(place, PAGE));
	at[4] = now_us();
	CALL(cuMemRelease(page));
	at[5] = now_us();
	for (int i = 0; i < CALLS; i++)
		us[i] = at[i + 1] - at[i];
}

struct seen {
	double sum, longest;
};

static void look(struct seen seen[CALLS])
{
	double us[CALLS];

	page_once(us);
	for (int i = 0; i < CALLS; i++) {
		seen[i].sum += us[i];
		if (us[i] > seen[i].longest)
			seen[i].longest = us[i];
	}
}

static void tell(const char *when, const struct seen seen[CALLS], size_t times)
{
	for (int i = 0; i < CALLS; i++)
		diag("%s: %-10s %8.1f us, the longest %9.1f us", when, name[i],
		     seen[i].sum / (double)times, seen[i].longest);
}

static void test_beside(void)
{
	struct seen alone[CALLS] = {0}, beside[CALLS] = {0};
	size_t times = 0;
	pthread_t thread;

	for (int i = 0; i < 1000; i++)
		look(alone);
	tell("alone", alone, 1000);
	for (int round = 0; round < 4; round++) {
		fill_range();
		atomic_store(&over, false);
		if (pthread_create(&thread, NULL, give_range_back, NULL))
			bail("no thread");
		for (; !atomic_load(&over); times++)
			look(beside);
		pthread_join(thread, NULL);
	}
	ok(times > 0, "calls were made beside those of another thread");
	if (times)
		tell("beside", beside, times);
}

int main(void)
{
	CUdevice device = start_cuda();

	CALL(cuCtxGetCurrent(&context));
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	prop.location.id = device;
	access_desc.location = prop.location;
	access_desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	CALL(cuMemAddressReserve(&range, PAGES * PAGE, 0, 0, 0));
	CALL(cuMemAddressReserve(&place, PAGE, 0, 0, 0));
	test_beside();
	return done_testing();
}
