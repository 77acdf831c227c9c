/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What describes nodes of graphs of AMD's runtime, laid out as in its header,
 * for the programs of hip_graph.h and for the runtime hip_below. The preloaded
 * library has a layout of its own, which these find to be wrong if it is.
 */
#ifndef GPUMEM_TESTS_RUN_HIP_NODES_H
#define GPUMEM_TESTS_RUN_HIP_NODES_H

#include <stddef.h>

struct params {
	int type, handles, location, device;
	void *windows;
	unsigned char reserved[64];
	const void *accesses;
	size_t access_count, bytes;
	void *address;
};
struct any_params {
	int type, reserved[3];
	struct params alloc;
	unsigned char rest[120];
};
struct upload {
	void *node;
	unsigned long long flags;
	int result;
	void *stream;
};

#endif
