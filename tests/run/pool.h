/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the programs for tests/tool_run_pool.sh share: NVIDIA's driver, as they
 * find it by dlsym(), what they say to its double, and kernels. A kernel is a
 * host function in a stream that looks whether its block has been handed out
 * again.
 */
#ifndef GPUMEM_TESTS_RUN_POOL_H
#define GPUMEM_TESTS_RUN_POOL_H

#include "../fake/cuda/fakecuda.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef unsigned long long address;

#define LEGACY ((void *)1)
#define PER_THREAD ((void *)2)
#define MIB ((size_t)1 << 20)

/* X(name, parameters) */
#define DRIVER(X)                                                              \
	X(cuInit, (unsigned))                                                  \
	X(cuDevicePrimaryCtxRetain, (void **, int))                            \
	X(cuDevicePrimaryCtxRelease_v2, (int))                                 \
	X(cuDevicePrimaryCtxReset_v2, (int))                                   \
	X(cuCtxCreate_v2, (void **, unsigned, int))                            \
	X(cuCtxDestroy_v2, (void *))                                           \
	X(cuCtxSetCurrent, (void *))                                           \
	X(cuMemAlloc_v2, (address *, size_t))                                  \
	X(cuMemFree_v2, (address))                                             \
	X(cuMemAllocPitch_v2, (address *, size_t *, size_t, size_t, unsigned)) \
	X(cuMemAllocManaged, (address *, size_t, unsigned))                    \
	X(cuMemAllocAsync, (address *, size_t, void *))                        \
	X(cuMemFreeAsync, (address, void *))                                   \
	X(cuMemAllocAsync_ptsz, (address *, size_t, void *))                   \
	X(cuMemFreeAsync_ptsz, (address, void *))                              \
	X(cuMemPoolCreate, (void **, const void *))                            \
	X(cuMemPoolDestroy, (void *))                                          \
	X(cuMemPoolTrimTo, (void *, size_t))                                   \
	X(cuMemPoolGetAttribute, (void *, int, void *))                        \
	X(cuMemPoolSetAttribute, (void *, int, void *))                        \
	X(cuMemPoolSetAccess, (void *, const void *, size_t))                  \
	X(cuMemPoolExportToShareableHandle, (void *, void *, int, address))    \
	X(cuMemPoolExportPointer, (void *, address))                           \
	X(cuDeviceGetDefaultMemPool, (void **, int))                           \
	X(cuDeviceGetMemPool, (void **, int))                                  \
	X(cuDeviceSetMemPool, (int, void *))                                   \
	X(cuMemAllocFromPoolAsync, (address *, size_t, void *, void *))        \
	X(cuMemCreate, (address *, size_t, const void *, address))             \
	X(cuMemRelease, (address))                                             \
	X(cuMemAddressReserve, (address *, size_t, size_t, address, address))  \
	X(cuMemAddressFree, (address, size_t))                                 \
	X(cuMemMap, (address, size_t, size_t, address, address))               \
	X(cuMemUnmap, (address, size_t))                                       \
	X(cuMemSetAccess, (address, size_t, const void *, size_t))             \
	X(cuMemRetainAllocationHandle, (address *, address))                   \
	X(cuMemExportToShareableHandle, (void *, address, int, address))       \
	X(cuMemGetInfo, (unsigned *, unsigned *))                              \
	X(cuMemGetInfo_v2, (size_t *, size_t *))                               \
	X(cuMemGetAddressRange_v2, (address *, size_t *, address))             \
	X(cuPointerGetAttribute, (void *, int, address))                       \
	X(cuPointerGetAttributes, (unsigned, int *, void **, address))         \
	X(cuPointerSetAttribute, (const void *, int, address))                 \
	X(cuIpcGetMemHandle, (void *, address))                                \
	X(cuMulticastBindAddr, (address, size_t, address, size_t, address))    \
	X(cuMulticastBindAddr_v2,                                              \
	  (address, int, size_t, address, size_t, address))                    \
	X(cuLogicalEndpointBindAddr,                                           \
	  (unsigned, int, address, address, address, address))                 \
	X(cuStreamCreate, (void **, unsigned))                                 \
	X(cuStreamCreateWithPriority, (void **, unsigned, int))                \
	X(cuStreamDestroy_v2, (void *))                                        \
	X(cuCtxSynchronize, (void))                                            \
	X(cuStreamSynchronize, (void *))                                       \
	X(cuStreamBeginCapture_v2, (void *, int))                              \
	X(cuStreamBeginRecaptureToGraph,                                       \
	  (void *, int, void *, void *, void *))                               \
	X(cuStreamBeginCaptureToCig, (void *, void *))                         \
	X(cuStreamEndCapture, (void *, void **))                               \
	X(cuGraphDestroy, (void *))                                            \
	X(cuArrayCreate_v2, (void **, const void *))                           \
	X(cuArray3DCreate_v2, (void **, const void *))                         \
	X(cuArrayDestroy, (void *))                                            \
	X(cuMipmappedArrayCreate, (void **, const void *, unsigned))           \
	X(cuMipmappedArrayDestroy, (void *))                                   \
	X(cuMemsetD8Async, (address, unsigned char, size_t, void *))           \
	X(cuLaunchHostFunc, (void *, void (*)(void *), void *))

struct driver {
#define MEMBER(name, parameters) int(*name) parameters;
	DRIVER(MEMBER)
#undef MEMBER
	__typeof__(fakecuda_audit) *audit;
	__typeof__(fakecuda_stepping) *stepping;
	__typeof__(fakecuda_step) *step;
	__typeof__(fakecuda_waits) *waits;
	__typeof__(fakecuda_calls) *calls;
	__typeof__(fakecuda_fault) *fault;
	__typeof__(fakecuda_heal) *heal;
	__typeof__(fakecuda_lose) *lose;
	__typeof__(fakecuda_recycle) *recycle;
	__typeof__(fakecuda_deinit) *deinit;
};

extern struct driver cu;

/* Says what is wrong, and ends the program. */
void wrong(const char *file, int line, const char *what);
#define TRUE(x)                                                                \
	do {                                                                   \
		if (!(x))                                                      \
			wrong(__FILE__, __LINE__, #x);                         \
	} while (0)
#define OK(call) TRUE((call) == 0)

/* The driver is found and started; the primary context of device 0 is current,
 * and what it is comes back. */
void *begin(void);

address alloc(size_t bytes);
void release(address block);

/* Memory with a handle, mapped by itself. Its device's 2 MiB are its unit. */
struct whole {
	address block, handle;
	size_t bytes;
};

/* As cuda.h has them. */
struct prop {
	int type, handles, location, id;
	void *windows;
	unsigned char flags[8];
};
struct access {
	int type, id, flags;
};

struct whole whole_new(size_t bytes);
void whole_end(struct whole whole);
/* Notes that the driver handed it out. */
void handed_out(address block);

/* How many blocks the driver has freed. */
uint64_t driver_frees(void);

/* Blocks by name: alloc() above writes each down. Any thread. */
void launch(void *stream, address block);
/* Of those launched, not over. */
unsigned running(void);

#endif
