/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The types and numbers of HIP that gpumem uses: see hip_runtime_api.h.
 */
#ifndef GPUMEM_VENDOR_HIP_DRIVER_TYPES_H
#define GPUMEM_VENDOR_HIP_DRIVER_TYPES_H

#include <stddef.h>

/* ---- Results ----------------------------------------------------------- */

typedef enum hipError_t {
	hipSuccess = 0,
	hipErrorInvalidValue = 1,
	hipErrorOutOfMemory = 2,
	hipErrorNotInitialized = 3,
	hipErrorDeinitialized = 4,
	hipErrorInvalidDevicePointer = 17,
	hipErrorInvalidMemcpyDirection = 21,
	hipErrorInsufficientDriver = 35,
	hipErrorNoDevice = 100,
	hipErrorInvalidDevice = 101,
	hipErrorInvalidContext = 201,
	hipErrorMapFailed = 205,
	hipErrorUnmapFailed = 206,
	hipErrorAlreadyMapped = 208,
	hipErrorNotMapped = 211,
	hipErrorECCNotCorrectable = 214,
	hipErrorPeerAccessUnsupported = 217,
	hipErrorOperatingSystem = 304,
	hipErrorInvalidHandle = 400,
	hipErrorIllegalState = 401,
	hipErrorNotFound = 500,
	hipErrorNotReady = 600,
	hipErrorIllegalAddress = 700,
	hipErrorLaunchOutOfResources = 701,
	hipErrorLaunchTimeOut = 702,
	hipErrorPeerAccessAlreadyEnabled = 704,
	hipErrorPeerAccessNotEnabled = 705,
	hipErrorContextIsDestroyed = 709,
	hipErrorAssert = 710,
	hipErrorHostMemoryAlreadyRegistered = 712,
	hipErrorHostMemoryNotRegistered = 713,
	hipErrorLaunchFailure = 719,
	hipErrorNotSupported = 801,
	hipErrorStreamCaptureUnsupported = 900,
	hipErrorStreamCaptureInvalidated = 901,
	hipErrorStreamCaptureMerge = 902,
	hipErrorStreamCaptureUnmatched = 903,
	hipErrorStreamCaptureUnjoined = 904,
	hipErrorStreamCaptureIsolation = 905,
	hipErrorStreamCaptureImplicit = 906,
	hipErrorCapturedEvent = 907,
	hipErrorStreamCaptureWrongThread = 908,
	hipErrorUnknown = 999,
	hipErrorRuntimeMemory = 1052,
	hipErrorRuntimeOther = 1053,
} hipError_t;

/* ---- Devices ----------------------------------------------------------- */

typedef int hipDevice_t;

typedef struct hipUUID_t {
	char bytes[16];
} hipUUID;

typedef enum hipDeviceAttribute_t {
	hipDeviceAttributeCanMapHostMemory = 3,
	hipDeviceAttributeConcurrentManagedAccess = 9,
	hipDeviceAttributeIntegrated = 16,
	hipDeviceAttributeComputeCapabilityMajor = 23,
	hipDeviceAttributeManagedMemory = 24,
	hipDeviceAttributeComputeCapabilityMinor = 61,
	hipDeviceAttributeMultiprocessorCount = 63,
	hipDeviceAttributePageableMemoryAccess = 65,
	hipDeviceAttributePciBusId = 67,
	hipDeviceAttributePciDeviceId = 68,
	hipDeviceAttributePciDomainID = 69,
	hipDeviceAttributeTextureAlignment = 81,
	hipDeviceAttributeUnifiedAddressing = 85,
	hipDeviceAttributeMemoryPoolsSupported = 88,
} hipDeviceAttribute_t;

/* ---- Streams and events ------------------------------------------------ */

typedef struct ihipStream_t *hipStream_t;
typedef struct ihipEvent_t *hipEvent_t;

#define hipStreamPerThread ((hipStream_t)2)
#define hipStreamNonBlocking 1
#define hipEventDisableTiming 2

typedef void (*hipStreamCallback_t)(hipStream_t stream, hipError_t result,
				    void *user);
typedef void (*hipHostFn_t)(void *user);

typedef enum hipStreamCaptureMode {
	hipStreamCaptureModeGlobal = 0,
	hipStreamCaptureModeRelaxed = 2,
} hipStreamCaptureMode;

typedef enum hipStreamCaptureStatus {
	hipStreamCaptureStatusNone = 0,
	hipStreamCaptureStatusActive = 1,
	hipStreamCaptureStatusInvalidated = 2,
} hipStreamCaptureStatus;

/* ---- Memory ------------------------------------------------------------ */

typedef void *hipDeviceptr_t;

#define hipHostMallocPortable 1
#define hipHostMallocMapped 2
#define hipHostRegisterPortable 1
#define hipMemAttachGlobal 1

typedef enum hipMemcpyKind {
	hipMemcpyHostToHost = 0,
	hipMemcpyHostToDevice = 1,
	hipMemcpyDeviceToHost = 2,
	hipMemcpyDefault = 4,
} hipMemcpyKind;

typedef struct hipIpcMemHandle_st {
	char reserved[64];
} hipIpcMemHandle_t;

/* The first is hipMemoryType, of other numbers before 6.0, and was named
 * memoryType. */
typedef struct hipPointerAttribute_t {
	int type; /* if HIP_VERSION >= 60000000 */
	int device;
	void *devicePointer;
	void *hostPointer;
	int isManaged;
	unsigned allocationFlags;
} hipPointerAttribute_t;

