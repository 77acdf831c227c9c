/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See pool.h. Each address has a number that grows when it is handed out; a
 * kernel remembers the number of its block and looks at it when it runs.
 */
#include "pool.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define PLACES 65536

struct driver cu;

static struct place {
	address block;
	unsigned turn;
} places[PLACES];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned launched, over;

struct kernel {
	address block;
	unsigned turn;
};

void wrong(const char *file, int line, const char *what)
{
	printf("%s:%d: %s\n", file, line, what);
	fflush(stdout);
	_Exit(1);
}

void *begin(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;

	TRUE(library);
#define FIND(name, parameters) *(void **)&cu.name = dlsym(library, #name);
	DRIVER(FIND)
#undef FIND
	*(void **)&cu.audit = dlsym(library, "fakecuda_audit");
	*(void **)&cu.stepping = dlsym(library, "fakecuda_stepping");
	*(void **)&cu.step = dlsym(library, "fakecuda_step");
	*(void **)&cu.waits = dlsym(library, "fakecuda_waits");
	*(void **)&cu.calls = dlsym(library, "fakecuda_calls");
	*(void **)&cu.fault = dlsym(library, "fakecuda_fault");
	*(void **)&cu.heal = dlsym(library, "fakecuda_heal");
	*(void **)&cu.lose = dlsym(library, "fakecuda_lose");
	*(void **)&cu.recycle = dlsym(library, "fakecuda_recycle");
	*(void **)&cu.deinit = dlsym(library, "fakecuda_deinit");
	OK(cu.cuInit(0));
	OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
	OK(cu.cuCtxSetCurrent(context));
	return context;
}

/* With the mutex. */
static struct place *place_of(address block)
{
	size_t at = (block >> 9) % PLACES;

	while (places[at].block && places[at].block != block)
		at = (at + 1) % PLACES;
	places[at].block = block;
	return &places[at];
}

void handed_out(address block)
{
	pthread_mutex_lock(&mutex);
	place_of(block)->turn++;
	pthread_mutex_unlock(&mutex);
}

address alloc(size_t bytes)
{
	address block = 0;

	OK(cu.cuMemAlloc_v2(&block, bytes));
	TRUE(block);
	handed_out(block);
	return block;
}

struct whole whole_new(size_t bytes)
{
	struct prop prop = {1, 0, 1, 0, NULL, {0}};
	struct access access = {1, 0, 3};
	struct whole whole = {.bytes = bytes};

	OK(cu.cuMemCreate(&whole.handle, bytes, &prop, 0));
	OK(cu.cuMemAddressReserve(&whole.block, bytes, 2 * MIB, 0, 0));
	OK(cu.cuMemMap(whole.block, bytes, 0, whole.handle, 0));
	OK(cu.cuMemSetAccess(whole.block, bytes, &access, 1));
	handed_out(whole.block);
	return whole;
}

void whole_end(struct whole whole)
{
	OK(cu.cuMemUnmap(whole.block, whole.bytes));
	OK(cu.cuMemRelease(whole.handle));
	OK(cu.cuMemAddressFree(whole.block, whole.bytes));
}

void release(address block)
{
	OK(cu.cuMemFree_v2(block));
}

uint64_t driver_frees(void)
{
	return cu.calls("cuMemFree");
}

static void run(void *argument)
{
	struct kernel *kernel = argument;
	unsigned turn;

	pthread_mutex_lock(&mutex);
	turn = place_of(kernel->block)->turn;
	over++;
	pthread_mutex_unlock(&mutex);
	if (turn != kernel->turn)
		wrong(__FILE__, __LINE__, "a block was handed out too early");
	free(kernel);
}

void launch(void *stream, address block)
{
	struct kernel *kernel = malloc(sizeof(*kernel));

	pthread_mutex_lock(&mutex);
	*kernel = (struct kernel){block, place_of(block)->turn};
	launched++;
	pthread_mutex_unlock(&mutex);
	OK(cu.cuLaunchHostFunc(stream, run, kernel));
}

unsigned running(void)
{
	unsigned count;

	pthread_mutex_lock(&mutex);
	count = launched - over;
	pthread_mutex_unlock(&mutex);
	return count;
}
