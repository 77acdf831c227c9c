/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a layer between an OpenCL loader and its implementations exports: see
 * cl.h.
 */
#ifndef GPUMEM_VENDOR_OPENCL_CL_LAYER_H
#define GPUMEM_VENDOR_OPENCL_CL_LAYER_H

#include <CL/cl_icd.h>

typedef cl_uint cl_layer_info;
typedef cl_uint cl_layer_api_version;

#define CL_LAYER_API_VERSION 0x4240
#define CL_LAYER_NAME 0x4241
#define CL_LAYER_API_VERSION_100 100

cl_int clGetLayerInfo(cl_layer_info what, size_t bytes, void *value,
		      size_t *used);
cl_int clInitLayer(cl_uint count, const cl_icd_dispatch *target,
		   cl_uint *count_out, const cl_icd_dispatch **table_out);

#endif
