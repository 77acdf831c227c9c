/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of cuda and of hip call in the same way: streams, captures and
 * faults of a driver, under one name each. The fixture of each says what its
 * driver calls them, in CALL_LIST, CONTROL_LIST and the macros that the bodies
 * in this folder use:
 *
 *	VENDOR(cu, hip)		the name that this one has
 *	raw_...			functions of the driver, 0 if they succeed
 *	fail_call, heal_calls	the double's: a call fails, none does
 *	count_calls		how many there were
 *	has_virtual()		virtual memory, and streams by numbers
 */
#ifndef GPU_DOUBLE_H
#define GPU_DOUBLE_H

#include "../../fake/cuda/fakecuda.h"
#include "plugin.h"

enum { STREAM_BLOCKING = 0, STREAM_NON_BLOCKING = 1 };
enum { MODE_GLOBAL = 0, MODE_THREAD_LOCAL = 1, MODE_RELAXED = 2 };
enum { CAPTURE_NONE = 0, CAPTURE_ACTIVE = 1, CAPTURE_INVALIDATED = 2 };

#define CALL_POINTER(type, name, parameters) type(*name) parameters;
#define CONTROL_POINTER(name) __typeof__(name) *name;
#define CONTROL_FIND(library, of, name) find(library, #name, &(of).name);

#endif
