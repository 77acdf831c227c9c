/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A program of run_exact.py, which says what it prints and reads: one kind of
 * memory of NVIDIA's driver, as its argument names it, in odd sizes. It reaches
 * the driver as tests/run/driver.c does, by dlopen(). Not what is expected of
 * it.
 */
#define _GNU_SOURCE
#include "../run/cases.h"
#include "../run/driver.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { COUNT = 12, USED = 7, RESERVED = 5 }; /* CU_MEMPOOL_ATTR_..._CURRENT */

static const size_t sizes[COUNT] = {1,	     511,     513,	4097,
				    100001,  1048576, 40000,	1048577,
				    2097152, 3000001, 20971519, 67108865};

/* What the default pool of streams has of the driver, and holds, if it is
 * known. */
static bool pool_bytes(unsigned long long *reserved_out,
		       unsigned long long *used_out)
{
	int (*get_pool)(void **, int) =
		dlsym(RTLD_DEFAULT, "cuDeviceGetDefaultMemPool");
	int (*get)(void *, int, void *) =
		dlsym(RTLD_DEFAULT, "cuMemPoolGetAttribute");
	void *pool;

	return get_pool && get && !get_pool(&pool, 0) &&
	       !get(pool, RESERVED, reserved_out) && !get(pool, USED, used_out);
}

/* Waits until it was looked at from outside. */
static void phase(const char *name)
{
	size_t free_bytes = 0, total_bytes = 0;
	unsigned long long reserved, used;
	char line[16];

	CALL(cuCtxSynchronize, (void), ());
	CALL(cuMemGetInfo_v2, (size_t *, size_t *),
	     (&free_bytes, &total_bytes));
	printf("{\"phase\": \"%s\", \"pid\": %d, \"used\": %zu", name, getpid(),
	       total_bytes - free_bytes);
	if (pool_bytes(&reserved, &used))
		printf(", \"pool_reserved\": %llu, \"pool_used\": %llu",
		       reserved, used);
	puts("}");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(1);
}

static void use_plain(void)
{
	address blocks[COUNT];

	release(alloc(1));
	release(alloc(3 << 20));
	phase("base");
	for (int i = 0; i < COUNT; i++)
		blocks[i] = alloc(sizes[i]);
	phase("allocated");
	for (int i = 0; i < COUNT; i += 2)
		release(blocks[i]);
	phase("half of it freed");
}

static address alloc_async(size_t bytes)
{
	address block = 0;

	CALL(cuMemAllocAsync, (address *, size_t, void *),
	     (&block, bytes, NULL));
	return block;
}

static void free_async(address block)
{
	CALL(cuMemFreeAsync, (address, void *), (block, NULL));
}

static void use_async(void)
{
	address blocks[COUNT];

	free_async(alloc_async(3 << 20));
	phase("base");
	for (int i = 0; i < COUNT; i++)
		blocks[i] = alloc_async(sizes[i]);
	phase("allocated");
	for (int i = 0; i < COUNT; i += 2)
		free_async(blocks[i]);
	phase("half of it freed");
}

static void use_virtual(void)
{
	const size_t pages[] = {2 << 20, 6 << 20, 64 << 20};
	address ranges[3];

	CALL(cuMemUnmap, (address, size_t), (map_handle(2 << 20), 2 << 20));
	phase("base");
	for (int i = 0; i < 3; i++)
		ranges[i] = map_handle(pages[i]);
	phase("mapped");
	CALL(cuMemUnmap, (address, size_t), (ranges[1], pages[1]));
	phase("a part of it unmapped");
}

static const struct run_case cases[] = {
	{"plain", use_plain}, {"async", use_async}, {"virtual", use_virtual}};

int main(int argc, char **argv)
{
	void *context;

	if (argc < 2 || !open_driver("default", 0))
		return 2;
	CALL(cuInit, (unsigned), (0));
	CALL(cuDevicePrimaryCtxRetain, (void **, int), (&context, 0));
	CALL(cuCtxSetCurrent, (void *), (context));
	if (!RUN_CASE(cases, argv[1]))
		return 2;
	raise(SIGKILL);
}
