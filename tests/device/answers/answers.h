/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What NVIDIA's driver answers, one line for each question:
 *
 *	SECTION: CALL: STATUS[, VALUE]
 *
 * Each section runs in a process of its own, so that a question that kills it
 * costs only the rest of that section. All are harmless: valid calls of small
 * memory, and arguments that are plainly wrong. NULL is one of these where the
 * driver has been seen to bear it; tests/fake/cuda/answers.txt tells of which
 * it did not. A VALUE is of a class that does not depend on the device.
 */
#ifndef GPUMEM_TESTS_DEVICE_ANSWERS_H
#define GPUMEM_TESTS_DEVICE_ANSWERS_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define NOWHERE ((CUdeviceptr)0x1230000)

#define ASK(call) (question(#call), answer(call, NULL))
/* With what it has written, as a text. */
#define ASK_FOR(call, value) (question(#call), answer_value(call, &(value)))
/* The same of an int that is yes or no. */
#define ASK_YES(call, value)                                                   \
	do {                                                                   \
		CUresult result;                                               \
                                                                               \
		question(#call);                                               \
		result = call;                                                 \
		answer_bool(result, value != 0);                               \
	} while (0)
#define answer_value(result, place)                                            \
	_Generic((place),                                                      \
		int *: answer_int,                                             \
		unsigned *: answer_int,                                        \
		uint64_t *: answer_bytes,                                      \
		unsigned char *: answer_byte,                                  \
		default: answer_pointer)(result, place)

/* Of the section from now on: what has happened. */
void situation(const char *text);
void question(const char *call);
CUresult answer(CUresult result, const char *value);
CUresult answer_int(CUresult result, const void *place);
CUresult answer_byte(CUresult result, const void *place);
/* 0, some, or whole granules of 2 MiB. */
CUresult answer_bytes(CUresult result, const void *place);
/* NULL, or something. */
CUresult answer_pointer(CUresult result, const void *place);
/* A value that only this section understands. */
CUresult answer_bool(CUresult result, bool yes);

/* Must succeed: else the section ends with that call. */
#define DO(call) must(#call, call)
void must(const char *call, CUresult result);

/* The first device, its primary context current. */
CUcontext start(void);

#define SECTIONS(X)                                                            \
	X(before_init)                                                         \
	X(devices)                                                             \
	X(primary)                                                             \
	X(no_context)                                                          \
	X(contexts)                                                            \
	X(resolve)                                                             \
	X(memory)                                                              \
	X(old)                                                                 \
	X(pinned)                                                              \
	X(pointers)                                                            \
	X(ipc)                                                                 \
	X(arrays)                                                              \
	X(pools)                                                               \
	X(pool_blocks)                                                         \
	X(pools_shared)                                                        \
	X(pools_of_host)                                                       \
	X(handles)                                                             \
	X(addresses)                                                           \
	X(usage)                                                               \
	X(streams)                                                             \
	X(events)                                                              \
	X(captures)                                                            \
	X(graphs)                                                              \
	X(wrong_handles)                                                       \
	X(wrong_contexts)

#define SECTION(name) void ask_##name(void);
SECTIONS(SECTION)
#undef SECTION

#endif
