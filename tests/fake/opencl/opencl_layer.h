/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The inside of the OpenCL layer: opencl_layer.c stands between a program and
 * the implementations, opencl_fault.c knows which call fails and what is held,
 * opencl_lie.c what is answered and which commands are not there,
 * opencl_queue.c who puts commands into a queue.
 */
#ifndef OPENCL_LAYER_H
#define OPENCL_LAYER_H

#include "../common/fault.h"
#include "../common/lock.h"
#include "fakecl.h"
#include "opencl_calls.h"

/* Our own functions must not be taken for those of another library. */
#define LAYER_API __attribute__((visibility("default")))

enum layer_call {
#define LAYER_CALL(name, ...) CALL_##name,
	LAYER_CALLS(LAYER_CALL)
#undef LAYER_CALL
		LAYER_CALL_COUNT
};

enum layer_thing { CONTEXTS, QUEUES, MEMORY, SVM, EVENTS, THING_COUNT };

/* The call is counted. CL_SUCCESS: it goes through. */
int layer_next(enum layer_call call);
void layer_count(enum layer_thing thing, int change);

/* True: that question has an answer of the test's. */
bool layer_lies(enum layer_call call, cl_uint what, size_t bytes, void *value,
		size_t *used, cl_int *code_out);
/* True: the command is remembered, and is not there. */
bool layer_pretends(enum layer_call call, uint64_t to, uint64_t from,
		    uint64_t bytes);
/* Around each command that is put into a queue. */
void layer_into(cl_command_queue queue);
void layer_out_of(cl_command_queue queue);
/* How much is taken for so many bytes. */
size_t layer_bytes(size_t bytes);

#endif
