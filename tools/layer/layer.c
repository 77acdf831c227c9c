/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The functions that stand in front of an implementation's, and the two by
 * which a loader finds them. What has none here goes past the layer; those of
 * extensions are usm.c's.
 *
 * A call that an implementation makes by the loader while it serves another is
 * not the program's and is not counted. A free is taken off before it is made:
 * the address can be somebody else's when it returns.
 */
#include "layer.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define LAYER_API __attribute__((visibility("default")))

struct _cl_icd_dispatch layer_below;
static struct _cl_icd_dispatch above;
__thread unsigned layer_depth;

static cl_mem refused(cl_int *result)
{
	*result = CL_MEM_OBJECT_ALLOCATION_FAILURE;
	return NULL;
}

/* What the program gets of it. */
static cl_mem counted(cl_context context, enum ledger_kind kind, cl_mem made,
		      size_t bytes, cl_int *result)
{
	bool ok = layer_made(context, kind, made, bytes, *result);

	layer_land();
	if (ok)
		return made;
	layer_depth++;
	(void)layer_below.clReleaseMemObject(made);
	layer_depth--;
	return refused(result);
}

#define MAKER(name, kind, size, parameters, arguments)                         \
	static cl_mem CL_API_CALL wrap_##name parameters                       \
	{                                                                      \
		cl_int own = CL_SUCCESS, saved;                                \
		cl_mem made;                                                   \
                                                                               \
		result = result ? result : &own;                               \
		if (!layer_depth && !layer_wanted(context, kind, flags, size)) \
			return refused(result);                                \
		layer_depth++;                                                 \
		made = layer_below.name arguments;                             \
		layer_depth--;                                                 \
		saved = errno;                                                 \
		if (!layer_depth)                                              \
			made = counted(context, kind, made, size, result);     \
		errno = saved;                                                 \
		return made;                                                   \
	}

/* name, kind, bytes if they are known, parameters, arguments */
#define MAKERS(X)                                                              \
	X(clCreateBuffer, LEDGER_BUFFER, bytes,                                \
	  (cl_context context, cl_mem_flags flags, size_t bytes, void *host,   \
	   cl_int *result),                                                    \
	  (context, flags, bytes, host, result))                               \
	X(clCreateBufferWithProperties, LEDGER_BUFFER, bytes,                  \
	  (cl_context context, const cl_mem_properties *properties,            \
	   cl_mem_flags flags, size_t bytes, void *host, cl_int *result),      \
	  (context, properties, flags, bytes, host, result))                   \
	X(clCreateImage, LEDGER_IMAGE, 0,                                      \
	  (cl_context context, cl_mem_flags flags,                             \
	   const cl_image_format *format, const cl_image_desc *about,          \
	   void *host, cl_int *result),                                        \
	  (context, flags, format, about, host, result))                       \
	X(clCreateImageWithProperties, LEDGER_IMAGE, 0,                        \
	  (cl_context context, const cl_mem_properties *properties,            \
	   cl_mem_flags flags, const cl_image_format *format,                  \
	   const cl_image_desc *about, void *host, cl_int *result),            \
	  (context, properties, flags, format, about, host, result))           \
	X(clCreateImage2D, LEDGER_IMAGE, 0,                                    \
	  (cl_context context, cl_mem_flags flags,                             \
	   const cl_image_format *format, size_t width, size_t height,         \
	   size_t pitch, void *host, cl_int *result),                          \
	  (context, flags, format, width, height, pitch, host, result))        \
	X(clCreateImage3D, LEDGER_IMAGE, 0,                                    \
	  (cl_context context, cl_mem_flags flags,                             \
	   const cl_image_format *format, size_t width, size_t height,         \
	   size_t depth_of, size_t pitch, size_t slice, void *host,            \
	   cl_int *result),                                                    \
	  (context, flags, format, width, height, depth_of, pitch, slice,      \
	   host, result))                                                      \
	X(clCreatePipe, LEDGER_PIPE, 0,                                        \
	  (cl_context context, cl_mem_flags flags, cl_uint packet,             \
	   cl_uint most, const cl_pipe_properties *properties,                 \
	   cl_int *result),                                                    \
	  (context, flags, packet, most, properties, result))
