/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The types, constants and names with which this plugin compiles the source
 * that it shares with cuda, backends/common/gpu/. The same lines as in
 * cuda/names.h, for HIP.
 */
#ifndef GM_HIP_NAMES_H
#define GM_HIP_NAMES_H

#include "hip_symbols.h"

/* Ours. */
#define GPU_BACKEND "hip"
#define GPU(name) gm_hip_##name
#define GPU_DECLARE(slot, ...) GPUMEM_SLOT_DECLARE(gm_hip_, slot)
#define GPU_ENTRY(slot, ...) GPUMEM_SLOT_ENTRY(gm_hip_, slot)
#define GPU_OWN_SLOTS(X) /* a program has no contexts to adopt */

/*
 * hipMemAllocationProp as it is from ROCm 5.7 on. In 5.2 its members have
 * another order, and with 5.2's header the plugin must still speak to 7: so it
 * is written here. No runtime that has the older one has virtual memory.
 */
struct hip_page_kind {
	int type;		  /* hipMemAllocationType */
	int requestedHandleTypes; /* as CUDA calls it */
	hipMemLocation location;
	void *windows;
	struct {
		unsigned char compression, rdma;
		unsigned short usage;
	} flags;
};

/* The runtime's types. */
typedef hipError_t gpu_result;
typedef hipDeviceAttribute_t gpu_attribute;
typedef hipUUID gpu_uuid;
typedef hipDevice_t gpu_context;
typedef hipStream_t gpu_stream;
typedef hipEvent_t gpu_event;
typedef void *gpu_address;
typedef hipMemAccessDesc gpu_access;
typedef struct hip_page_kind gpu_page_kind;
typedef hipMemGenericAllocationHandle_t gpu_handle;
typedef hipIpcMemHandle_t gpu_ipc;
typedef hipStreamCaptureMode gpu_capture_mode;
typedef hipStreamCaptureStatus gpu_capture_status;
typedef unsigned long long gpu_capture_number;

/* What a call changes of the thread's current device. */
struct gpu_place {
	int device; /* the thread's own */
	bool moved; /* to another than that */
};

/* What the names of its functions begin with, and those that are not the same
 * as CUDA's after that. */
#define PREFIX "hip"
#define CTX_ENABLE_PEER_ACCESS "hipDeviceEnablePeerAccess"
#define DEVICE_COUNT "hipGetDeviceCount"
#define EVENT_CREATE "hipEventCreateWithFlags"
#define GET_VERSION "hipRuntimeGetVersion"
#define MEM_ALLOC "hipMalloc"
#define MEM_ALLOC_MANAGED "hipMallocManaged"
#define MEM_FREE "hipFree"
#define MEM_FREE_HOST "hipHostFree"
#define MEM_HOST_ALLOC "hipHostMalloc"
#define MEM_HOST_REGISTER "hipHostRegister"
#define MEM_HOST_UNREGISTER "hipHostUnregister"
#define MEMSET "hipMemsetAsync"
#define NON_BLOCKING "hipStreamNonBlocking"
#define STREAM_CREATE "hipStreamCreateWithFlags"

/* Its errors and flags. */
#define GPU_SUCCESS hipSuccess
#define GPU_NOT_READY hipErrorNotReady
#define GPU_NOT_SUPPORTED hipErrorNotSupported
#define GPU_INVALID_CONTEXT hipErrorInvalidContext
#define GPU_MAP_FAILED hipErrorMapFailed
#define GPU_PEER_ALREADY_ENABLED hipErrorPeerAccessAlreadyEnabled
#define GPU_CAPTURE_IMPLICIT hipErrorStreamCaptureImplicit
#define GPU_CAPTURE_RELAXED hipStreamCaptureModeRelaxed
#define GPU_CAPTURE_NONE hipStreamCaptureStatusNone
#define GPU_CAPTURE_ACTIVE hipStreamCaptureStatusActive
#define GPU_CAPTURE_INVALIDATED hipStreamCaptureStatusInvalidated
#define GPU_STREAM_LEGACY ((hipStream_t)1) /* older headers have no name */
#define GPU_STREAM_PER_THREAD hipStreamPerThread
#define GPU_HAS_VIRTUAL_MEMORY ((hipDeviceAttribute_t)89) /* since 5.7 */
#define GPU_HAS_CONCURRENT_MANAGED hipDeviceAttributeConcurrentManagedAccess
#define GPU_RECOMMENDED hipMemAllocationGranularityRecommended
#define GPU_ATTACH_GLOBAL hipMemAttachGlobal
#define GPU_DESCRIPTOR hipMemHandleTypePosixFileDescriptor
#define GPU_IPC_FLAGS gpu.ipc_flags
#define GPU_LOCATION_DEVICE hipMemLocationTypeDevice
#define GPU_READ_WRITE hipMemAccessFlagsProtReadWrite
#define GPU_PINNED_EVERYWHERE (hipHostMallocPortable | hipHostMallocMapped)
#define GPU_REGISTER_EVERYWHERE hipHostRegisterPortable
#define GPU_EVENT_DISABLE_TIMING hipEventDisableTiming
#define GPU_STREAM_NON_BLOCKING hipStreamNonBlocking

/* Its versions, as hipRuntimeGetVersion() writes them. */
#define GPU_SYMBOL_LIST HIP_SYMBOL_LIST
#define GPU_SINCE(major, minor) HIP_RELEASE(major, minor)
#define GPU_VERSION_MIN HIP_RUNTIME_MIN
#define GPU_MAJOR(version) ((version) / 10000000)
#define GPU_MINOR(version) ((version) % 10000000 / 100000)

/* What is said of a runtime that cannot be used. */
#define IS_NOT_INSTALLED                                                       \
	"the HIP runtime of AMD's ROCm is not installed, or not where "        \
	"libraries are looked for: on Debian apt install libamdhip64-5"
#define IS_TOO_OLD                                                             \
	"%s is of ROCm %d.%d, and 5.0 or later is needed: install a newer one"
#define IS_NO_DRIVER                                                           \
	"%s has no function %s, so it is no HIP runtime of AMD, or not a "     \
	"whole one"
#define SHOWS_NO_DEVICE                                                        \
	"the runtime shows no device; see rocminfo and HIP_VISIBLE_DEVICES"

#endif
