/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The driver's results as statuses of the house, each with the driver's own
 * name and text and, where one can do something about it, what that is. Keeps
 * nothing; nobody locks.
 */
#include "plugin.h"

#include <stdarg.h>
#include <stdio.h>

/* Of its errors in kernels and on the device the driver's documentation says
 * that the process has to end before CUDA can be used again. */
#define RESTART                                                                \
	"nothing can be done on this device until the program is "             \
	"started again"
#define DESTROYED                                                              \
	"the program has destroyed the device's context, as "                  \
	"cudaDeviceReset() does, and all memory with it"

struct meaning {
	int first, last; /* CUresult */
	gpumem_status status;
	const char *advice; /* NULL: the driver's text says it all */
};

/* What is not here is DRIVER. */
static const struct meaning meanings[] = {
	{CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE, GPUMEM_INVALID,
	 NULL},
	{CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, GPUMEM_NO_MEMORY,
	 NULL},
	{CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED, GPUMEM_DRIVER,
	 "a child made by fork() cannot use CUDA"},
	/* At exit: nothing of the device can be used, and nothing is lost. */
	{CUDA_ERROR_DEINITIALIZED, CUDA_ERROR_DEINITIALIZED, GPUMEM_LOST,
	 "the program is ending, and the driver takes all memory back"},
	{CUDA_ERROR_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY, GPUMEM_NO_DRIVER,
	 "it is the toolkit's stub and no driver: take its folder out of the "
	 "library path"},
	{CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER,
	 CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, GPUMEM_UNSUPPORTED,
	 "install a newer driver"},
	{CUDA_ERROR_DEVICE_UNAVAILABLE, CUDA_ERROR_DEVICE_UNAVAILABLE,
	 GPUMEM_DRIVER,
	 "another program may use it alone: see its compute mode in "
	 "nvidia-smi"},
	{CUDA_ERROR_NO_DEVICE, CUDA_ERROR_NO_DEVICE, GPUMEM_NO_DEVICE,
	 "see nvidia-smi and CUDA_VISIBLE_DEVICES"},
	{CUDA_ERROR_INVALID_DEVICE, CUDA_ERROR_INVALID_DEVICE, GPUMEM_NO_DEVICE,
	 "see nvidia-smi and CUDA_VISIBLE_DEVICES"},
	{CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_INVALID_CONTEXT, GPUMEM_LOST,
	 DESTROYED},
	{CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
	 GPUMEM_UNSUPPORTED, NULL},
	{CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_ECC_UNCORRECTABLE,
	 GPUMEM_LOST, RESTART},
	{CUDA_ERROR_NVLINK_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE,
	 GPUMEM_LOST, RESTART},
	{226 /* CUDA_ERROR_CONTAINED, 12.8 */, 226, GPUMEM_LOST, RESTART},
	{CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_INVALID_HANDLE, GPUMEM_INVALID,
	 NULL},
	{CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS, GPUMEM_LOST,
	 RESTART},
	{CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT, GPUMEM_LOST,
	 RESTART},
	{CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_CONTEXT_IS_DESTROYED,
	 GPUMEM_LOST, DESTROYED},
	{CUDA_ERROR_ASSERT, CUDA_ERROR_ASSERT, GPUMEM_LOST, RESTART},
	/* Stack, instruction, alignment, address space, counter, launch. */
	{CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_LAUNCH_FAILED, GPUMEM_LOST,
	 RESTART},
	{721 /* CUDA_ERROR_TENSOR_MEMORY_LEAK, 12.9 */, 721, GPUMEM_LOST,
	 RESTART},
	{CUDA_ERROR_NOT_PERMITTED, CUDA_ERROR_NOT_PERMITTED, GPUMEM_DRIVER,
	 "a function that a stream runs on the host may not use CUDA"},
	{CUDA_ERROR_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED, GPUMEM_UNSUPPORTED,
	 NULL},
	{CUDA_ERROR_SYSTEM_NOT_READY, CUDA_ERROR_SYSTEM_NOT_READY,
	 GPUMEM_DRIVER, "see that its services run, nvidia-fabricmanager too"},
	{CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
	 GPUMEM_DRIVER,
	 "libcuda and the kernel's module are of two versions: restart the "
	 "machine after an update"},
	{810 /* CUDA_ERROR_MPS_CLIENT_TERMINATED, 11.8 */, 810, GPUMEM_LOST,
	 RESTART},
	{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
	 CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, GPUMEM_CAPTURING, NULL},
	{911 /* CUDA_ERROR_EXTERNAL_DEVICE, 11.4 */, 911, GPUMEM_LOST, RESTART},
};

static const struct meaning *meaning_of(CUresult result)
{
	static const struct meaning unknown = {.status = GPUMEM_DRIVER};
	size_t i;

	for (i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if ((int)result >= meanings[i].first &&
		    (int)result <= meanings[i].last)
			return &meanings[i];
	return &unknown;
}

/* The toolkit's stub knows neither. */
static const char *name_of(CUresult result)
{
	const char *name = NULL;

	return gm_cuda.GetErrorName(result, &name) || !name ? "" : name;
}

static const char *text_of(CUresult result)
{
	const char *text = NULL;

	return gm_cuda.GetErrorString(result, &text) || !text ? "failed" : text;
}

gpumem_status gm_cuda_check(CUresult result, const char *what, ...)
{
	const struct meaning *meaning;
	char text[256];
	va_list args;

	if (result == CUDA_SUCCESS)
		return GPUMEM_OK;
	if (result == CUDA_ERROR_NOT_READY)
		return GPUMEM_NOT_READY;
	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	meaning = meaning_of(result);
	gm_cuda.services->error(result, name_of(result), "%s: %s%s%s", text,
				text_of(result), meaning->advice ? "; " : "",
				meaning->advice ? meaning->advice : "");
	return meaning->status;
}

gpumem_status gm_cuda_fail(gpumem_status status, CUresult result,
			   const char *sentence, ...)
{
	char text[512];
	va_list args;

	va_start(args, sentence);
	vsnprintf(text, sizeof(text), sentence, args);
	va_end(args);
	gm_cuda.services->error(result, result ? name_of(result) : "", "%s",
				text);
	return status;
}

bool gm_cuda_gone(CUresult result)
{
	return result == CUDA_ERROR_CONTEXT_IS_DESTROYED ||
	       result == CUDA_ERROR_INVALID_CONTEXT ||
	       result == CUDA_ERROR_INVALID_HANDLE;
}
