/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the files of the OpenCL layer share: a library that an OpenCL loader
 * puts between a program and its implementations when OPENCL_LAYERS names it.
 * It counts memory objects and shared virtual memory into a ledger and passes
 * each call on as it came. It never prints or exits; where it cannot follow,
 * that is noted and nothing else.
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

/* Started by gpumem-run; constant. */
bool layer_active(void);

/* Counting. Any time; none calls OpenCL or keeps a lock. */

/* The row of that device, which is not a part of another; -1: it has none. */
int layer_row(cl_device_id device);
/* A row for it. -1: there is no room or no ledger. */
int layer_row_add(cl_device_id device, const char *name);
/* False: it could not be followed. */
bool layer_charge(const struct block *block);
void layer_failure(enum ledger_kind kind, int row);
/* It is gone. False: it is not known. */
bool layer_discharge(enum block_space space, uint64_t key);
/* Its key is of another space from now on, if it is known. */
void layer_move(enum block_space from, enum block_space to, uint64_t key);
void layer_note(enum ledger_note note);
/* Not 0; never the same twice, nor in a child. */
uint64_t layer_serial(void);

/* What a program made or frees, by the calls of OpenCL. */

/* A memory object, or NULL if that failed with that code. */
void layer_made(cl_context context, enum ledger_kind kind, cl_mem memory,
		cl_int code);
/* Shared virtual memory, or NULL. */
void layer_made_svm(cl_context context, void *address, size_t bytes);

#endif
