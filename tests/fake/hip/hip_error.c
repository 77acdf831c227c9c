/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * HIP's codes, their names and texts, and what of CUDA becomes which.
 */
#include "hip_fake.h"

/* Codes that the doubles can return, or tests can make them. Nearly all have
 * the number of CUDA's that means the same. */
#define ERRORS(X)                                                              \
	X(hipSuccess, "no error")                                              \
	X(hipErrorInvalidValue, "invalid argument")                            \
	X(hipErrorOutOfMemory, "out of memory")                                \
	X(hipErrorNotInitialized, "initialization error")                      \
	X(hipErrorDeinitialized, "driver shutting down")                       \
	X(hipErrorInvalidMemcpyDirection, "invalid copy direction for memcpy") \
	X(hipErrorInsufficientDriver,                                          \
	  "driver version is insufficient for runtime version")                \
	X(hipErrorNoDevice, "no ROCm-capable device is detected")              \
	X(hipErrorInvalidDevice, "invalid device ordinal")                     \
	X(hipErrorInvalidContext, "invalid device context")                    \
	X(hipErrorMapFailed, "mapping of buffer object failed")                \
	X(hipErrorUnmapFailed, "unmapping of buffer object failed")            \
	X(hipErrorAlreadyMapped, "resource already mapped")                    \
	X(hipErrorNotMapped, "resource not mapped")                            \
	X(hipErrorECCNotCorrectable, "uncorrectable ECC error encountered")    \
	X(hipErrorPeerAccessUnsupported,                                       \
	  "peer access is not supported between these two devices")            \
	X(hipErrorOperatingSystem,                                             \
	  "OS call failed or operation not supported on this OS")              \
	X(hipErrorInvalidHandle, "invalid resource handle")                    \
	X(hipErrorIllegalState,                                                \
	  "the operation cannot be performed in the present state")            \
	X(hipErrorNotFound, "named symbol not found")                          \
	X(hipErrorNotReady, "device not ready")                                \
	X(hipErrorIllegalAddress, "an illegal memory access was encountered")  \
	X(hipErrorLaunchOutOfResources,                                        \
	  "too many resources requested for launch")                           \
	X(hipErrorLaunchTimeOut, "the launch timed out and was terminated")    \
	X(hipErrorPeerAccessAlreadyEnabled, "peer access is already enabled")  \
	X(hipErrorPeerAccessNotEnabled, "peer access has not been enabled")    \
	X(hipErrorContextIsDestroyed, "context is destroyed")                  \
	X(hipErrorAssert, "device-side assert triggered")                      \
	X(hipErrorHostMemoryAlreadyRegistered,                                 \
	  "part or all of the requested memory range is already mapped")       \
	X(hipErrorHostMemoryNotRegistered,                                     \
	  "pointer does not correspond to a registered memory region")         \
	X(hipErrorLaunchFailure, "unspecified launch failure")                 \
	X(hipErrorNotSupported, "operation not supported")                     \
	X(hipErrorStreamCaptureUnsupported,                                    \
	  "operation not permitted when stream is capturing")                  \
	X(hipErrorStreamCaptureInvalidated,                                    \
	  "operation failed due to a previous error during capture")           \
	X(hipErrorStreamCaptureMerge,                                          \
	  "operation would result in a merge of separate capture sequences")   \
	X(hipErrorStreamCaptureUnmatched,                                      \
	  "capture was not ended in the same stream as it began")              \
	X(hipErrorStreamCaptureUnjoined, "capturing stream has unjoined work") \
	X(hipErrorStreamCaptureIsolation,                                      \
	  "dependency created on uncaptured work in another stream")           \
	X(hipErrorStreamCaptureImplicit,                                       \
	  "operation would make the legacy stream depend on a capturing one")  \
	X(hipErrorCapturedEvent,                                               \
	  "operation not permitted on an event last recorded in a "            \
	  "capturing stream")                                                  \
	X(hipErrorStreamCaptureWrongThread,                                    \
	  "attempt to terminate a thread-local capture sequence from another " \
	  "thread")                                                            \
	X(hipErrorUnknown, "unknown error")

_Thread_local hipError_t hip_last_error;

/* What has no counterpart of its number. */
static hipError_t nearest(CUresult result)
{
	switch ((int)result) {
	case CUDA_ERROR_STUB_LIBRARY:
		return hipErrorNoDevice;
	case CUDA_ERROR_DEVICE_UNAVAILABLE:
		return hipErrorInvalidDevice;
	case CUDA_ERROR_NOT_PERMITTED:
		return hipErrorNotSupported;
	case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
	case CUDA_ERROR_SYSTEM_NOT_READY:
		return hipErrorInsufficientDriver;
	case CUDA_ERROR_TOO_MANY_PEERS:
		return hipErrorPeerAccessUnsupported;
	case CUDA_ERROR_HARDWARE_STACK_ERROR:
	case CUDA_ERROR_ILLEGAL_INSTRUCTION:
	case CUDA_ERROR_MISALIGNED_ADDRESS:
	case CUDA_ERROR_INVALID_ADDRESS_SPACE:
	case CUDA_ERROR_INVALID_PC:
		return hipErrorLaunchFailure;
	default:
		return hipErrorUnknown;
	}
}

hipError_t hip_error_of(CUresult result)
{
#define ERROR_SAME(name, text)                                                 \
	if ((int)result == name)                                               \
		return name;
	ERRORS(ERROR_SAME)
#undef ERROR_SAME
	return nearest(result);
}

const char *hipGetErrorName(hipError_t error)
{
#define ERROR_NAME(name, text)                                                 \
	if (error == name)                                                     \
		return #name;
	ERRORS(ERROR_NAME)
#undef ERROR_NAME
	return "hipErrorUnknown";
}

const char *hipGetErrorString(hipError_t error)
{
#if FAKEHIP_MAJOR >= 6
#define ERROR_TEXT(name, text)                                                 \
	if (error == name)                                                     \
		return text;
	ERRORS(ERROR_TEXT)
#undef ERROR_TEXT
	return "unknown error";
#else
	return hipGetErrorName(error);
#endif
}

/* Itself no call that counts: neither a success nor an error to remember. */
static hipError_t last(enum hip_call call, bool forget)
{
	hipError_t injected = hip_enter(call);
	hipError_t error = hip_last_error;

	if (injected != hipSuccess)
		return hip_leave(injected);
	if (forget)
		hip_last_error = hipSuccess;
	return error;
}

hipError_t hipGetLastError(void)
{
	return last(HIP_hipGetLastError, true);
}

hipError_t hipPeekAtLastError(void)
{
	return last(HIP_hipPeekAtLastError, false);
}

#if FAKEHIP_MAJOR >= 6
/* What .7 has for those who want what hipGetLastError() was: of the very last
 * call. The double of .6 has one and the same. */
hipError_t hipExtGetLastError(void)
{
	return last(HIP_hipExtGetLastError, true);
}
#endif
