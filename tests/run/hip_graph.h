/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the programs of tests/tool_run_hip_graphs.sh share: AMD's runtime, of
 * the number that the second argument says, and graphs that allocate. 9 is the
 * runtime of hip_below.c, the others are the doubles, which have memory for
 * graphs in units of 32 MiB. After each call the last error is looked at.
 */
#ifndef GPUMEM_TESTS_RUN_HIP_GRAPH_H
#define GPUMEM_TESTS_RUN_HIP_GRAPH_H

#include "hip_nodes.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	INVALID = 1,
	NO_MEMORY = 2,
	NODE_NOTHING = 5,
	NODE_ALLOCATES = 10,
	RESERVED_NOW = 2,
	RELAXED = 2,
	NON_BLOCKING = 1,
	WITH_UPLOAD = 2
};

#define MIB ((size_t)1 << 20)

/* What each release has, and what the first ones lack: X(name, parameters) */
#define RUNTIME(X)                                                             \
	X(hipGetLastError, (void))                                             \
	X(hipSetDevice, (int))                                                 \
	X(hipRuntimeGetVersion, (int *))                                       \
	X(hipDeviceSynchronize, (void))                                        \
	X(hipMalloc, (void **, size_t))                                        \
	X(hipFree, (void *))                                                   \
	X(hipMallocAsync, (void **, size_t, void *))                           \
	X(hipFreeAsync, (void *, void *))                                      \
	X(hipMemGetInfo, (size_t *, size_t *))                                 \
	X(hipStreamCreateWithFlags, (void **, unsigned))                       \
	X(hipStreamBeginCapture, (void *, int))                                \
	X(hipStreamEndCapture, (void *, void **))                              \
	X(hipGraphCreate, (void **, unsigned))                                 \
	X(hipGraphDestroy, (void *))                                           \
	X(hipGraphInstantiateWithFlags, (void **, void *, unsigned long long)) \
	X(hipGraphExecDestroy, (void *))                                       \
	X(hipGraphLaunch, (void *, void *))
#define NEW_RUNTIME(X)                                                         \
	X(hipDeviceGetDefaultMemPool, (void **, int))                          \
	X(hipMallocFromPoolAsync, (void **, size_t, void *, void *))           \
	X(hipDeviceReset, (void))                                              \
	X(hipGraphAddMemAllocNode,                                             \
	  (void **, void *, const void *, size_t, struct params *))            \
	X(hipGraphAddMemFreeNode,                                              \
	  (void **, void *, const void *, size_t, void *))                     \
	X(hipGraphAddNode,                                                     \
	  (void **, void *, const void *, size_t, struct any_params *))        \
	X(hipGraphInstantiateWithParams, (void **, void *, struct upload *))   \
	X(hipGraphUpload, (void *, void *))                                    \
	X(hipGraphLaunch_spt, (void *, void *))                                \
	X(hipDeviceGraphMemTrim, (int))                                        \
	X(hipDeviceGetGraphMemAttribute, (int, int, void *))

struct runtime {
#define MEMBER(name, parameters) int(*name) parameters;
	RUNTIME(MEMBER)
	NEW_RUNTIME(MEMBER)
#undef MEMBER
};

extern struct runtime hip;
extern void *stream; /* of device 0, one that is not blocking */
extern int is_own;   /* the runtime of hip_below.c */
extern int version;

#define TRUE(is)                                                               \
	do {                                                                   \
		if (!(is)) {                                                   \
			printf("line %d: %s\n", __LINE__, #is);                \
			exit(1);                                               \
		}                                                              \
	} while (0)
#define OK(call) TRUE((call) == 0 && hip.hipGetLastError() == 0)
/* The runtime knows it afterwards, once. */
#define FAILS(call, code)                                                      \
	TRUE((call) == (code) && hip.hipGetLastError() == (code) &&            \
	     hip.hipGetLastError() == 0)

struct graph_case {
	const char *name;
	void (*run)(void);
};
/* Runs the case that the program's first argument names. */
int graph_main(int argc, char **argv, const struct graph_case *cases);

struct params params_of(size_t bytes, int device);

/* A graph that leaves an allocation. */
struct graph {
	void *graph, *exec, *block;
};

struct graph graph_of(size_t bytes);
/* A capture that allocates 8 and 24 MiB and frees the first. */
struct graph captured(void);
void end(struct graph graph);
void *alloc(size_t bytes);
void release(void *block);
/* What has been given, of all devices. */
uint64_t held(void);
/* How often the runtime was asked what graphs have. */
uint64_t asked(void);

#endif
