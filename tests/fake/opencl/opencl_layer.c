/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * An OpenCL layer, for the loader's OPENCL_LAYERS: it lets calls fail before
 * they reach an implementation, has others answer what a test likes, and counts
 * what is held. What it has no function for goes past it. Keeps only the table
 * of those below, written once.
 *
 * It sees the program's calls, the plugin's among them, and not those that an
 * implementation makes inside itself.
 */
#include "opencl_layer.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT_MOST 128 /* that of the largest type */

static struct _cl_icd_dispatch above, below;

#define ASK(name, parameters, arguments)                                       \
	static cl_int CL_API_CALL layer_##name parameters                      \
	{                                                                      \
		cl_int code = layer_next(CALL_##name);                         \
                                                                               \
		return code ? code : below.name arguments;                     \
	}
LAYER_ASKS(ASK)

#define LIAR(name, type)                                                       \
	static cl_int CL_API_CALL layer_##name(type id, cl_uint what,          \
					       size_t bytes, void *value,      \
					       size_t *used)                   \
	{                                                                      \
		cl_int code = layer_next(CALL_##name);                         \
                                                                               \
		if (!code &&                                                   \
		    layer_lies(CALL_##name, what, bytes, value, used, &code))  \
			return code;                                           \
		return code ? code : below.name(id, what, bytes, value, used); \
	}
LAYER_LIARS(LIAR)

#define REFERENCE(name, type, thing, change)                                   \
	static cl_int CL_API_CALL layer_##name(type object)                    \
	{                                                                      \
		cl_int code = layer_next(CALL_##name);                         \
                                                                               \
		if (!code)                                                     \
			code = below.name(object);                             \
		if (!code)                                                     \
			layer_count(thing, change);                            \
		return code;                                                   \
	}
LAYER_REFERENCES(REFERENCE)

#define MAKER(name, type, thing, parameters, arguments)                        \
	static type CL_API_CALL layer_##name parameters                        \
	{                                                                      \
		cl_int code = layer_next(CALL_##name);                         \
		type made = NULL;                                              \
                                                                               \
		if (!code)                                                     \
			made = below.name arguments;                           \
		else if (result)                                               \
			*result = code;                                        \
		if (made)                                                      \
			layer_count(thing, 1);                                 \
		return made;                                                   \
	}
LAYER_MAKERS(MAKER)

#define COMMAND(name, parameters, arguments)                                   \
	static cl_int CL_API_CALL layer_##name parameters                      \
	{                                                                      \
		cl_int code = layer_next(CALL_##name);                         \
                                                                               \
		layer_into(queue);                                             \
		if (!code)                                                     \
			code = below.name arguments;                           \
		layer_out_of(queue);                                           \
		if (!code && event)                                            \
			layer_count(EVENTS, 1);                                \
		return code;                                                   \
	}
LAYER_COMMANDS(COMMAND)

/* In pretence there is a marker in its stead. */
#define MOVE(name, parameters, arguments, to_at, from_at)                      \
	static cl_int CL_API_CALL layer_##name parameters                      \
	{                                                                      \
		cl_int code = layer_next(CALL_##name);                         \
                                                                               \
		layer_into(queue);                                             \
		if (!code &&                                                   \
		    layer_pretends(CALL_##name, to_at, from_at, bytes))        \
			code = below.clEnqueueMarkerWithWaitList(              \
				queue, count, waits, event);                   \
		else if (!code)                                                \
			code = below.name arguments;                           \
		layer_out_of(queue);                                           \
		if (!code && event)                                            \
			layer_count(EVENTS, 1);                                \
		return code;                                                   \
	}
LAYER_MOVES(MOVE)

/* As strict as an implementation may be. */
static void *CL_API_CALL layer_clSVMAlloc(cl_context context,
					  cl_svm_mem_flags flags, size_t bytes,
					  cl_uint alignment)
{
	void *made = NULL;

	if (!layer_next(CALL_clSVMAlloc) && alignment <= ALIGNMENT_MOST)
		made = below.clSVMAlloc(context, flags, layer_bytes(bytes),
					alignment);
	if (made)
		layer_count(SVM, 1);
	return made;
}

/* It cannot fail. */
static void CL_API_CALL layer_clSVMFree(cl_context context, void *base)
{
	(void)layer_next(CALL_clSVMFree);
	below.clSVMFree(context, base);
	if (base)
		layer_count(SVM, -1);
}

/* Unified shared memory is made of SVM. */
static void *CL_API_CALL usm_alloc(cl_context context, cl_device_id id,
				   const cl_mem_properties_intel *properties,
				   size_t bytes, cl_uint alignment,
				   cl_int *result)
{
	void *made =
		layer_clSVMAlloc(context, CL_MEM_READ_WRITE, bytes, alignment);

	(void)id;
	(void)properties;
	if (result)
		*result = made ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
	return made;
}

static cl_int CL_API_CALL usm_free(cl_context context, void *base)
{
	layer_clSVMFree(context, base);
	return CL_SUCCESS;
}

static void *CL_API_CALL layer_clGetExtensionFunctionAddressForPlatform(
	cl_platform_id platform, const char *name)
{
	static const struct {
		const char *name;
		union {
			clDeviceMemAllocINTEL_fn alloc;
			clMemFreeINTEL_fn free;
			clEnqueueMemFillINTEL_fn fill;
			clEnqueueMemcpyINTEL_fn copy;
			void *address;
		} function;
	} usm[] = {
		{"clDeviceMemAllocINTEL", {.alloc = usm_alloc}},
		{"clMemFreeINTEL", {.free = usm_free}},
		{"clEnqueueMemFillINTEL", {.fill = layer_clEnqueueSVMMemFill}},
		{"clEnqueueMemcpyINTEL", {.copy = layer_clEnqueueSVMMemcpy}},
	};

	if (layer_next(CALL_clGetExtensionFunctionAddressForPlatform))
		return NULL;
	for (size_t i = 0; i < sizeof(usm) / sizeof(usm[0]); i++)
		if (strcmp(name, usm[i].name) == 0)
			return usm[i].function.address;
	return below.clGetExtensionFunctionAddressForPlatform(platform, name);
}

LAYER_API cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t bytes,
					    void *value, size_t *used)
{
	static const char name[] = "gpumem test layer";
	const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
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

LAYER_API cl_int CL_API_CALL clInitLayer(cl_uint count,
					 const cl_icd_dispatch *target,
					 cl_uint *count_out,
					 const cl_icd_dispatch **table_out)
{
	const cl_uint wanted = sizeof(below) / sizeof(below.clGetPlatformIDs);

	if (!target || !count_out || !table_out || count < wanted)
		return CL_INVALID_VALUE;
	below = *target;
	if (getenv("FAKECL_PROMPT"))
		below.clFlush = below.clFinish;
	above = below;
#define PLACE(name, ...) above.name = layer_##name;
	LAYER_CALLS(PLACE)
#undef PLACE
	*count_out = wanted;
	*table_out = &above;
	return CL_SUCCESS;
}
