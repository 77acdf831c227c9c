/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

#ifndef UMF_POOL_H
#define UMF_POOL_H

#include <umf/memory_pool_ops.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Pools for umfPoolCreate(). Its params: the name of a device as
 * gpumem_device_open() takes it, or NULL. */
const umf_memory_pool_ops_t *gpumem_umf_pool_ops(void);

#ifdef __cplusplus
}
#endif
#endif
