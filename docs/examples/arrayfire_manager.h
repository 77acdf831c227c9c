/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pools as ArrayFire's memory manager: see arrayfire_manager.c.
 */
#ifndef ARRAYFIRE_MANAGER_H
#define ARRAYFIRE_MANAGER_H

#include <af/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From now on arrays of ArrayFire's active backend, CUDA or OpenCL, are in
 * pools of gpumem, one for each device. Call it before the first array.
 * AF_SUCCESS; AF_ERR_NOT_SUPPORTED: another backend; AF_ERR_NO_MEM: of the
 * host. */
af_err gpumem_arrayfire_enable(af_memory_manager *handle_out);

/* ArrayFire's own manager again, when no array of before is left: one that is
 * must not be used any more, and its pool stays. AF_SUCCESS, or what
 * ArrayFire answers. */
af_err gpumem_arrayfire_disable(af_memory_manager handle);

#ifdef __cplusplus
}
#endif
#endif