MAKERS(MAKER)

static void *CL_API_CALL wrap_clSVMAlloc(cl_context context,
					 cl_svm_mem_flags flags, size_t bytes,
					 cl_uint alignment)
{
	void *made;
	int saved;

	if (!layer_depth && !layer_wanted_svm(context, NULL, LEDGER_SVM, bytes))
		return NULL;
	layer_depth++;
	made = layer_below.clSVMAlloc(context, flags, bytes, alignment);
	layer_depth--;
	saved = errno;
	if (!layer_depth)
		layer_made_svm(context, NULL, LEDGER_SVM, made, bytes);
	if (!layer_depth)
		layer_land();
	errno = saved;
	return made;
}

static void CL_API_CALL wrap_clSVMFree(cl_context context, void *address)
{
	if (address && !layer_depth &&
	    !layer_discharge(LAYER_SVM, (uintptr_t)address, true))
		layer_note(LEDGER_UNKNOWN);
	layer_depth++;
	layer_below.clSVMFree(context, address);
	layer_depth--;
	if (!layer_depth)
		layer_land();
}

/* With a function of the program's it is that one which frees. */
static cl_int CL_API_CALL wrap_clEnqueueSVMFree(
	cl_command_queue queue, cl_uint count, void *addresses[],
	void(CL_CALLBACK *free_them)(cl_command_queue, cl_uint, void *[],
				     void *),
	void *user, cl_uint wait_count, const cl_event *waits, cl_event *event)
{
	bool ours = !free_them && addresses && !layer_depth;
	cl_int code;

	for (cl_uint i = 0; ours && i < count; i++)
		layer_move(LAYER_SVM, LAYER_SVM_ENDING,
			   (uintptr_t)addresses[i]);
	layer_depth++;
	code = layer_below.clEnqueueSVMFree(queue, count, addresses, free_them,
					    user, wait_count, waits, event);
	layer_depth--;
	for (cl_uint i = 0; ours && i < count; i++) {
		uint64_t key = (uintptr_t)addresses[i];

		if (code)
			layer_move(LAYER_SVM_ENDING, LAYER_SVM, key);
		else if (!layer_discharge(LAYER_SVM_ENDING, key, false))
			layer_note(LEDGER_UNKNOWN);
	}
	return code;
}

static void cap_size(cl_device_id device, void *value)
{
	uint64_t limit = layer_limit(layer_total(device));
	cl_ulong size;

	memcpy(&size, value, sizeof(size));
	size = size < limit ? size : limit;
	memcpy(value, &size, sizeof(size));
}

/* All that is free in KiB, and the largest piece; some devices say the first
 * only. */
static void cap_free(cl_device_id device, size_t bytes, void *value)
{
	uint64_t left_kib = layer_left(device) >> 10;
	size_t kib[2];
	size_t count = bytes / sizeof(kib[0]) < 2 ? bytes / sizeof(kib[0]) : 2;

	memcpy(kib, value, count * sizeof(kib[0]));
	for (size_t i = 0; i < count; i++)
		kib[i] = kib[i] < left_kib ? kib[i] : (size_t)left_kib;
	memcpy(value, kib, count * sizeof(kib[0]));
}

/* With a limit: a device of that size, if it has more, and what is left of it.
 * The implementation knows how much of `value` it has written. */
static cl_int CL_API_CALL wrap_clGetDeviceInfo(cl_device_id device,
					       cl_device_info what,
					       size_t bytes, void *value,
					       size_t *used)
{
	size_t own = 0;
	cl_int code;

	used = used ? used : &own;
	code = layer_below.clGetDeviceInfo(device, what, bytes, value, used);
	if (code || !value || layer_depth)
		return code;
	if (what == CL_DEVICE_GLOBAL_MEM_SIZE ||
	    what == CL_DEVICE_MAX_MEM_ALLOC_SIZE)
		cap_size(device, value);
	if (what == CL_DEVICE_GLOBAL_FREE_MEMORY_AMD)
		cap_free(device, *used < bytes ? *used : bytes, value);
	return code;
}

