/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem's own declarations of NVIDIA's driver API, for a build where NVIDIA's
 * headers are not: what gpumem and its tests use of libcuda.so.1. Its interface
 * fixes names, numbers, layouts and signatures; tests/cuda_headers.sh compares
 * each with NVIDIA's own headers.
 *
 *     cuda.h            types
 *     cuda_constants.h  enumerators
 *     cuda_functions.h  functions, by the names that the driver exports
 *     cudaTypedefs.h    types of pointers to them, by version
 *
 * They have what CUDA 11.4 has, and more after "#if CUDA_VERSION": the sources
 * compile with headers of each version, and with these as if they were older.
 * The test reads the form that declarations have here; what is marked "ours" is
 * not compared.
 */
#ifndef GM_VENDOR_CUDA_H
#define GM_VENDOR_CUDA_H

#include <stddef.h>
#include <stdint.h>

#ifndef CUDA_VERSION
#define CUDA_VERSION 13000 /* ours */
#endif

#define CUDAAPI

typedef uint64_t cuuint64_t;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef struct CUarray_st *CUarray;
typedef struct CUctx_st *CUcontext;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct CUmipmappedArray_st *CUmipmappedArray;
typedef struct CUstream_st *CUstream;
typedef void(CUDAAPI *CUhostFn)(void *);

/* Streams that are none, but numbers. */
#define CU_STREAM_LEGACY ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

#include "cuda_constants.h"

/* Only passed on. */
typedef struct CUexecAffinityParam_st CUexecAffinityParam;
#if CUDA_VERSION >= 12030
typedef struct CUgraphEdgeData_st CUgraphEdgeData;
#endif

typedef struct {
	char bytes[16];
} CUuuid;

typedef struct {
	char reserved[64];
} CUipcMemHandle;

typedef struct {
	CUmemLocationType type;
	int id;
} CUmemLocation;

typedef struct {
	CUmemLocation location;
	CUmemAccess_flags flags;
} CUmemAccessDesc;

typedef struct {
	CUmemAllocationType type;
	CUmemAllocationHandleType requestedHandleTypes;
	CUmemLocation location;
	void *win32HandleMetaData;
	struct {
		unsigned char compressionType;
		unsigned char gpuDirectRDMACapable;
		unsigned short usage;
		unsigned char rest[4]; /* ours */
	} allocFlags;
} CUmemAllocationProp;

typedef struct {
	CUmemAllocationType allocType;
	CUmemAllocationHandleType handleTypes;
	CUmemLocation location;
	void *win32SecurityAttributes;
#if CUDA_VERSION >= 12020
	size_t maxSize;
	unsigned char rest[56]; /* ours */
#else
	unsigned char rest[64]; /* ours */
#endif
} CUmemPoolProps;

typedef struct {
	unsigned char reserved[64];
} CUmemPoolPtrExportData;

typedef struct {
	size_t Width;
	size_t Height;
	CUarray_format Format;
	unsigned NumChannels;
} CUDA_ARRAY_DESCRIPTOR;

typedef struct {
	size_t Width;
	size_t Height;
	size_t Depth;
	CUarray_format Format;
	unsigned NumChannels;
	unsigned Flags;
} CUDA_ARRAY3D_DESCRIPTOR;

/* Flags of one. */
#define CUDA_ARRAY3D_LAYERED 0x01
#define CUDA_ARRAY3D_CUBEMAP 0x04

/* Flags of host memory. */
#define CU_MEMHOSTALLOC_PORTABLE 0x01
#define CU_MEMHOSTALLOC_DEVICEMAP 0x02
#define CU_MEMHOSTREGISTER_PORTABLE 0x01

typedef struct {
	CUmemPoolProps poolProps;
	const CUmemAccessDesc *accessDescs;
	size_t accessDescCount;
	size_t bytesize;
	CUdeviceptr dptr;
} CUDA_MEM_ALLOC_NODE_PARAMS;

#if CUDA_VERSION >= 12020
typedef struct {
	int type;
	int space[3]; /* ours */
	union {
		CUDA_MEM_ALLOC_NODE_PARAMS alloc;
		long long others[29]; /* ours */
	};
	long long rest; /* ours */
} CUgraphNodeParams;
#endif

#if CUDA_VERSION >= 12000
typedef struct {
	cuuint64_t flags;
	CUstream hUploadStream;
	CUgraphNode hErrNode_out;
	int result_out;
} CUDA_GRAPH_INSTANTIATE_PARAMS;
#endif

#include "cuda_functions.h"

#endif
