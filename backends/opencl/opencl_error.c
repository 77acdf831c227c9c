/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The implementation's results as gpumem statuses, each with OpenCL's own
 * name. OpenCL has no texts, so the sentences are ours. Keeps nothing; no lock.
 */
#include "opencl_plugin.h"

#include <stdarg.h>
#include <stdio.h>

/* name, number, status, text. What is not here is DRIVER. */
#define RESULT_LIST(X)                                                         \
	X(CL_DEVICE_NOT_FOUND, -1, NO_DEVICE, "there is no such device")       \
	X(CL_DEVICE_NOT_AVAILABLE, -2, DRIVER,                                 \
	  "the device is not available now; another program may use it alone") \
	X(CL_MEM_OBJECT_ALLOCATION_FAILURE, -4, NO_MEMORY,                     \
	  "no memory could be had for it on the device")                       \
	X(CL_OUT_OF_RESOURCES, -5, DRIVER,                                     \
	  "the device has run out of something, or its work has failed")       \
	X(CL_OUT_OF_HOST_MEMORY, -6, NO_HOST_MEMORY,                           \
	  "the implementation has no host memory for it")                      \
	X(CL_MEM_COPY_OVERLAP, -8, INVALID, "the two places overlap")          \
	X(CL_MISALIGNED_SUB_BUFFER_OFFSET, -13, INVALID,                       \
	  "a part of a buffer has to begin at a multiple of the device's "     \
	  "alignment")                                                         \
	X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, -14, DRIVER,           \
	  "work that it had to wait for has failed")                           \
	X(CL_INVALID_VALUE, -30, INVALID, "an argument is not valid")          \
	X(CL_INVALID_DEVICE, -33, INVALID, "it is no device of the context")   \
	X(CL_INVALID_CONTEXT, -34, INVALID,                                    \
	  "it is no context, or two things are of different ones")             \
	X(CL_INVALID_COMMAND_QUEUE, -36, INVALID, "it is no command queue")    \
	X(CL_INVALID_MEM_OBJECT, -38, INVALID, "it is no memory object")       \
	X(CL_INVALID_EVENT, -58, INVALID, "it is no event")                    \
	X(CL_INVALID_OPERATION, -59, UNSUPPORTED,                              \
	  "the device, or its queue, does not do that")                        \
	X(CL_INVALID_BUFFER_SIZE, -61, INVALID,                                \
	  "a buffer of that size is not possible")                             \
	X(CL_PLATFORM_NOT_FOUND_KHR, -1001, NO_DRIVER,                         \
	  "the loader finds no platform")                                      \
	X(NVIDIA_ILLEGAL_BUFFER_ACCESS, -9999, LOST,                           \
	  "a kernel has used memory that is none; nothing can be done on "     \
	  "this device until the program is started again")

static const struct meaning {
	cl_int result;
	gpumem_status status;
	const char *name, *text;
} meanings[] = {
#define RESULT_ROW(name, number, status, text)                                 \
	{number, GPUMEM_##status, #name, text},
	RESULT_LIST(RESULT_ROW)
#undef RESULT_ROW
};

static const struct meaning *meaning_of(cl_int result)
{
	static const struct meaning unknown = {0, GPUMEM_DRIVER, "",
					       "the call failed"};
	size_t i;

	for (i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (meanings[i].result == result)
			return &meanings[i];
	return &unknown;
}

static void say(cl_int result, const char *what, va_list args)
{
	const struct meaning *meaning = meaning_of(result);
	char text[256];

	vsnprintf(text, sizeof(text), what, args);
	gm_opencl.services->error(result, meaning->name, "%s: %s (%d)", text,
				  meaning->text, (int)result);
}

gpumem_status gm_opencl_check(cl_int result, const char *what, ...)
{
	va_list args;

	if (result == CL_SUCCESS)
		return GPUMEM_OK;
	va_start(args, what);
	say(result, what, args);
	va_end(args);
	return meaning_of(result)->status;
}

/* Implementations differ in which of the three they say. On a processor host
 * and device memory are the same. */
gpumem_status gm_opencl_check_memory(cl_int result, const char *what, ...)
{
	va_list args;

	if (result == CL_SUCCESS)
		return GPUMEM_OK;
	va_start(args, what);
	say(result, what, args);
	va_end(args);
	if (result == CL_OUT_OF_RESOURCES || result == CL_OUT_OF_HOST_MEMORY)
		return GPUMEM_NO_MEMORY;
	return meaning_of(result)->status;
}

/* What a result means of a call it need not mean of a command: many tell all
 * failures of commands by the same number. */
gpumem_status gm_opencl_check_work(cl_int state)
{
	const struct meaning *meaning = meaning_of(state);

	if (meaning->status == GPUMEM_LOST)
		return gm_opencl_check(state, "work of the command queue");
	return gm_opencl_fail(GPUMEM_DRIVER, state,
			      "work of the command queue, or work that it had "
			      "to wait for, has failed (%d)",
			      (int)state);
}

gpumem_status gm_opencl_fail(gpumem_status status, cl_int result,
			     const char *sentence, ...)
{
	char text[512];
	va_list args;

	va_start(args, sentence);
	vsnprintf(text, sizeof(text), sentence, args);
	va_end(args);
	gm_opencl.services->error(
		result, result ? meaning_of(result)->name : "", "%s", text);
	return status;
}
