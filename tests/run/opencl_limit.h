/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the files of the program opencl_limit share: calls of which each is
 * had, or refused by the limit as it should be, or ends the program.
 */
#ifndef TESTS_RUN_OPENCL_LIMIT_H
#define TESTS_RUN_OPENCL_LIMIT_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { REFUSED = CL_MEM_OBJECT_ALLOCATION_FAILURE };

#define KIB ((size_t)1024)
#define MIB (KIB * KIB)
#define LIMIT (4 * MIB)

#define TRUE(condition)                                                        \
	do {                                                                   \
		if (!(condition)) {                                            \
			fprintf(stderr, "line %d: %s\n", __LINE__,             \
				#condition);                                   \
			exit(1);                                               \
		}                                                              \
	} while (0)

extern cl_platform_id platform;
extern cl_device_id devices[2]; /* as many as `device_count` */
extern cl_uint device_count;
extern cl_context context; /* of the first device */

cl_context context_of(cl_uint count, const cl_device_id *of);

/* NULL: refused. */
cl_mem buffer(size_t bytes);
cl_mem buffer_in(cl_context in, size_t bytes);
/* 4 * width * height bytes. */
cl_mem image(size_t width, size_t height);
void release(cl_mem memory);
/* What image() makes. */
extern const cl_image_format format;
/* Nothing else is left, neither a byte more nor less than that. */
void left(size_t bytes);

/* The cases of each kind of memory. */
void buffers(void);
void with_properties(void);
void images(void);
void svm(void);
void no_memory(void);
void pipes(void);

/* The cases of what devices say, and of two. */
void sizes(void);
void two(void);
void free_memory(void);
void part(void);
void told(void);

/* The cases of threads. Of the second a layer below sees what the
 * implementation has: at most what it may, at each instant, and all of it in
 * the end. */
void threads(void);
void race(void);

#endif
