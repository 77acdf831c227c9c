/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The names of the codes that the double and its faults give.
 */
#include "cuda_fake.h"

static const struct {
	CUresult code;
	const char *name, *text;
} errors[] = {
#define ERROR(name, text)                                                      \
	{                                                                      \
		CUDA_##name, "CUDA_" #name, text                               \
	}
	ERROR(SUCCESS, "no error"),
	ERROR(ERROR_INVALID_VALUE, "invalid argument"),
	ERROR(ERROR_OUT_OF_MEMORY, "out of memory"),
	ERROR(ERROR_NOT_INITIALIZED, "initialization error"),
	ERROR(ERROR_DEINITIALIZED, "driver shutting down"),
	ERROR(ERROR_STUB_LIBRARY, "CUDA driver is a stub library"),
	ERROR(ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
	ERROR(ERROR_INVALID_DEVICE, "invalid device ordinal"),
	ERROR(ERROR_INVALID_CONTEXT, "invalid device context"),
	ERROR(ERROR_ECC_UNCORRECTABLE, "uncorrectable ECC error encountered"),
	ERROR(ERROR_PEER_ACCESS_UNSUPPORTED,
	      "peer access is not supported between these two devices"),
	ERROR(ERROR_OPERATING_SYSTEM,
	      "OS call failed or operation not supported on this OS"),
	ERROR(ERROR_INVALID_HANDLE, "invalid resource handle"),
	ERROR(ERROR_ILLEGAL_STATE,
	      "the operation cannot be performed in the present state"),
	ERROR(ERROR_NOT_READY, "device not ready"),
	ERROR(ERROR_ILLEGAL_ADDRESS,
	      "an illegal memory access was encountered"),
	ERROR(ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
	ERROR(ERROR_PEER_ACCESS_ALREADY_ENABLED,
	      "peer access is already enabled"),
	ERROR(ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
	ERROR(ERROR_HOST_MEMORY_ALREADY_REGISTERED,
	      "part or all of the requested memory range is already mapped"),
	ERROR(ERROR_HOST_MEMORY_NOT_REGISTERED,
	      "pointer does not correspond to a registered memory region"),
	ERROR(ERROR_HARDWARE_STACK_ERROR, "hardware stack error"),
	ERROR(ERROR_ILLEGAL_INSTRUCTION,
	      "an illegal instruction was encountered"),
	ERROR(ERROR_MISALIGNED_ADDRESS, "misaligned address"),
	ERROR(ERROR_LAUNCH_FAILED, "unspecified launch failure"),
	ERROR(ERROR_NOT_PERMITTED, "operation not permitted"),
	ERROR(ERROR_NOT_SUPPORTED, "operation not supported"),
	ERROR(ERROR_SYSTEM_NOT_READY, "system not yet initialized"),
	ERROR(ERROR_SYSTEM_DRIVER_MISMATCH, "system has unsupported display "
					    "driver / cuda driver combination"),
	ERROR(ERROR_STREAM_CAPTURE_UNSUPPORTED,
	      "operation not permitted when stream is capturing"),
	ERROR(ERROR_STREAM_CAPTURE_INVALIDATED,
	      "operation failed due to a previous error during capture"),
	ERROR(ERROR_STREAM_CAPTURE_MERGE,
	      "operation would result in a merge of separate capture "
	      "sequences"),
	ERROR(ERROR_STREAM_CAPTURE_UNMATCHED,
	      "capture was not ended in the same stream as it began"),
	ERROR(ERROR_STREAM_CAPTURE_UNJOINED,
	      "capturing stream has unjoined work"),
	ERROR(ERROR_STREAM_CAPTURE_ISOLATION,
	      "dependency created on uncaptured work in another stream"),
	ERROR(ERROR_STREAM_CAPTURE_IMPLICIT,
	      "operation would make the legacy stream depend on a capturing "
	      "blocking stream"),
	ERROR(ERROR_CAPTURED_EVENT,
	      "operation not permitted on an event last recorded in a "
	      "capturing stream"),
	ERROR(ERROR_STREAM_CAPTURE_WRONG_THREAD,
	      "attempt to terminate a thread-local capture sequence from "
	      "another thread"),
	ERROR(ERROR_UNKNOWN, "unknown error"),
#undef ERROR
};

static CUresult describe(CUresult code, const char **name_out,
			 const char **text_out)
{
	const char **out = name_out ? name_out : text_out;

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = NULL;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].code == code) {
			*out = name_out ? errors[i].name : errors[i].text;
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult code, const char **name_out)
{
	FAKE_CALL(cuGetErrorName, describe(code, name_out, NULL));
}

CUresult cuGetErrorString(CUresult code, const char **text_out)
{
	FAKE_CALL(cuGetErrorString, describe(code, NULL, text_out));
}
