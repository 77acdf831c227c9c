/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the files of the OpenCL layer share: a library that an OpenCL loader
 * puts between a program and its implementations when OPENCL_LAYERS names it.
 * It counts memory objects and shared virtual memory into a ledger and passes
 * each call on as it came, but for what the limit refuses. It never prints or
 * exits; where it cannot follow, that is noted and nothing else.
 *
 * What changes is in pages that a forked child sees as zeros, as in the
 * preloaded library.
 */
#ifndef GPUMEM_LAYER_LAYER_H
#define GPUMEM_LAYER_LAYER_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl_layer.h>

#include "../preload/blocks.h"
#include "../preload/ledger.h"

#include <stdbool.h>

/* Keys of blocks: the serial number of a memory object, which the end of the
 * object is told; the address of shared virtual memory; the same while it is
 * being freed. */
#define LAYER_MEMORY BLOCK_HANDLE
#define LAYER_SVM BLOCK_ADDRESS
#define LAYER_SVM_ENDING BLOCK_KEPT

/* What is below this layer; constant once the loader has begun it. An entry is
 * NULL if the loader does not have that function. */
extern struct _cl_icd_dispatch layer_below;

/* Calls of this thread that are below; of what they call nothing is counted. */
extern __thread unsigned layer_depth __attribute__((tls_model("initial-exec")));

/* Started by gpumem-run; constant. */
bool layer_active(void);
/* Is there a limit? Constant. */
bool layer_limited(void);
/* What it is, if there is one, of a device of so many bytes. */
uint64_t layer_limit(uint64_t total_bytes);

/* Counting. Any time; none calls OpenCL or keeps a lock. */

/* The row of that device, which is not a part of another; -1: it has none. */
int layer_row(cl_device_id device);
/* What the limit, which there is, leaves of that row, in bytes; of -1 all, of a
 * device of that size. */
uint64_t layer_row_left(int row, uint64_t total_bytes);
/* A row for it. -1: there is no room or no ledger. */
int layer_row_add(cl_device_id device, const char *name, uint64_t total_bytes);
enum layer_answer {
	LAYER_COUNTED,
	LAYER_UNKNOWN, /* it could not be followed */
	LAYER_REFUSED  /* by the limit, and that was counted */
};

/* Before an implementation is asked: so much of the device is in flight from
 * now on. False: it is more than is left, and was counted as refused. A thread
 * has one call in flight at most. */
bool layer_promise(const struct block *wanted);
/* What this thread has in flight still, if anything, is no more. */
void layer_land(void);
/* In place of what this thread has in flight. */
enum layer_answer layer_charge(const struct block *block);
/* A block was not to be had, as that code says. */
void layer_failure(const struct block *wanted, cl_int code);
/* It is gone; or in flight, with a limit, if the implementation is told next.
 * False: it is not known. */
bool layer_discharge(enum block_space space, uint64_t key, bool in_flight);
/* Its key is of another space from now on, if it is known. */
void layer_move(enum block_space from, enum block_space to, uint64_t key);
void layer_note(enum ledger_note note);
/* The same, also if nothing was counted yet. */
void layer_note_first(enum ledger_note note);
/* Not 0; never the same twice, nor in a child. */
uint64_t layer_serial(void);

/* What a program made or frees, by the calls of OpenCL. */

/* Before it is made. `bytes`: 0 if only the object will tell. False: the limit
 * refuses it. Else layer_land() follows when it has been counted. */
bool layer_wanted(cl_context context, enum ledger_kind kind, cl_mem_flags flags,
		  size_t bytes);
/* A memory object, or NULL if that failed with that code. `bytes`: of a buffer,
 * else 0. False: the limit refuses it, for the caller to release. */
bool layer_made(cl_context context, enum ledger_kind kind, cl_mem memory,
		size_t bytes, cl_int code);
/* The same of memory that has an address, or NULL. `device` may be NULL. */
bool layer_wanted_svm(cl_context context, cl_device_id device,
		      enum ledger_kind kind, size_t bytes);
void layer_made_svm(cl_context context, cl_device_id device,
		    enum ledger_kind kind, void *address, size_t bytes);

/* Those of extensions, by which a program gets functions that the loader has
 * not.
 */
void *CL_API_CALL wrap_clGetExtensionFunctionAddress(const char *name);
void *CL_API_CALL wrap_clGetExtensionFunctionAddressForPlatform(
	cl_platform_id platform, const char *name);

/* The same of a device; and what it has, in bytes, 0 if it does not say so. */
uint64_t layer_left(cl_device_id device);
uint64_t layer_total(cl_device_id device);

#endif
