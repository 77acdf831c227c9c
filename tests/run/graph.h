/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the programs of tests/tool_run_graphs.sh share: functions of NVIDIA's
 * driver for graphs, and graphs that allocate. The double has memory for them
 * in units of 32 MiB.
 */
#ifndef GPUMEM_TESTS_RUN_GRAPH_H
#define GPUMEM_TESTS_RUN_GRAPH_H

#include "pool.h"

enum {
	INVALID = 1,
	NO_MEMORY = 2,
	NODE_NOTHING = 5,
	NODE_ALLOCATES = 10,
	WITH_UPLOAD = 2
};

#define RELAXED 2

/* As cuda.h has them. */
struct params {
	struct {
		int type, handles, location, id;
		void *windows;
		unsigned char reserved[64];
	} pool;
	const void *accesses;
	size_t access_count, bytes;
	address block;
};
struct any_params {
	int type, reserved[3];
	struct params alloc;
	unsigned char rest[128];
};
struct upload {
	address flags;
	void *stream, *node;
	int result;
};

/* X(name, parameters) */
#define GRAPHS(X)                                                              \
	X(cuGraphCreate, (void **, unsigned))                                  \
	X(cuGraphDestroy, (void *))                                            \
	X(cuGraphAddMemAllocNode,                                              \
	  (void **, void *, const void *, size_t, struct params *))            \
	X(cuGraphAddMemFreeNode,                                               \
	  (void **, void *, const void *, size_t, address))                    \
	X(cuGraphAddNode,                                                      \
	  (void **, void *, const void *, size_t, struct any_params *))        \
	X(cuGraphAddNode_v2, (void **, void *, const void *, const void *,     \
			      size_t, struct any_params *))                    \
	X(cuGraphAddNode_v3, (void **, void *, const void *, const void *,     \
			      size_t, struct any_params *))                    \
	X(cuGraphInstantiateWithFlags, (void **, void *, address))             \
	X(cuGraphInstantiateWithParams, (void **, void *, struct upload *))    \
	X(cuGraphInstantiateWithParams_ptsz,                                   \
	  (void **, void *, struct upload *))                                  \
	X(cuGraphExecDestroy, (void *))                                        \
	X(cuGraphUpload, (void *, void *))                                     \
	X(cuGraphUpload_ptsz, (void *, void *))                                \
	X(cuGraphLaunch, (void *, void *))                                     \
	X(cuGraphLaunch_ptsz, (void *, void *))                                \
	X(cuDeviceGraphMemTrim, (int))                                         \
	X(cuMemAllocAsync_ptsz, (address *, size_t, void *))                   \
	X(cuMemFreeAsync_ptsz, (address, void *))                              \
	X(cuGetProcAddress_v2, (const char *, void **, int, address, int *))

struct graph_driver {
#define MEMBER(name, parameters) int(*name) parameters;
	GRAPHS(MEMBER)
#undef MEMBER
};

extern struct graph_driver g;
extern void *stream; /* one that is not blocking */

/* Runs the case that the program's argument names. */
struct graph_case {
	const char *name;
	void (*run)(void);
};
int graph_main(int argc, char **argv, const struct graph_case *cases);

struct params params_of(size_t bytes, int device);

/* A graph that leaves an allocation. */
struct graph {
	void *graph, *exec;
	address block;
};

struct graph graph_of(size_t bytes, int device);
/* A capture that allocates 8 and 24 MiB and frees the first. */
struct graph captured(void);
void end(struct graph graph);
/* What the driver has given, of all devices. */
uint64_t held(void);

#endif