typedef struct hipExtent {
	size_t width;
	size_t height;
	size_t depth;
} hipExtent;

typedef struct hipPitchedPtr {
	void *ptr;
	size_t pitch;
	size_t xsize;
	size_t ysize;
} hipPitchedPtr;

/* ---- Virtual memory ---------------------------------------------------- */

typedef struct ihipMemGenericAllocationHandle *hipMemGenericAllocationHandle_t;

typedef enum hipMemAllocationType {
	hipMemAllocationTypePinned = 1,
} hipMemAllocationType;

typedef enum hipMemAllocationHandleType {
	hipMemHandleTypePosixFileDescriptor = 1,
	hipMemHandleTypeWin32 = 2,
} hipMemAllocationHandleType;

typedef enum hipMemAllocationGranularity_flags {
	hipMemAllocationGranularityMinimum = 0,
	hipMemAllocationGranularityRecommended = 1,
} hipMemAllocationGranularity_flags;

typedef enum hipMemLocationType {
	hipMemLocationTypeDevice = 1,
} hipMemLocationType;

typedef enum hipMemAccessFlags {
	hipMemAccessFlagsProtNone = 0,
	hipMemAccessFlagsProtReadWrite = 3,
} hipMemAccessFlags;

typedef struct hipMemLocation {
	hipMemLocationType type;
	int id;
} hipMemLocation;

typedef struct hipMemAccessDesc {
	hipMemLocation location;
	hipMemAccessFlags flags;
} hipMemAccessDesc;

/* Its members were in another order in 5.2, so none is named: who fills one in
 * or reads one has a struct of its own. */
typedef struct hipMemAllocationProp hipMemAllocationProp;

/* ---- Arrays ------------------------------------------------------------ */

typedef struct hipArray *hipArray_t;
typedef struct hipMipmappedArray *hipMipmappedArray_t;

#define hipArrayLayered 1
#define hipArrayCubemap 4

typedef enum hipArray_Format {
	HIP_AD_FORMAT_UNSIGNED_INT8 = 1,
} hipArray_Format;

typedef enum hipChannelFormatKind {
	hipChannelFormatKindSigned = 0,
} hipChannelFormatKind;

typedef struct hipChannelFormatDesc {
	int x;
	int y;
	int z;
	int w;
	hipChannelFormatKind f;
} hipChannelFormatDesc;

typedef struct HIP_ARRAY_DESCRIPTOR {
	size_t Width;
	size_t Height;
	hipArray_Format Format;
	unsigned NumChannels;
} HIP_ARRAY_DESCRIPTOR;

typedef struct HIP_ARRAY3D_DESCRIPTOR {
	size_t Width;
	size_t Height;
	size_t Depth;
	hipArray_Format Format;
	unsigned NumChannels;
	unsigned Flags;
} HIP_ARRAY3D_DESCRIPTOR;

/* ---- Pools of stream-ordered memory ------------------------------------ */

typedef struct ihipMemPoolHandle_t *hipMemPool_t;

typedef enum hipMemPoolAttr {
	hipMemPoolReuseFollowEventDependencies = 1,
	hipMemPoolReuseAllowOpportunistic = 2,
	hipMemPoolReuseAllowInternalDependencies = 3,
	hipMemPoolAttrReleaseThreshold = 4,
	hipMemPoolAttrReservedMemCurrent = 5,
	hipMemPoolAttrReservedMemHigh = 6,
	hipMemPoolAttrUsedMemCurrent = 7,
	hipMemPoolAttrUsedMemHigh = 8,
} hipMemPoolAttr;

/* ---- Graphs ------------------------------------------------------------ */

typedef struct ihipGraph *hipGraph_t;
typedef struct hipGraphNode *hipGraphNode_t;
typedef struct hipGraphExec *hipGraphExec_t;

/* if HIP_VERSION >= 50300000 */
typedef enum hipGraphMemAttributeType {
	hipGraphMemAttrReservedMemCurrent = 2,
} hipGraphMemAttributeType;

typedef struct hipMemPoolProps {
	hipMemAllocationType allocType;
	hipMemAllocationHandleType handleTypes;
	hipMemLocation location;
	void *win32SecurityAttributes;
	size_t maxSize;		    /* if HIP_VERSION >= 60200000 */
	unsigned char reserved[56]; /* if HIP_VERSION >= 60200000 */
} hipMemPoolProps;

/* if HIP_VERSION >= 50500000 */
typedef struct hipMemAllocNodeParams {
	hipMemPoolProps poolProps;
	const hipMemAccessDesc *accessDescs;
	size_t accessDescCount;
	size_t bytesize;
	void *dptr;
} hipMemAllocNodeParams;

/* What a node is made of, by its type: here only what allocates is named. */
/* if HIP_VERSION >= 60100000 */
typedef struct hipGraphNodeParams {
	int type;
	int reserved0[3];
	union {
		long long reserved1[29];
		hipMemAllocNodeParams alloc;
	};
	long long reserved2;
} hipGraphNodeParams;

/* if HIP_VERSION >= 60200000 */
typedef struct hipGraphInstantiateParams {
	hipGraphNode_t errNode_out;
	unsigned long long flags;
	int result_out;
	hipStream_t uploadStream;
} hipGraphInstantiateParams;

#endif
