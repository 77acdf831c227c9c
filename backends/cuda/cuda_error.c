/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What the driver's results mean, for ../common/gpu/error.c. No lock. */
#include "plugin.h"

/* Of its errors in kernels and on the device the driver's documentation says
 * that the process has to end before CUDA can be used again. */
#define RESTART                                                                \
	"nothing can be done on this device until the program is "             \
	"started again"
#define DESTROYED                                                              \
	"the program has destroyed the device's context, as "                  \
	"cudaDeviceReset() does, and all memory with it"

/* What is not here is DRIVER. */
const struct gpu_meaning gpu_meanings[] = {
	{ONE(CUDA_ERROR_INVALID_VALUE), GPUMEM_INVALID, NULL},
	{ONE(CUDA_ERROR_OUT_OF_MEMORY), GPUMEM_NO_MEMORY, NULL},
	{ONE(CUDA_ERROR_NOT_INITIALIZED), GPUMEM_DRIVER,
	 "a child made by fork() cannot use CUDA"},
	/* At exit: nothing of the device can be used, and nothing is lost. */
	{ONE(CUDA_ERROR_DEINITIALIZED), GPUMEM_LOST,
	 "the program is ending, and the driver takes all memory back"},
	{ONE(CUDA_ERROR_STUB_LIBRARY), GPUMEM_NO_DRIVER,
	 "it is the toolkit's stub and no driver: take its folder out of the "
	 "library path"},
	{ONE(36 /* CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, 13.0 */),
	 GPUMEM_UNSUPPORTED, "install a newer driver"},
	{ONE(46 /* CUDA_ERROR_DEVICE_UNAVAILABLE, 11.7 */), GPUMEM_DRIVER,
	 "another program may use it alone: see its compute mode in "
	 "nvidia-smi"},
	{ONE(CUDA_ERROR_NO_DEVICE), GPUMEM_NO_DEVICE,
	 "see nvidia-smi and CUDA_VISIBLE_DEVICES"},
	{ONE(CUDA_ERROR_INVALID_DEVICE), GPUMEM_NO_DEVICE,
	 "see nvidia-smi and CUDA_VISIBLE_DEVICES"},
	{ONE(CUDA_ERROR_INVALID_CONTEXT), GPUMEM_LOST, DESTROYED},
	{ONE(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED), GPUMEM_UNSUPPORTED, NULL},
	{ONE(CUDA_ERROR_ECC_UNCORRECTABLE), GPUMEM_LOST, RESTART},
	{ONE(CUDA_ERROR_NVLINK_UNCORRECTABLE), GPUMEM_LOST, RESTART},
	{ONE(226 /* CUDA_ERROR_CONTAINED, 12.8 */), GPUMEM_LOST, RESTART},
	{ONE(CUDA_ERROR_INVALID_HANDLE), GPUMEM_INVALID, NULL},
	{ONE(CUDA_ERROR_ILLEGAL_ADDRESS), GPUMEM_LOST, RESTART},
	{ONE(CUDA_ERROR_LAUNCH_TIMEOUT), GPUMEM_LOST, RESTART},
	{ONE(CUDA_ERROR_CONTEXT_IS_DESTROYED), GPUMEM_LOST, DESTROYED},
	{ONE(CUDA_ERROR_ASSERT), GPUMEM_LOST, RESTART},
	/* Stack, instruction, alignment, address space, counter, launch. */
	{CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_LAUNCH_FAILED, GPUMEM_LOST,
	 RESTART},
	{ONE(721 /* CUDA_ERROR_TENSOR_MEMORY_LEAK, 12.9 */), GPUMEM_LOST,
	 RESTART},
	{ONE(CUDA_ERROR_NOT_PERMITTED), GPUMEM_DRIVER,
	 "a function that a stream runs on the host may not use CUDA"},
	{ONE(CUDA_ERROR_NOT_SUPPORTED), GPUMEM_UNSUPPORTED, NULL},
	{ONE(CUDA_ERROR_SYSTEM_NOT_READY), GPUMEM_DRIVER,
	 "see that its services run, nvidia-fabricmanager too"},
	{ONE(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH), GPUMEM_DRIVER,
	 "libcuda and the kernel's module are of two versions: restart the "
	 "machine after an update"},
	{ONE(810 /* CUDA_ERROR_MPS_CLIENT_TERMINATED, 11.8 */), GPUMEM_LOST,
	 RESTART},
	{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
	 CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, GPUMEM_CAPTURING, NULL},
	{ONE(911 /* CUDA_ERROR_EXTERNAL_DEVICE, 11.4 */), GPUMEM_LOST, RESTART},
	{0},
};

/* The toolkit's stub knows neither. */
const char *gpu_error_name(CUresult result)
{
	const char *name = NULL;

	return gpu.GetErrorName(result, &name) || !name ? "" : name;
}

const char *gpu_error_text(CUresult result)
{
	const char *text = NULL;

	return gpu.GetErrorString(result, &text) || !text ? "failed" : text;
}

bool gpu_gone(CUresult result)
{
	return result == CUDA_ERROR_CONTEXT_IS_DESTROYED ||
	       result == CUDA_ERROR_INVALID_CONTEXT ||
	       result == CUDA_ERROR_INVALID_HANDLE;
}
