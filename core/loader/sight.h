/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which vendors' GPUs this system shows, by the names of device nodes and what
 * the kernel says of them. Nothing is opened that could wake a device or a
 * driver. Pure but for what it reads.
 */
#ifndef GM_LOADER_SIGHT_H
#define GM_LOADER_SIGHT_H

#include <stddef.h>

/* A GPU that can be seen, and the backend that is its vendor's own. */
struct gm_sight {
	const char *backend; /* "cuda", "hip" or "opencl" */
	char node[64];	     /* "/dev/nvidia0" */
};

#define GM_SIGHTS 3

/* At most one for each backend, in that order; how many. `root` is "" for the
 * system itself, or a folder that has its dev/ and sys/. */
size_t gm_sight(const char *root, struct gm_sight sights_out[GM_SIGHTS]);

/* The nodes of that backend of which each is a GPU, by their numbers: NVIDIA's
 * own, or where there is none of these, as of other vendors, render nodes. How
 * many, of which at most `room` are written; 0 too if those that are seen do
 * not tell one GPU from another (/dev/kfd, /dev/dxg). */
size_t gm_sight_gpus(const char *root, const char *backend,
		     struct gm_sight *gpus_out, size_t room);

#endif
