/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The opencl backend's own account of a device: never more than its capacity,
 * whoever asks at once, and by whichever context.
 */
#include "fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS 8
#define ROUNDS 200
#define CAPACITY (64 * MIB)
#define PIECE (10 * MIB) /* six of them fit */

static atomic_int live, most, refused, wrong;

static void hold(void *device)
{
	uint64_t address = UNTOUCHED;
	gpumem_status status = gpu->alloc(device, PIECE, &address);
	int now, seen;

	if (status == GPUMEM_NO_MEMORY) {
		refused++;
		wrong += address != UNTOUCHED;
		return;
	}
	wrong += status != GPUMEM_OK;
	if (status != GPUMEM_OK)
		return;
	now = ++live;
	seen = most;
	while (now > seen && !atomic_compare_exchange_weak(&most, &seen, now))
		continue;
	wrong += free_bytes(device) > CAPACITY - PIECE;
	sched_yield();
	live--;
	wrong += gpu->free(device, address, PIECE) != GPUMEM_OK;
}

static void *work(void *device)
{
	int i;

	for (i = 0; i < ROUNDS; i++)
		hold(device);
	return NULL;
}

static void test_threads(void *device, void *same)
{
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work,
				   i % 2 ? same : device))
			bail("pthread_create");
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	is_int(wrong, 0, "%d threads: every call is right", THREADS);
	ok(most >= 1 && most <= 6, "at most six pieces at once: %d", most);
	diag("%d refused", refused);
	is_uint(free_bytes(device), CAPACITY, "and all are back");
}

static void test_bound(void *device, void *same)
{
	uint64_t half = take(device, CAPACITY / 2), rest, out = UNTOUCHED;

	is_uint(free_bytes(device), CAPACITY / 2, "half is free");
	is_uint(free_bytes(same), CAPACITY / 2, "in the other context too");
	said.count = 0;
	is_status(gpu->alloc(same, CAPACITY / 2 + 64 * KIB, &out),
		  GPUMEM_NO_MEMORY, "no more than the other half");
	is_uint(out, UNTOUCHED, "and no address");
	is_uint(said.count, 1, "and one sentence");
	is_int(said.code, 0, "of our own");
	says("33554432 of 67108864 are in use (option opencl.capacity)");
	rest = take(same, CAPACITY / 2);
	is_uint(free_bytes(device), 0, "nothing is free");
	is_status(gpu->alloc(device, 64 * KIB, &out), GPUMEM_NO_MEMORY,
		  "not even a little");
	is_status(gpu->free(device, half, CAPACITY / 2), GPUMEM_OK, "free");
	is_status(gpu->alloc(device, CAPACITY / 2, &half), GPUMEM_OK,
		  "and it fits again");
	is_status(gpu->free(device, half, CAPACITY / 2), GPUMEM_OK, "free");
	is_status(gpu->free(same, rest, CAPACITY / 2), GPUMEM_OK, "all");
}

static void try(const char *memory)
{
	void *native = native_device(0), *context = new_context(native);
	void *device, *same;
	int index = -1;

	diag("memory: %s", memory);
	memory_option = memory;
	if (gpu->device_adopt(context, native, &index) != GPUMEM_OK)
		bail("%s", said.text);
	device = open_device(0);
	same = open_device(index);
	live = most = refused = 0;
	test_bound(device, same);
	test_threads(device, same);
	gpu->device_close(same);
	gpu->device_close(device);
	cl.clReleaseContext(context);
}

int main(void)
{
	opencl_start();
	capacity_option = "67108864";
	try("svm");
	try("buffer");
	return done_testing();
}
