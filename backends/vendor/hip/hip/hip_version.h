/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The release of HIP that the declarations beside this are of: see
 * hip_runtime_api.h.
 */
#ifndef GPUMEM_VENDOR_HIP_VERSION_H
#define GPUMEM_VENDOR_HIP_VERSION_H

#define HIP_VERSION_MAJOR 7
#define HIP_VERSION_MINOR 1
#define HIP_VERSION 70100000

#endif
