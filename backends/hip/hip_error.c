/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The runtime's errors as statuses of the house, each with the runtime's own
 * name and text and, where one can do something about it, what that is. Keeps
 * nothing; nobody locks.
 */
#include "plugin.h"

#include <stdarg.h>
#include <stdio.h>

#define RESTART                                                                \
	"nothing can be done on this device until the program is "             \
	"started again"
#define LOOK                                                                   \
	"see rocminfo, HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES, and "        \
	"whether the user may open /dev/kfd and /dev/dri/renderD*"
#define INSIDE "the kernel's log may say more: dmesg"

struct meaning {
	int first, last; /* hipError_t */
	gpumem_status status;
	const char *advice; /* NULL: the runtime's text says it all */
};

/* What is not here is DRIVER. Without a device the releases differ in which of
 * 100 and 101 they give, and for which call. */
static const struct meaning meanings[] = {
	{hipErrorInvalidValue, hipErrorInvalidValue, GPUMEM_INVALID, NULL},
	{hipErrorOutOfMemory, hipErrorOutOfMemory, GPUMEM_NO_MEMORY, NULL},
	{hipErrorNotInitialized, hipErrorNotInitialized, GPUMEM_DRIVER,
	 "a child made by fork() cannot use HIP"},
	/* At exit: nothing of the device can be used, and nothing is lost. */
	{hipErrorDeinitialized, hipErrorDeinitialized, GPUMEM_LOST,
	 "the program is ending, and the runtime takes all memory back"},
	{hipErrorInvalidDevicePointer, hipErrorInvalidDevicePointer,
	 GPUMEM_INVALID, NULL},
	{hipErrorInsufficientDriver, hipErrorInsufficientDriver,
	 GPUMEM_NO_DRIVER, "install a newer amdgpu driver"},
	{hipErrorNoDevice, hipErrorInvalidDevice, GPUMEM_NO_DEVICE, LOOK},
	{hipErrorECCNotCorrectable, hipErrorECCNotCorrectable, GPUMEM_LOST,
	 RESTART},
	{hipErrorPeerAccessUnsupported, hipErrorPeerAccessUnsupported,
	 GPUMEM_UNSUPPORTED, NULL},
	{hipErrorInvalidHandle, hipErrorInvalidHandle, GPUMEM_INVALID, NULL},
	{hipErrorIllegalAddress, hipErrorIllegalAddress, GPUMEM_LOST, RESTART},
	{hipErrorLaunchTimeOut, hipErrorLaunchTimeOut, GPUMEM_LOST, RESTART},
	{hipErrorContextIsDestroyed, hipErrorContextIsDestroyed, GPUMEM_LOST,
	 "the program has destroyed it, as hipDeviceReset() does, and all "
	 "memory with it"},
	{hipErrorAssert, hipErrorAssert, GPUMEM_LOST, RESTART},
	{hipErrorLaunchFailure, hipErrorLaunchFailure, GPUMEM_LOST, RESTART},
	{hipErrorNotSupported, hipErrorNotSupported, GPUMEM_UNSUPPORTED, NULL},
	{hipErrorStreamCaptureUnsupported, hipErrorStreamCaptureWrongThread,
	 GPUMEM_CAPTURING, NULL},
	{hipErrorRuntimeMemory, hipErrorRuntimeOther, GPUMEM_DRIVER, INSIDE},
};

static const struct meaning *meaning_of(hipError_t error)
{
	static const struct meaning unknown = {.status = GPUMEM_DRIVER};
	size_t i;

	for (i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if ((int)error >= meanings[i].first &&
		    (int)error <= meanings[i].last)
			return &meanings[i];
	return &unknown;
}

static const char *name_of(hipError_t error)
{
	const char *name = gm_hip.GetErrorName(error);

	return name ? name : "";
}

static const char *text_of(hipError_t error)
{
	const char *text = gm_hip.GetErrorString(error);

	return text ? text : "failed";
}

gpumem_status gm_hip_check(hipError_t error, const char *what, ...)
{
	const struct meaning *meaning;
	char text[256];
	va_list args;

	if (error == hipSuccess)
		return GPUMEM_OK;
	if (error == hipErrorNotReady)
		return GPUMEM_NOT_READY;
	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	meaning = meaning_of(error);
	gm_hip.services->error(error, name_of(error), "%s: %s%s%s", text,
			       text_of(error), meaning->advice ? "; " : "",
			       meaning->advice ? meaning->advice : "");
	return meaning->status;
}

gpumem_status gm_hip_fail(gpumem_status status, hipError_t error,
			  const char *sentence, ...)
{
	char text[512];
	va_list args;

	va_start(args, sentence);
	vsnprintf(text, sizeof(text), sentence, args);
	va_end(args);
	gm_hip.services->error(error, error ? name_of(error) : "", "%s", text);
	return status;
}
