/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What the runtime's errors mean, for ../common/gpu/error.c. No lock. */
#include "plugin.h"

#define RESTART                                                                \
	"nothing can be done on this device until the program is "             \
	"started again"
#define LOOK                                                                   \
	"see rocminfo, HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES, and "        \
	"whether the user may open /dev/kfd and /dev/dri/renderD*"
#define INSIDE "the kernel's log may say more: dmesg"

/* What is not here is DRIVER. Without a device the releases differ in which of
 * 100 and 101 they give, and for which call. */
const struct gpu_meaning gpu_meanings[] = {
	{ONE(hipErrorInvalidValue), GPUMEM_INVALID, NULL},
	{ONE(hipErrorOutOfMemory), GPUMEM_NO_MEMORY, NULL},
	{ONE(hipErrorNotInitialized), GPUMEM_DRIVER,
	 "a child made by fork() cannot use HIP"},
	/* At exit: nothing of the device can be used, and nothing is lost. */
	{ONE(hipErrorDeinitialized), GPUMEM_LOST,
	 "the program is ending, and the runtime takes all memory back"},
	{ONE(hipErrorInvalidDevicePointer), GPUMEM_INVALID, NULL},
	{ONE(hipErrorInsufficientDriver), GPUMEM_NO_DRIVER,
	 "install a newer amdgpu driver"},
	{hipErrorNoDevice, hipErrorInvalidDevice, GPUMEM_NO_DEVICE, LOOK},
	{ONE(hipErrorECCNotCorrectable), GPUMEM_LOST, RESTART},
	{ONE(hipErrorPeerAccessUnsupported), GPUMEM_UNSUPPORTED, NULL},
	{ONE(hipErrorInvalidHandle), GPUMEM_INVALID, NULL},
	{ONE(hipErrorIllegalAddress), GPUMEM_LOST, RESTART},
	{ONE(hipErrorLaunchTimeOut), GPUMEM_LOST, RESTART},
	{ONE(hipErrorContextIsDestroyed), GPUMEM_LOST,
	 "the program has destroyed it, as hipDeviceReset() does, and all "
	 "memory with it"},
	{ONE(hipErrorAssert), GPUMEM_LOST, RESTART},
	{ONE(hipErrorLaunchFailure), GPUMEM_LOST, RESTART},
	{ONE(hipErrorNotSupported), GPUMEM_UNSUPPORTED, NULL},
	{hipErrorStreamCaptureUnsupported, hipErrorStreamCaptureWrongThread,
	 GPUMEM_CAPTURING, NULL},
	{hipErrorRuntimeMemory, hipErrorRuntimeOther, GPUMEM_DRIVER, INSIDE},
	{0},
};

const char *gpu_error_name(hipError_t error)
{
	const char *name = gpu.GetErrorName(error);

	return name ? name : "";
}

const char *gpu_error_text(hipError_t error)
{
	const char *text = gpu.GetErrorString(error);

	return text ? text : "failed";
}

bool gpu_gone(hipError_t error)
{
	return error == hipErrorContextIsDestroyed ||
	       error == hipErrorInvalidContext ||
	       error == hipErrorInvalidHandle || error == hipErrorInvalidValue;
}
