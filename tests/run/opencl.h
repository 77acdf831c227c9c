/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the files of the program opencl share: its first device, buffers, and
 * how it says what it met.
 */
#ifndef GPUMEM_TESTS_RUN_OPENCL_H
#define GPUMEM_TESTS_RUN_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>
#include <stddef.h>

#define KIB ((size_t)1024)
#define MIB (KIB * KIB)

extern cl_context context;
extern cl_command_queue queue;

void say(const char *what, long value);
cl_mem buffer(size_t bytes);
/* Gives back the queue and the context. */
void end(void);

/* In opencl_objects.c: all kinds of objects, and what is wrong. */
void objects(void);

#endif
