/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The codes that CUDA and HIP have alike, number and meaning, of those that the
 * doubles and their faults give: FAKE_ERRORS(X), X(CUDA's, HIP's, text).
 */
#ifndef GPUMEM_TESTS_FAKE_ERRORS_H
#define GPUMEM_TESTS_FAKE_ERRORS_H

#define FAKE_ERRORS(X)                                                         \
	X(CUDA_SUCCESS, hipSuccess, "no error")                                \
	X(CUDA_ERROR_INVALID_VALUE, hipErrorInvalidValue, "invalid argument")  \
	X(CUDA_ERROR_OUT_OF_MEMORY, hipErrorOutOfMemory, "out of memory")      \
	X(CUDA_ERROR_NOT_INITIALIZED, hipErrorNotInitialized,                  \
	  "initialization error")                                              \
	X(CUDA_ERROR_DEINITIALIZED, hipErrorDeinitialized,                     \
	  "driver shutting down")                                              \
	X(CUDA_ERROR_INVALID_DEVICE, hipErrorInvalidDevice,                    \
	  "invalid device ordinal")                                            \
	X(CUDA_ERROR_INVALID_CONTEXT, hipErrorInvalidContext,                  \
	  "invalid device context")                                            \
	X(CUDA_ERROR_MAP_FAILED, hipErrorMapFailed,                            \
	  "mapping of buffer object failed")                                   \
	X(CUDA_ERROR_UNMAP_FAILED, hipErrorUnmapFailed,                        \
	  "unmapping of buffer object failed")                                 \
	X(CUDA_ERROR_ALREADY_MAPPED, hipErrorAlreadyMapped,                    \
	  "resource already mapped")                                           \
	X(CUDA_ERROR_NOT_MAPPED, hipErrorNotMapped, "resource not mapped")     \
	X(CUDA_ERROR_ECC_UNCORRECTABLE, hipErrorECCNotCorrectable,             \
	  "uncorrectable ECC error encountered")                               \
	X(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, hipErrorPeerAccessUnsupported,   \
	  "peer access is not supported between these two devices")            \
	X(CUDA_ERROR_OPERATING_SYSTEM, hipErrorOperatingSystem,                \
	  "OS call failed or operation not supported on this OS")              \
	X(CUDA_ERROR_INVALID_HANDLE, hipErrorInvalidHandle,                    \
	  "invalid resource handle")                                           \
	X(CUDA_ERROR_ILLEGAL_STATE, hipErrorIllegalState,                      \
	  "the operation cannot be performed in the present state")            \
	X(CUDA_ERROR_NOT_FOUND, hipErrorNotFound, "named symbol not found")    \
	X(CUDA_ERROR_NOT_READY, hipErrorNotReady, "device not ready")          \
	X(CUDA_ERROR_ILLEGAL_ADDRESS, hipErrorIllegalAddress,                  \
	  "an illegal memory access was encountered")                          \
	X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, hipErrorLaunchOutOfResources,    \
	  "too many resources requested for launch")                           \
	X(CUDA_ERROR_LAUNCH_TIMEOUT, hipErrorLaunchTimeOut,                    \
	  "the launch timed out and was terminated")                           \
	X(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,                              \
	  hipErrorPeerAccessAlreadyEnabled, "peer access is already enabled")  \
	X(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, hipErrorPeerAccessNotEnabled,    \
	  "peer access has not been enabled")                                  \
	X(CUDA_ERROR_CONTEXT_IS_DESTROYED, hipErrorContextIsDestroyed,         \
	  "context is destroyed")                                              \
	X(CUDA_ERROR_ASSERT, hipErrorAssert, "device-side assert triggered")   \
	X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,                           \
	  hipErrorHostMemoryAlreadyRegistered,                                 \
	  "part or all of the requested memory range is already mapped")       \
	X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,                               \
	  hipErrorHostMemoryNotRegistered,                                     \
	  "pointer does not correspond to a registered memory region")         \
	X(CUDA_ERROR_LAUNCH_FAILED, hipErrorLaunchFailure,                     \
	  "unspecified launch failure")                                        \
	X(CUDA_ERROR_NOT_SUPPORTED, hipErrorNotSupported,                      \
	  "operation not supported")                                           \
	X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,                               \
	  hipErrorStreamCaptureUnsupported,                                    \
	  "operation not permitted when stream is capturing")                  \
	X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,                               \
	  hipErrorStreamCaptureInvalidated,                                    \
	  "operation failed due to a previous error during capture")           \
	X(CUDA_ERROR_STREAM_CAPTURE_MERGE, hipErrorStreamCaptureMerge,         \
	  "operation would result in a merge of separate capture sequences")   \
	X(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, hipErrorStreamCaptureUnmatched, \
	  "capture was not ended in the same stream as it began")              \
	X(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, hipErrorStreamCaptureUnjoined,   \
	  "capturing stream has unjoined work")                                \
	X(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, hipErrorStreamCaptureIsolation, \
	  "dependency created on uncaptured work in another stream")           \
	X(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, hipErrorStreamCaptureImplicit,   \
	  "operation would make the legacy stream depend on a capturing "      \
	  "blocking stream")                                                   \
	X(CUDA_ERROR_CAPTURED_EVENT, hipErrorCapturedEvent,                    \
	  "operation not permitted on an event last recorded in a "            \
	  "capturing stream")                                                  \
	X(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,                              \
	  hipErrorStreamCaptureWrongThread,                                    \
	  "attempt to terminate a thread-local capture sequence from another " \
	  "thread")                                                            \
	X(CUDA_ERROR_UNKNOWN, hipErrorUnknown, "unknown error")

#endif
