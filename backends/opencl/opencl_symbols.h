/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The functions of the OpenCL loader that the plugin looks up, and nothing
 * else: one list from which the table of pointers and the look-up are made.
 *
 * The compiler takes each type from the header's prototype. That the loader has
 * a function does not mean that a device's platform has it: what is newer than
 * OPENCL_MIN is called only where the device's version says so.
 */
#ifndef GM_OPENCL_SYMBOLS_H
#define GM_OPENCL_SYMBOLS_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS /* all that Clover has */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* clCreateCommandQueue */
#include <CL/cl.h>
#include <CL/cl_ext.h>

/* Versions are 10 * major + minor. 1.1 brought sub-buffers. */
#define OPENCL_MIN 11

/* Function; the version that brought it. */
#define OPENCL_SYMBOL_LIST(X)                                                  \
	X(clGetPlatformIDs, 10)                                                \
	X(clGetPlatformInfo, 10)                                               \
	X(clGetDeviceIDs, 10)                                                  \
	X(clGetDeviceInfo, 10)                                                 \
	X(clCreateContext, 10)                                                 \
	X(clRetainContext, 10)                                                 \
	X(clReleaseContext, 10)                                                \
	X(clGetContextInfo, 10)                                                \
	X(clCreateCommandQueue, 10)                                            \
	X(clReleaseCommandQueue, 10)                                           \
	X(clGetCommandQueueInfo, 10)                                           \
	X(clCreateBuffer, 10)                                                  \
	X(clReleaseMemObject, 10)                                              \
	X(clGetMemObjectInfo, 10)                                              \
	X(clWaitForEvents, 10)                                                 \
	X(clGetEventInfo, 10)                                                  \
	X(clRetainEvent, 10)                                                   \
	X(clReleaseEvent, 10)                                                  \
	X(clFlush, 10)                                                         \
	X(clEnqueueReadBuffer, 10)                                             \
	X(clEnqueueWriteBuffer, 10)                                            \
	X(clEnqueueCopyBuffer, 10)                                             \
	X(clEnqueueMarker, 10)                                                 \
	X(clEnqueueWaitForEvents, 10)                                          \
	X(clEnqueueBarrier, 10)                                                \
	X(clCreateSubBuffer, 11)                                               \
	X(clEnqueueFillBuffer, 12)                                             \
	X(clEnqueueMigrateMemObjects, 12)                                      \
	X(clEnqueueMarkerWithWaitList, 12)                                     \
	X(clEnqueueBarrierWithWaitList, 12)                                    \
	X(clGetExtensionFunctionAddressForPlatform, 12)                        \
	X(clSVMAlloc, 20)                                                      \
	X(clSVMFree, 20)                                                       \
	X(clEnqueueSVMMemcpy, 20)                                              \
	X(clEnqueueSVMMemFill, 20)

#endif
