/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * HIP's codes, their names and texts, and what of CUDA becomes which.
 */
#include "../common/errors.h"
#include "hip_fake.h"

/* CUDA has none of these, or says something else. */
#define ERRORS(X)                                                              \
	FAKE_ERRORS(X)                                                         \
	X(, hipErrorInvalidMemcpyDirection,                                    \
	  "invalid copy direction for memcpy")                                 \
	X(, hipErrorInsufficientDriver,                                        \
	  "driver version is insufficient for runtime version")                \
	X(, hipErrorNoDevice, "no ROCm-capable device is detected")

#define ERROR_ALIKE(cuda, hip, text)                                           \
	_Static_assert((int)(cuda) == (int)(hip), #hip);
FAKE_ERRORS(ERROR_ALIKE)
#undef ERROR_ALIKE

_Thread_local hipError_t hip_last_error;

/* What has no counterpart of its number. */
static hipError_t nearest(CUresult result)
{
	switch ((int)result) {
	case CUDA_ERROR_STUB_LIBRARY:
		return hipErrorNoDevice;
	case 46: /* CUDA_ERROR_DEVICE_UNAVAILABLE, 11.7 */
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
#define ERROR_SAME(cuda, name, text)                                           \
	if ((int)result == name)                                               \
		return name;
	ERRORS(ERROR_SAME)
#undef ERROR_SAME
	return nearest(result);
}

const char *hipGetErrorName(hipError_t error)
{
#define ERROR_NAME(cuda, name, text)                                           \
	if (error == name)                                                     \
		return #name;
	ERRORS(ERROR_NAME)
#undef ERROR_NAME
	return "hipErrorUnknown";
}

const char *hipGetErrorString(hipError_t error)
{
#if FAKEHIP_MAJOR >= 6
#define ERROR_TEXT(cuda, name, text)                                           \
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
