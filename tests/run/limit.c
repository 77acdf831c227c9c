/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a program meets under `gpumem-run --limit=64MiB`, over the double of
 * NVIDIA's driver, which says how much it has given.
 */
#include "pool.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NO_MEMORY = 2, INVALID = 1, THREADS = 8 };

#define LIMIT (64 * MIB)

static void *context;

static uint64_t given(void)
{
	struct fakecuda_held held;

	cu.audit(&held);
	return held.used_bytes;
}

static void see(size_t free_bytes)
{
	size_t left, all;

	OK(cu.cuMemGetInfo_v2(&left, &all));
	TRUE(left == free_bytes && all == LIMIT);
}

/* Each function that allocates, at the limit and one byte above it. */
static void kinds(void)
{
	struct prop prop = {1, 0, 1, 0, NULL, {0}};
	address a, b, c, d;
	size_t pitch;

	see(LIMIT);
	TRUE(cu.cuMemAlloc_v2(&a, LIMIT + 1) == NO_MEMORY);
	TRUE(cu.cuMemAlloc_v2(&a, SIZE_MAX) == NO_MEMORY);
	TRUE(cu.cuMemAlloc_v2(NULL, LIMIT + 1) == INVALID);
	TRUE(given() == 0);
	OK(cu.cuMemAlloc_v2(&a, LIMIT));
	TRUE(cu.cuMemAlloc_v2(&b, 1) == NO_MEMORY);
	TRUE(cu.cuMemAllocManaged(&b, 1, 1) == NO_MEMORY);
	TRUE(cu.cuMemAllocAsync(&b, 1, NULL) == NO_MEMORY);
	TRUE(cu.cuMemAllocPitch_v2(&b, &pitch, 1, 1, 4) == NO_MEMORY);
	TRUE(cu.cuMemCreate(&b, 2 * MIB, &prop, 0) == NO_MEMORY);
	see(0);
	OK(cu.cuMemFree_v2(a));
	see(LIMIT);
	OK(cu.cuMemAllocManaged(&a, 16 * MIB, 1));
	OK(cu.cuMemAllocAsync(&b, 16 * MIB, NULL));
	OK(cu.cuMemAllocPitch_v2(&c, &pitch, 1000, 16384, 4));
	OK(cu.cuMemCreate(&d, 16 * MIB, &prop, 0));
	see(0);
	TRUE(cu.cuMemAllocPitch_v2(&a, &pitch, SIZE_MAX, 2, 4) == NO_MEMORY);
	OK(cu.cuMemFree_v2(a));
	OK(cu.cuMemFreeAsync(b, NULL));
	OK(cu.cuMemFree_v2(c));
	OK(cu.cuMemRelease(d));
	see(LIMIT);
	OK(cu.cuMemAlloc_v2(&a, LIMIT));
}

/* What the driver refuses, or frees at another time, is not counted for ever.
 */
static void failures(void)
{
	void *other;
	address a;

	for (int i = 0; i < 100; i++) {
		TRUE(cu.fault("cuMemAlloc", 1, false, INVALID));
		TRUE(cu.cuMemAlloc_v2(&a, LIMIT) == INVALID);
		cu.heal();
	}
	TRUE(cu.cuMemAlloc_v2(&a, 0) == INVALID);
	TRUE(cu.cuMemFree_v2(12345) == INVALID);
	see(LIMIT);
	OK(cu.cuCtxCreate_v2(&other, 0, 0));
	OK(cu.cuMemAlloc_v2(&a, LIMIT));
	OK(cu.cuCtxDestroy_v2(other));
	OK(cu.cuCtxSetCurrent(context));
	see(LIMIT);
	OK(cu.cuMemAlloc_v2(&a, LIMIT));
	TRUE(cu.fault("cuMemFree", 1, true, INVALID));
	(void)cu.cuCtxSetCurrent(context);
	OK(cu.cuIpcGetMemHandle((char[64]){0}, a)); /* and so it is not kept */
	TRUE(cu.cuMemFree_v2(a) == INVALID);
	TRUE(cu.cuMemAlloc_v2(&a, 1) == NO_MEMORY);
	cu.heal();
}