#define WRAPPERS(X)                                                            \
	MAKERS(X)                                                              \
	X(clSVMAlloc, )                                                        \
	X(clSVMFree, )                                                         \
	X(clEnqueueSVMFree, )                                                  \
	X(clGetExtensionFunctionAddress, )                                     \
	X(clGetExtensionFunctionAddressForPlatform, )

LAYER_API cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t bytes,
					    void *value, size_t *used)
{
	static const char name[] = "gpumem-run";
	static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
	const void *from = what == CL_LAYER_NAME ? (const void *)name
						 : (const void *)&version;
	size_t size = what == CL_LAYER_NAME ? sizeof(name) : sizeof(version);

	if (what != CL_LAYER_NAME && what != CL_LAYER_API_VERSION)
		return CL_INVALID_VALUE;
	if (value && bytes < size)
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, from, size);
	if (used)
		*used = size;
	return CL_SUCCESS;
}

/* A loader has that much of the table at least, or gets nothing: without these
 * questions nothing can be counted. */
static bool can_follow(cl_uint count)
{
	return count * sizeof(void *) >= sizeof(layer_below) / 2 &&
	       layer_below.clGetContextInfo && layer_below.clGetDeviceInfo &&
	       layer_below.clGetMemObjectInfo &&
	       layer_below.clReleaseMemObject &&
	       layer_below.clSetMemObjectDestructorCallback;
}

/* Refused, the layer is left out. So it is the second time: by another loader
 * of the process, or by another name of this file. */
LAYER_API cl_int CL_API_CALL clInitLayer(cl_uint count,
					 const cl_icd_dispatch *target,
					 cl_uint *count_out,
					 const cl_icd_dispatch **table_out)
{
	static atomic_flag begun = ATOMIC_FLAG_INIT;
	cl_uint most = sizeof(layer_below) / sizeof(void *);

	if (!target || !count_out || !table_out)
		return CL_INVALID_VALUE;
	if (!layer_active() || atomic_flag_test_and_set(&begun))
		return CL_INVALID_OPERATION;
	count = count < most ? count : most;
	memcpy(&layer_below, target, count * sizeof(void *));
	if (!can_follow(count))
		return CL_INVALID_OPERATION;
	above = layer_below;
#define PLACE(name, ...)                                                       \
	if (layer_below.name)                                                  \
		above.name = wrap_##name;
	WRAPPERS(PLACE)
#undef PLACE
	if (layer_limited())
		above.clGetDeviceInfo = wrap_clGetDeviceInfo;
	*count_out = count;
	*table_out = &above;
	return CL_SUCCESS;
}

/* The same to Khronos' loader of 2024 and later, which calls no other. What it
 * may be told is how a layer is to end, which is as it was: this library stays,
 * for objects may end later. Headers from 2026 on have a type of their own for
 * that, so it has another name here. */
LAYER_API cl_int CL_API_CALL clDeinitLayer(void);
LAYER_API cl_int CL_API_CALL init_with_properties(
	cl_uint count, const cl_icd_dispatch *target, cl_uint *count_out,
	const cl_icd_dispatch **table_out,
	const void *properties) __asm__("clInitLayerWithProperties");

cl_int CL_API_CALL init_with_properties(cl_uint count,
					const cl_icd_dispatch *target,
					cl_uint *count_out,
					const cl_icd_dispatch **table_out,
					const void *properties)
{
	(void)properties;
	return clInitLayer(count, target, count_out, table_out);
}

LAYER_API cl_int CL_API_CALL clDeinitLayer(void)
{
	return CL_SUCCESS;
}
