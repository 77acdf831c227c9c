/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Threads that allocate at the same time, see opencl_limit.h.
 */
#include "opencl_limit.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4 };

static _Atomic unsigned got;
static pthread_barrier_t start;

static void *take(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&start);
	while (buffer(LIMIT / 64))
		got++;
	return NULL;
}

/* Any of these may be refused; its holder frees it soon. */
static void *churn(void *number)
{
	unsigned seed = (unsigned)(uintptr_t)number;
	cl_mem memory;
	void *address;

	pthread_barrier_wait(&start);
	for (int i = 0; i < 2000; i++) {
		size_t side = (seed = seed * 1103515245 + 12345) >> 16 & 511;

		memory = i & 1 ? buffer(4 * side * 1024 + 1)
			       : image(side + 1, 1024);
		address =
			clSVMAlloc(context, CL_MEM_READ_WRITE, side * 4096, 0);
		if (address)
			clSVMFree(context, address);
		if (memory)
			release(memory);
	}
	return NULL;
}

/* Those that fit at every instant are never refused. */
static void *fit(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&start);
	for (int i = 0; i < 2000; i++)
		release(buffer(LIMIT / THREADS));
	return NULL;
}

static void *shared(void *number)
{
	unsigned seed = (unsigned)(uintptr_t)number;
	void *address;

	pthread_barrier_wait(&start);
	for (int i = 0; i < 200; i++) {
		size_t pages = (seed = seed * 1103515245 + 12345) >> 16 & 511;

		address = clSVMAlloc(context, CL_MEM_READ_WRITE,
				     (pages + 1) * 4096, 0);
		if (address)
			clSVMFree(context, address);
	}
	return NULL;
}

static void run_all(void *(*run)(void *))
{
	pthread_t all[THREADS];

	pthread_barrier_init(&start, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		TRUE(!pthread_create(&all[i], NULL, run, (void *)(i + 1)));
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
}

void threads(void)
{
	run_all(churn);
	left(LIMIT);
	run_all(fit);
	left(LIMIT);
	run_all(take);
	TRUE(got == 64);
	left(0);
}

void race(void)
{
	run_all(shared);
	run_all(take);
	TRUE(got == 64);
}
