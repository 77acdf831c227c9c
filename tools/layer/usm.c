/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Unified shared memory of cl_intel_unified_shared_memory, by which SYCL
 * allocates. Its functions are in no table of a loader: a program asks for
 * their addresses, and gets ours. Each platform has its own behind them; which
 * one is called is decided by the context. Other functions of extensions that
 * allocate are left alone, and noted. What is kept here is written once and
 * never taken back; a forked child has it too.
 */
#include "layer.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

enum usm_call { HOST, DEVICE, SHARED, FREE, FREE_BLOCKING, CALLS };

#define PLATFORMS 16

enum { FREE_ROW, TAKEN, READY };

typedef void *CL_API_CALL host_fn(cl_context context,
				  const cl_bitfield *properties, size_t bytes,
				  cl_uint alignment, cl_int *result);
typedef void *CL_API_CALL device_fn(cl_context context, cl_device_id device,
				    const cl_bitfield *properties, size_t bytes,
				    cl_uint alignment, cl_int *result);
typedef cl_int CL_API_CALL free_fn(cl_context context, void *address);

/* Of one platform; NULL: of programs that named none. */
static struct platform {
	_Atomic(cl_platform_id) id;
	atomic_int state;
	atomic_uintptr_t real[CALLS];
} platforms[PLATFORMS];

/* ---- which function --------------------------------------------------------
 */

/* Of a context that the implementation knows; else NULL. */
static cl_platform_id platform_of(cl_context context)
{
	cl_platform_id platform = NULL;
	cl_device_id devices[64];

	if (layer_below.clGetContextInfo(context, CL_CONTEXT_DEVICES,
					 sizeof(devices), devices, NULL) ||
	    layer_below.clGetDeviceInfo(devices[0], CL_DEVICE_PLATFORM,
					sizeof(platform), &platform, NULL))
		return NULL;
	return platform;
}

/* 0: it has none. */
static uintptr_t real_in(const struct platform *platform, enum usm_call call)
{
	return platform->state == READY ? platform->real[call] : 0;
}

/* The only one that there is; 0: there are several. */
static uintptr_t only(enum usm_call call)
{
	uintptr_t found = 0;

	for (int i = 0; i < PLATFORMS; i++) {
		uintptr_t real = real_in(&platforms[i], call);

		if (real && found && real != found)
			return 0;
		found = real ? real : found;
	}
	return found;
}

/* A wrong context is asked nothing that the program does not ask itself, where
 * there is one platform. */
static uintptr_t real_of(enum usm_call call, cl_context context)
{
	uintptr_t real = only(call), unnamed = 0;
	cl_platform_id platform;

	if (real)
		return real;
	platform = platform_of(context);
	for (int i = 0; i < PLATFORMS; i++) {
		real = real_in(&platforms[i], call);
		if (real && platform && platforms[i].id == platform)
			return real;
		if (real && (!unnamed || !platforms[i].id))
			unnamed = real;
	}
	return unnamed;
}

/* False: there is no room for one more platform. Without a lock, which a child
 * could be born with: one that another thread takes now is passed over, and a
 * platform may have two. */
static bool keep(cl_platform_id id, enum usm_call call, uintptr_t real)
{
	for (int i = 0; i < PLATFORMS; i++) {
		struct platform *platform = &platforms[i];
		int free = FREE_ROW;

		if (platform->state == READY && platform->id == id) {
			platform->real[call] = real;
			return true;
		}
		if (!atomic_compare_exchange_strong(&platform->state, &free,
						    TAKEN))
			continue;
		platform->id = id;
		platform->real[call] = real;
		platform->state = READY;
		return true;
	}
	return false;
}

/* ---- the calls -------------------------------------------------------------
 */

static bool refused(cl_context context, cl_device_id device, size_t bytes,
		    cl_int *result)
{
	if (layer_depth || layer_wanted_svm(context, device, LEDGER_USM, bytes))
		return false;
	*result = CL_OUT_OF_RESOURCES;
	return true;
}

static void *counted(cl_context context, cl_device_id device, size_t bytes,
		     void *made, cl_int result)
{
	int saved = errno;

	if (layer_depth)
		return made;
	if (made || result != CL_INVALID_CONTEXT)
		layer_made_svm(context, device, LEDGER_USM, made, bytes);
	layer_land();
	errno = saved;
	return made;
}

