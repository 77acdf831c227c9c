/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A program that knows nothing of gpumem, for tests/tool_run_hip.sh. It uses
 * AMD's runtime, reached in the way that its first argument names
 * (hip_ways.c):
 *
 *	link      its symbols, with which the program was linked
 *	handle    dlopen() and dlsym()
 *	default   dlopen() for all and dlsym(RTLD_DEFAULT)
 *	get       hipGetProcAddress(); get_spt: the one of threads' streams
 *	entry     hipGetDriverEntryPoint(); entry_spt
 *	absent    not at all: whether there is one
 *
 * Its second says what it does; what it prints depends on neither gpumem nor
 * addresses. A third is the number of the runtime's release, and a fourth the
 * flags for hipGetProcAddress(). Here are devices, children, NVIDIA's driver
 * beside it, and its end; memory of one device is in hip_memory.c.
 */
#define _GNU_SOURCE
#include "hip.h"
#include "cases.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* A reset leaves memory of the host, and handles. */
static void use_devices(void)
{
	int prop[8] = {1, 0, 1, 1};
	void *a, *b;

	a = alloc(1 << 20);
	CALL(hipSetDevice, (int), (1));
	alloc(2 << 20);
	alloc(4 << 20);
	CALL(hipHostMalloc, (void **, size_t, unsigned), (&b, 1000, 0));
	CALL(hipMemCreate, (void **, size_t, const int *, unsigned long long),
	     (&b, 1 << 20, prop, 0));
	release(a);
	CALL(hipDeviceReset, (void), ());
	CALL(hipSetDevice, (int), (0));
	alloc(8 << 20);
}

static void begin(void)
{
	CALL(hipInit, (unsigned), (0));
}

static void fork_first(void)
{
	int status;

	if (!fork()) {
		begin();
		alloc(1 << 20);
		exit(7);
	}
	wait(&status);
	begin();
	release(alloc(2 << 20));
	printf("child %d\n", WEXITSTATUS(status));
}

/* A child that has its parent's memory, as it thinks. */
static void fork_last(void)
{
	void *block;
	int status;

	begin();
	block = alloc(4 << 20);
	if (!fork())
		exit(((int (*)(void *))find("hipFree"))(block));
	wait(&status);
	release(block);
	printf("child %d\n", WEXITSTATUS(status));
}

/* NVIDIA's driver beside it. */
static void use_both(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
	unsigned long long block;

	if (!driver) {
		printf("no driver\n");
		exit(4);
	}
	((int (*)(unsigned))dlsym(driver, "cuInit"))(0);
	((int (*)(void **, int))dlsym(driver, "cuDevicePrimaryCtxRetain"))(
		&context, 0);
	((int (*)(void *))dlsym(driver, "cuCtxSetCurrent"))(context);
	((int (*)(unsigned long long *, size_t))dlsym(driver, "cuMemAlloc_v2"))(
		&block, 5 << 20);
	release(alloc(3 << 20));
	((int (*)(unsigned long long))dlsym(driver, "cuMemFree_v2"))(block);
}

static void use_all(void)
{
	use_memory();
	use_host();
	use_async();
	use_virtual();
}

/* ---- how it ends -----------------------------------------------------------
 */

static void leave(void)
{
	alloc(6 << 20);
	fflush(stdout);
}

static void quit(void)
{
	leave();
	_exit(5);
}

static void crash(void)
{
	leave();
	raise(SIGSEGV);
}

static void killed(void)
{
	leave();
	raise(SIGKILL);
}

/* Those that start the runtime themselves. */
static const struct run_case children[] = {{"fork_first", fork_first},
					   {"fork_last", fork_last}};
static const struct run_case cases[] = {
	{"all", use_all},	  {"memory", use_memory},
	{"host", use_host},	  {"async", use_async},
	{"virtual", use_virtual}, {"plain", use_plain},
	{"devices", use_devices}, {"both", use_both},
	{"rows", use_rows},	  {"streams", use_streams},
	{"leave", leave},	  {"quit", quit},
	{"crash", crash},	  {"kill", killed}};

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "absent")) {
		printf("%s\n",
		       dlsym(RTLD_DEFAULT, "hipMalloc") ? "there" : "none");
		return 6;
	}
	if (!open_runtime(argv[1], argc > 3 ? argv[3] : "6",
			  argc > 4 ? strtoull(argv[4], NULL, 10) : 0)) {
		printf("no runtime\n");
		return 4;
	}
	if (!RUN_CASE(children, argv[2])) {
		begin();
		if (!RUN_CASE(cases, argv[2]))
			return 2;
	}
	printf("done\n");
	return 0;
}
