/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The double of NVIDIA's driver: streams with threads of their own, used by
 * many threads at once.
 */
#include "cuda.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS 4

static CUcontext primary;
static CUstream streams[THREADS];
static CUevent events[THREADS];
static _Atomic int ran, wrong;

static void count(void *arg)
{
	(void)arg;
	atomic_fetch_add(&ran, 1);
}

struct door {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool reached, open;
};

static void kernel(void *arg)
{
	struct door *door = arg;

	pthread_mutex_lock(&door->mutex);
	door->reached = true;
	pthread_cond_broadcast(&door->changed);
	while (!door->open)
		pthread_cond_wait(&door->changed, &door->mutex);
	pthread_mutex_unlock(&door->mutex);
}

static void test_running(void)
{
	struct door door = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
			    false, false};
	CUstream stream = new_stream(1), other = new_stream(1);
	CUdeviceptr block;
	size_t bytes;

	is_int(cu.cuLaunchHostFunc(stream, kernel, &door), 0, "a kernel");
	pthread_mutex_lock(&door.mutex);
	while (!door.reached)
		pthread_cond_wait(&door.changed, &door.mutex);
	pthread_mutex_unlock(&door.mutex);
	ok(door.reached, "starts by itself");
	is_int(cu.cuStreamQuery(stream), 600, "it runs");
	is_int(cu.cuStreamSynchronize(other), 0, "another stream is idle");
	is_int(cu.cuMemAlloc_v2(&block, 64), 0, "memory can be had");
	is_int(cu.cuMemGetInfo_v2(&bytes, &bytes), 0, "and asked for");
	is_uint(control.waits(), 0, "without waiting");
	is_int(cu.cuStreamDestroy_v2(stream), 0, "destroy does not wait");
	pthread_mutex_lock(&door.mutex);
	door.open = true;
	pthread_cond_broadcast(&door.changed);
	pthread_mutex_unlock(&door.mutex);
	is_int(cu.cuMemFree_v2(block), 0, "freeing waits for it");
	(void)cu.cuStreamDestroy_v2(other);
}

static void *churn(void *arg)
{
	long self = (long)(intptr_t)arg, rounds = scaled(2000, 200);
	CUstream stream = streams[self];
	CUevent event;
	CUdeviceptr block;

	(void)cu.cuCtxPushCurrent_v2(primary);
	for (long i = 0; i < rounds; i++) {
		block = new_block(4096);
		event = events[(self + i) % THREADS];
		wrong += cu.cuStreamWaitEvent(stream, event, 0) != 0;
		wrong += cu.cuMemsetD8Async(block, 7, 4096, stream) != 0;
		wrong += cu.cuLaunchHostFunc(stream, count, NULL) != 0;
		wrong += cu.cuEventRecord(events[self], stream) != 0;
		wrong += cu.cuEventSynchronize(events[self]) != 0;
		wrong += *(char *)memory_at(block) != 7;
		wrong += cu.cuMemFree_v2(block) != 0;
	}
	return NULL;
}

static void test_churn(void)
{
	pthread_t threads[THREADS];

	for (long i = 0; i < THREADS; i++) {
		streams[i] = new_stream(i % 2);
		events[i] = new_event();
	}
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, churn,
				   (void *)(intptr_t)i))
			bail("no thread");
	for (long i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	is_int(wrong, 0, "every call is good, and every byte");
	is_int(ran, THREADS * scaled(2000, 200), "every function ran");
	for (long i = 0; i < THREADS; i++) {
		(void)cu.cuStreamDestroy_v2(streams[i]);
		(void)cu.cuEventDestroy_v2(events[i]);
	}
	is_uint(held().allocs + held().streams + held().events, 0,
		"nothing is held");
	is_uint(held().used_bytes, 0, "nor memory");
}

int main(void)
{
	alarm(120);
	setenv("FAKECUDA_ASYNC", "1", 1);
	primary = fake_start();
	test_running();
	test_churn();
	return done_testing();
}