static void *CL_API_CALL host_alloc(cl_context context,
				    const cl_bitfield *properties, size_t bytes,
				    cl_uint alignment, cl_int *result)
{
	host_fn *real = (host_fn *)real_of(HOST, context);
	cl_int own = CL_SUCCESS;
	void *made;

	result = result ? result : &own;
	if (refused(context, NULL, bytes, result))
		return NULL;
	layer_depth++;
	made = real(context, properties, bytes, alignment, result);
	layer_depth--;
	return counted(context, NULL, bytes, made, *result);
}

static void *alloc_on(enum usm_call call, cl_context context,
		      cl_device_id device, const cl_bitfield *properties,
		      size_t bytes, cl_uint alignment, cl_int *result)
{
	device_fn *real = (device_fn *)real_of(call, context);
	cl_int own = CL_SUCCESS;
	void *made;

	result = result ? result : &own;
	if (refused(context, device, bytes, result))
		return NULL;
	layer_depth++;
	made = real(context, device, properties, bytes, alignment, result);
	layer_depth--;
	return counted(context, device, bytes, made, *result);
}

static void *CL_API_CALL device_alloc(cl_context context, cl_device_id device,
				      const cl_bitfield *properties,
				      size_t bytes, cl_uint alignment,
				      cl_int *result)
{
	return alloc_on(DEVICE, context, device, properties, bytes, alignment,
			result);
}

static void *CL_API_CALL shared_alloc(cl_context context, cl_device_id device,
				      const cl_bitfield *properties,
				      size_t bytes, cl_uint alignment,
				      cl_int *result)
{
	return alloc_on(SHARED, context, device, properties, bytes, alignment,
			result);
}

static cl_int release(enum usm_call call, cl_context context, void *address)
{
	free_fn *real = (free_fn *)real_of(call, context);
	bool ours = address && !layer_depth;
	uint64_t key = (uintptr_t)address;
	cl_int code;

	if (ours)
		layer_move(LAYER_SVM, LAYER_SVM_ENDING, key);
	layer_depth++;
	code = real(context, address);
	layer_depth--;
	if (ours && code)
		layer_move(LAYER_SVM_ENDING, LAYER_SVM, key);
	else if (ours && !layer_discharge(LAYER_SVM_ENDING, key, false))
		layer_note(LEDGER_UNKNOWN);
	return code;
}

static cl_int CL_API_CALL free_now(cl_context context, void *address)
{
	return release(FREE, context, address);
}

static cl_int CL_API_CALL free_blocking(cl_context context, void *address)
{
	return release(FREE_BLOCKING, context, address);
}

/* ---- their addresses -------------------------------------------------------
 */

static const struct {
	const char *name;
	uintptr_t ours; /* 0: it is not followed */
} functions[] = {
	[HOST] = {"clHostMemAllocINTEL", (uintptr_t)host_alloc},
	[DEVICE] = {"clDeviceMemAllocINTEL", (uintptr_t)device_alloc},
	[SHARED] = {"clSharedMemAllocINTEL", (uintptr_t)shared_alloc},
	[FREE] = {"clMemFreeINTEL", (uintptr_t)free_now},
	[FREE_BLOCKING] = {"clMemBlockingFreeINTEL", (uintptr_t)free_blocking},
	{"clCreateBufferWithPropertiesINTEL", 0},
	{"clImportMemoryARM", 0},
	{"clSVMAllocARM", 0},
	{"clSVMAllocWithPropertiesKHR", 0},
};

static void *ours_for(cl_platform_id platform, const char *name, void *real)
{
	if (!name || !real || layer_depth)
		return real;
	for (int i = 0; i < (int)(sizeof(functions) / sizeof(*functions));
	     i++) {
		if (strcmp(functions[i].name, name) != 0)
			continue;
		if (functions[i].ours &&
		    keep(platform, (enum usm_call)i, (uintptr_t)real))
			return (void *)functions[i].ours;
		layer_note_first(LEDGER_UNHOOKED);
	}
	return real;
}

void *CL_API_CALL wrap_clGetExtensionFunctionAddress(const char *name)
{
	return ours_for(NULL, name,
			layer_below.clGetExtensionFunctionAddress(name));
}

void *CL_API_CALL wrap_clGetExtensionFunctionAddressForPlatform(
	cl_platform_id platform, const char *name)
{
	return ours_for(platform, name,
			layer_below.clGetExtensionFunctionAddressForPlatform(
				platform, name));
}
