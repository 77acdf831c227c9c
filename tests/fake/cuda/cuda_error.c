/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The names of the codes that the double and its faults give.
 */
#include "../common/errors.h"
#include "cuda_fake.h"

/* HIP has none of these, or says something else. */
#define ERRORS(X)                                                              \
	FAKE_ERRORS(X)                                                         \
	X(CUDA_ERROR_STUB_LIBRARY, , "CUDA driver is a stub library")          \
	X(CUDA_ERROR_NO_DEVICE, , "no CUDA-capable device is detected")        \
	X(CUDA_ERROR_HARDWARE_STACK_ERROR, , "hardware stack error")           \
	X(CUDA_ERROR_ILLEGAL_INSTRUCTION, ,                                    \
	  "an illegal instruction was encountered")                            \
	X(CUDA_ERROR_MISALIGNED_ADDRESS, , "misaligned address")               \
	X(CUDA_ERROR_NOT_PERMITTED, , "operation not permitted")               \
	X(CUDA_ERROR_SYSTEM_NOT_READY, , "system not yet initialized")         \
	X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, ,                                 \
	  "system has unsupported display driver / cuda driver combination")

static const struct {
	CUresult code;
	const char *name, *text;
} errors[] = {
#define ERROR(code, hip, text) {code, #code, text},
	ERRORS(ERROR)
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
