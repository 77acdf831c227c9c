/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The inside of the OpenCL layer: opencl_layer.c stands between a program and
 * the implementations, opencl_fault.c knows which call fails and what is held.
 * The latter has a mutex for all that it keeps.
 */
#ifndef OPENCL_LAYER_H
#define OPENCL_LAYER_H

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

#endif
