/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * served_cases CASE: what tests/tool_run_served.sh runs.
 */
#define _GNU_SOURCE
#include "served_cases.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

void *context;

void *stream_new(void)
{
	void *stream;

	OK(cu.cuStreamCreate(&stream, NON_BLOCKING));
	return stream;
}

address take(size_t bytes, void *stream)
{
	address block = 0;

	OK(cu.cuMemAllocAsync(&block, bytes, stream));
	TRUE(block);
	return block;
}

void give(address block, void *stream)
{
	OK(cu.cuMemFreeAsync(block, stream));
}

void *pool_new(int handles, int location, size_t most_bytes)
{
	struct pool_props props = {.type = 1,
				   .handles = handles,
				   .location = location,
				   .most_bytes = most_bytes};
	void *pool;

	OK(cu.cuMemPoolCreate(&pool, &props));
	return pool;
}

void *default_pool(void)
{
	void *pool;

	OK(cu.cuDeviceGetDefaultMemPool(&pool, 0));
	return pool;
}

uint64_t attribute(void *pool, int which)
{
	uint64_t value = 0;

	OK(cu.cuMemPoolGetAttribute(pool, which, &value));
	return value;
}

#define USES 65536

static struct use {
	address block;
	size_t bytes;
	bool over;
} uses[USES];
static unsigned use_count, over_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void run(void *argument)
{
	struct use *use = argument;

	pthread_mutex_lock(&mutex);
	for (struct use *other = uses; other < use; other++)
		TRUE(other->over || other->block >= use->block + use->bytes ||
		     use->block >= other->block + other->bytes);
	use->over = true;
	over_count++;
	pthread_mutex_unlock(&mutex);
}

void work(void *stream, address block, size_t bytes)
{
	struct use *use;

	pthread_mutex_lock(&mutex);
	TRUE(use_count < USES);
	use = &uses[use_count++];
	use->block = block;
	use->bytes = bytes;
	pthread_mutex_unlock(&mutex);
	OK(cu.cuLaunchHostFunc(stream, run, use));
}

unsigned undone(void)
{
	unsigned count;

	pthread_mutex_lock(&mutex);
	count = use_count - over_count;
	pthread_mutex_unlock(&mutex);
	return count;
}

uint64_t passed_on(void)
{
	return cu.calls("cuMemAllocAsync") + cu.calls("cuMemAllocAsync_ptsz") +
	       cu.calls("cuMemAllocFromPoolAsync") +
	       cu.calls("cuMemAllocFromPoolAsync_ptsz");
}

typedef uint64_t trim_function(void);

uint64_t trim(void)
{
	trim_function *function;

	*(void **)&function = dlsym(RTLD_DEFAULT, "gpumem_run_trim");
	TRUE(function);
	return function();
}

uint64_t used_bytes(void)
{
	struct fakecuda_held held;

	cu.audit(&held);
	return held.used_bytes;
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
#define CASE(name) {#name, name},
	SERVED_ORDER_CASES(CASE) SERVED_POOLS_CASES(CASE)
		SERVED_RETURNS_CASES(CASE) SERVED_RANDOM_CASES(CASE)
#undef CASE
};

int main(int argc, char **argv)
{
	TRUE(argc == 2);
	context = begin();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(cases[i].name, argv[1])) {
			cases[i].run();
			return 0;
		}
	wrong(__FILE__, __LINE__, argv[1]);
}
