/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a program does while `gpumem-run --record` records it, for
 * tests/tool_run_record.sh, over the double of NVIDIA's driver.
 */
#include "cases.h"
#include "pool.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 3000 };

static void *context;
static const char *argument; /* NULL: none */

/* Memory of each kind, of which some is left. */
static void kinds(void)
{
	address a, b, c;
	size_t pitch;

	release(alloc(3 * MIB));
	OK(cu.cuMemAllocPitch_v2(&a, &pitch, 1000, 100, 4));
	OK(cu.cuMemAllocManaged(&b, 5 * MIB, 1));
	OK(cu.cuMemAllocAsync(&c, 7 * MIB, NULL));
	for (int i = 0; i < 4; i++)
		whole_end(whole_new(2 * MIB));
	for (int i = 0; i < 3; i++)
		(void)whole_new(2 * MIB);
	OK(cu.cuMemFree_v2(a));
	OK(cu.cuMemFree_v2(b));
	OK(cu.cuMemFree_v2(c));
	(void)alloc(MIB);
}

/* The same block twice, as with a pool. */
static void again(void)
{
	for (int i = 0; i < 10; i++)
		release(alloc(MIB));
}

/* The first call that is recorded, while no file may be large; it is refused,
 * since the driver's double needs a file for memory. */
static void limited(void)
{
	struct rlimit before, small;
	address block;

	TRUE(!getrlimit(RLIMIT_FSIZE, &before));
	small = before;
	small.rlim_cur = MIB / 2;
	TRUE(!setrlimit(RLIMIT_FSIZE, &small));
	TRUE(cu.cuMemAlloc_v2(&block, (size_t)1 << 50) == 2);
	TRUE(!setrlimit(RLIMIT_FSIZE, &before));
	release(alloc(MIB));
}

/* One that the driver does not free is live as it was. */
static void refused(void)
{
	address a = alloc(MIB);

	OK(cu.cuIpcGetMemHandle((char[64]){0}, a)); /* and so it is not kept */
	TRUE(cu.fault("cuMemFree", 1, true, 1));
	TRUE(cu.cuMemFree_v2(a) == 1);
	cu.heal();
	(void)alloc(MIB);
}

/* Streams are numbered as they come, 0 is the legacy one. */
static void streams(void)
{
	void *one, *two, *driver = dlopen("libcuda.so.1", RTLD_NOW);
	int (*of_thread)(address *, size_t, void *);
	address a, b, c, d;

	*(void **)&of_thread = dlsym(driver, "cuMemAllocAsync_ptsz");
	OK(cu.cuStreamCreate(&one, 1));
	OK(cu.cuStreamCreate(&two, 1));
	OK(cu.cuMemAllocAsync(&a, 4096, one));
	OK(cu.cuMemAllocAsync(&b, 8192, LEGACY));
	OK(cu.cuMemAllocAsync(&c, 12288, two));
	OK(of_thread(&d, 16384, NULL));
	OK(cu.cuMemFreeAsync(a, two));
	OK(cu.cuMemFreeAsync(b, NULL));
	OK(cu.cuMemFree_v2(c));
	OK(cu.cuMemFreeAsync(d, PER_THREAD));
}

/* ---- threads ---------------------------------------------------------------
 */

static _Atomic unsigned rounds;

static void *churn(void *seed_of)
{
	unsigned seed = (unsigned)(uintptr_t)seed_of;
	address blocks[8] = {0};

	OK(cu.cuCtxSetCurrent(context));
	for (int i = 0; i < ROUNDS; i++, rounds++) {
		unsigned at = (seed = seed * 1103515245 + 12345) >> 16 & 7;
		size_t bytes = (seed >> 8 & 0xffff) * 64 + 1;

		if (blocks[at])
			OK(cu.cuMemFree_v2(blocks[at]));
		if (seed >> 28 & 1)
			OK(cu.cuMemAlloc_v2(&blocks[at], bytes));
		else if (seed >> 29 & 1)
			OK(cu.cuMemAllocAsync(&blocks[at], bytes, NULL));
		else
			OK(cu.cuMemAllocManaged(&blocks[at], bytes, 1));
	}
	return NULL;
}

static void threads(void)
{
	pthread_t thread[3];

	for (uintptr_t i = 0; i < 3; i++)
		TRUE(!pthread_create(&thread[i], NULL, churn, (void *)(i + 1)));
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
}

/* One that ends leaves what it has not written to the next. */
static void *shortly(void *unused)
{
	(void)unused;
	OK(cu.cuCtxSetCurrent(context));
	release(alloc(MIB));
	return NULL;
}

static void short_threads(void)
{
	pthread_t thread;

	for (int i = 0; i < 100; i++) {
		TRUE(!pthread_create(&thread, NULL, shortly, NULL));
		pthread_join(thread, NULL);
	}
}

/* The process ends while they are at it. */
static void meanwhile(void)
{
	pthread_t thread[2];

	for (uintptr_t i = 0; i < 2; i++)
		TRUE(!pthread_create(&thread[i], NULL, churn, (void *)(i + 1)));
	while (rounds < ROUNDS / 10)
		usleep(100);
	if (argument)
		raise(SIGKILL);
	exit(0);
}

/* ---- processes --------------------------------------------------------------
 */

/* A child exits before its parent has done what is recorded. */
static void parent(void)
{
	address a = alloc(4 * MIB);
	int status;

	if (!fork())
		exit(0);
	wait(&status);
	(void)alloc(2 * MIB);
	release(a);
}

/* Another program in the same process, and one more. */
static void execute(void)
{
	(void)alloc(4 * MIB);
	execl("/proc/self/exe", "record", argument ? "again" : "execute",
	      "last", NULL);
	TRUE(false);
}

/* It closes what it has not opened, and its files get the numbers. */
static void descriptors(void)
{
	address a = alloc(MIB);
	int fd = 0;

	for (int i = 3; i < 1024; i++)
		close(i);
	while (fd < 1000)
		fd = open(argument, O_RDWR | O_CREAT, 0600);
	TRUE(write(fd, "mine", 4) == 4);
	/* No two alike, or their events were short. */
	for (int i = 0; i < 400000; i++)
		release(alloc(MIB + (size_t)i % 60000));
	release(a);
}

int main(int argc, char **argv)
{
	static const struct run_case cases[] = {
		{"kinds", kinds},
		{"again", again},
		{"limited", limited},
		{"refused", refused},
		{"streams", streams},
		{"threads", threads},
		{"short_threads", short_threads},
		{"meanwhile", meanwhile},
		{"parent", parent},
		{"execute", execute},
		{"descriptors", descriptors}};

	alarm(120);
	context = begin();
	argument = argc > 2 ? argv[2] : NULL;
	if (!RUN_CASE(cases, argv[1]))
		return 2;
	printf("done\n");
	return 0;
}