/* What is kept goes before a call is refused; no more than it has to. */
static void kept(void)
{
	address blocks[8], large;
	struct whole whole;

	for (int i = 0; i < 8; i++)
		blocks[i] = alloc(8 * MIB);
	for (int i = 0; i < 8; i++)
		release(blocks[i]);
	see(LIMIT);
	TRUE(given() > 0);
	large = alloc(48 * MIB);
	see(16 * MIB);
	TRUE(given() == LIMIT);
	release(large);
	OK(cu.cuMemAllocManaged(&large, LIMIT, 1));
	TRUE(given() == LIMIT);
	OK(cu.cuMemFree_v2(large));
	for (int i = 0; i < 20; i++) {
		whole = whole_new(32 * MIB);
		see(32 * MIB);
		whole_end(whole);
		see(LIMIT);
	}
	OK(cu.cuMemAlloc_v2(&large, LIMIT));
	TRUE(given() == LIMIT);
	see(0);
}

/* A handle is there until it is released as often as the program got it. */
static void retained(void)
{
	struct whole whole = whole_new(32 * MIB);
	address other;

	OK(cu.cuMemRetainAllocationHandle(&other, whole.block));
	OK(cu.cuMemRelease(other));
	see(32 * MIB);
	OK(cu.cuMemRetainAllocationHandle(&other, whole.block));
	OK(cu.cuMemRelease(whole.handle));
	OK(cu.cuMemUnmap(whole.block, whole.bytes));
	see(32 * MIB);
	TRUE(given() == 32 * MIB);
	OK(cu.cuMemRelease(other));
	see(LIMIT);
	OK(cu.cuMemAddressFree(whole.block, whole.bytes));
	TRUE(given() == 0);
}

/* One that is released is the program's to take back, whatever it calls next.
 */
static void wholes(void)
{
	struct whole whole;
	address a;

	for (int i = 0; i < 3; i++)
		whole_end(whole_new(32 * MIB));
	whole = whole_new(32 * MIB);
	OK(cu.cuMemUnmap(whole.block, whole.bytes));
	OK(cu.cuMemRelease(whole.handle));
	OK(cu.cuMemAlloc_v2(&a, LIMIT));
	TRUE(given() == LIMIT);
	OK(cu.cuMemFree_v2(a));
	see(LIMIT);
}

/* A device has a limit of its own. */
static void devices(void)
{
	size_t bytes = 0;
	address a;
	void *second;
	int (*total)(size_t *, int);

	*(void **)&total =
		dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuDeviceTotalMem_v2");
	OK(total(&bytes, 1));
	TRUE(bytes == LIMIT);
	TRUE(total(&bytes, 99) != 0);
	OK(cu.cuMemAlloc_v2(&a, LIMIT));
	OK(cu.cuDevicePrimaryCtxRetain(&second, 1));
	OK(cu.cuCtxSetCurrent(second));
	see(LIMIT);
	OK(cu.cuMemAlloc_v2(&a, LIMIT));
	TRUE(cu.cuMemAlloc_v2(&a, 1) == NO_MEMORY);
}

/* ---- threads ---------------------------------------------------------------
 */

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

static void threads(void)
{
	address a;

	run_all(take);
	TRUE(got == LIMIT / MIB && given() == LIMIT);
	for (unsigned i = 0; i < got; i++)
		OK(cu.cuMemFree_v2(taken[i]));
	run_all(churn);
	see(LIMIT);
	run_all(fit);
	OK(cu.cuMemAlloc_v2(&a, LIMIT));
}

/* ---- processes --------------------------------------------------------------
 */

static void child(void)
{
	pid_t pid = fork();
	int status;
	address a;

	if (!pid) {
		(void)begin();
		OK(cu.cuMemAlloc_v2(&a, LIMIT));
		TRUE(cu.cuMemAlloc_v2(&a, 1) == NO_MEMORY);
		_exit(7);
	}
	waitpid(pid, &status, 0);
	TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	context = begin();
	OK(cu.cuMemAlloc_v2(&a, LIMIT));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"kinds", kinds},	   {"failures", failures},
		     {"kept", kept},	   {"wholes", wholes},
		     {"devices", devices}, {"threads", threads},
		     {"child", child},	   {"retained", retained}};

	alarm(120);
	if (argc > 1 && strcmp(argv[1], "child"))
		context = begin();
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(cases[i].name, argv[1])) {
			cases[i].run();
			if (argc > 2)
				raise(9);
			return 0;
		}
	return 2;
}
