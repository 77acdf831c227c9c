/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See hip_graph.h.
 */
#define _GNU_SOURCE
#include "hip_graph.h"
#include "../fake/cuda/fakecuda.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

struct runtime hip;
void *stream;
int is_own, version;
static void *library;

static void find(const char *number)
{
	char name[64];

	snprintf(name, sizeof(name), "libamdhip64.so.%s", number);
	library = dlopen(name, RTLD_NOW);
	TRUE(library);
#define FIND(name, parameters) *(void **)&hip.name = dlsym(library, #name);
	RUNTIME(FIND)
	NEW_RUNTIME(FIND)
#undef FIND
#define THERE(name, parameters) TRUE(hip.name);
	RUNTIME(THERE)
#undef THERE
	is_own = dlsym(library, "below_used") != NULL;
	OK(hip.hipRuntimeGetVersion(&version));
	OK(hip.hipStreamCreateWithFlags(&stream, NON_BLOCKING));
}

struct params params_of(size_t bytes, int device)
{
	return (struct params){
		.type = 1, .location = 1, .device = device, .bytes = bytes};
}

struct graph graph_of(size_t bytes)
{
	struct params params = params_of(bytes, 0);
	struct graph made;
	void *node;

	OK(hip.hipGraphCreate(&made.graph, 0));
	OK(hip.hipGraphAddMemAllocNode(&node, made.graph, NULL, 0, &params));
	OK(hip.hipGraphInstantiateWithFlags(&made.exec, made.graph, 0));
	made.block = params.address;
	return made;
}

struct graph captured(void)
{
	struct graph made;
	void *freed, *pool = NULL;

	if (hip.hipDeviceGetDefaultMemPool)
		OK(hip.hipDeviceGetDefaultMemPool(&pool, 0));
	OK(hip.hipStreamBeginCapture(stream, RELAXED));
	OK(hip.hipMallocAsync(&freed, 8 * MIB, stream));
	if (hip.hipMallocFromPoolAsync)
		OK(hip.hipMallocFromPoolAsync(&made.block, 24 * MIB, pool,
					      stream));
	else
		OK(hip.hipMallocAsync(&made.block, 24 * MIB, stream));
	OK(hip.hipFreeAsync(freed, stream));
	OK(hip.hipStreamEndCapture(stream, &made.graph));
	OK(hip.hipGraphInstantiateWithFlags(&made.exec, made.graph, 0));
	return made;
}

void end(struct graph graph)
{
	OK(hip.hipGraphExecDestroy(graph.exec));
	OK(hip.hipGraphDestroy(graph.graph));
}

void *alloc(size_t bytes)
{
	void *block;

	OK(hip.hipMalloc(&block, bytes));
	return block;
}

void release(void *block)
{
	OK(hip.hipFree(block));
}

static uint64_t held_below(void)
{
	size_t (*used)(int) = (size_t(*)(int))dlsym(library, "below_used");

	return used(0) + used(1);
}

uint64_t held(void)
{
	struct fakecuda_held now;
	void *driver;

	if (is_own)
		return held_below();
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	((void (*)(struct fakecuda_held *))dlsym(driver, "fakecuda_audit"))(
		&now);
	return now.used_bytes;
}

uint64_t asked(void)
{
	if (is_own)
		return ((unsigned long (*)(void))dlsym(library,
						       "below_asked"))();
	return ((uint64_t(*)(const char *))dlsym(library, "fakehip_calls"))(
		"hipDeviceGetGraphMemAttribute");
}

int graph_main(int argc, char **argv, const struct graph_case *cases)
{
	if (argc < 3)
		return 2;
	alarm(300);
	find(argv[2]);
	for (; cases->name; cases++)
		if (!strcmp(cases->name, argv[1])) {
			cases->run();
			printf("done\n");
			return 0;
		}
	return 2;
}
