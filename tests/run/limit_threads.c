/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Cases of the program limit: threads that allocate and free at once, while
 * what the double has given is looked at. No lock: the counters are atomic, and
 * an element of `taken` has one writer.
 */
#include "limit.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 8 };

static _Atomic unsigned got, running_threads;
static address taken[1000];

static void *take(void *unused)
{
	address a;

	(void)unused;
	OK(cu.cuCtxSetCurrent(context));
	while (!cu.cuMemAlloc_v2(&a, MIB))
		taken[got++] = a;
	return NULL;
}

static void *churn(void *number)
{
	unsigned seed = (unsigned)(uintptr_t)number;
	address blocks[4] = {0}, next;

	OK(cu.cuCtxSetCurrent(context));
	for (int i = 0; i < 400; i++) {
		unsigned at = (seed = seed * 1103515245 + 12345) >> 16 & 3;
		size_t bytes = (size_t)(seed >> 20 & 7) * 2 * MIB + 2 * MIB;

		if (blocks[at])
			OK(cu.cuMemFree_v2(blocks[at]));
		blocks[at] = 0;
		if (seed >> 28 & 1 ? !cu.cuMemAllocManaged(&next, bytes, 1)
				   : !cu.cuMemAlloc_v2(&next, bytes))
			blocks[at] = next;
		TRUE(given() <= LIMIT);
	}
	for (int i = 0; i < 4; i++)
		if (blocks[i])
			OK(cu.cuMemFree_v2(blocks[i]));
	running_threads--;
	return NULL;
}

/* Those that fit at every instant are never refused, whoever gives back what.
 */
static void *fit(void *unused)
{
	address a;

	(void)unused;
	OK(cu.cuCtxSetCurrent(context));
	for (size_t i = 0; i < 200; i++) {
		OK(cu.cuMemAlloc_v2(&a, LIMIT / THREADS - i * 4096));
		OK(cu.cuMemFree_v2(a));
	}
	return NULL;
}

static void run_all(void *(*run)(void *))
{
	pthread_t threads[THREADS];

	running_threads = THREADS;
	for (uintptr_t i = 0; i < THREADS; i++)
		TRUE(!pthread_create(&threads[i], NULL, run, (void *)(i + 1)));
	while (run == churn && running_threads)
		TRUE(given() <= LIMIT);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

void churning(void)
{
	run_all(take);
	TRUE(got == LIMIT / MIB && given() == LIMIT);
	for (unsigned i = 0; i < got; i++)
		OK(cu.cuMemFree_v2(taken[i]));
	run_all(churn);
	see(LIMIT);
}

void threads(void)
{
	address a;

	churning();
	run_all(fit);
	OK(cu.cuMemAlloc_v2(&a, LIMIT));
}
