/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A layer of OpenCL below that of gpumem-run, for tests/tool_run_opencl.sh.
 * What an implementation has or is asked for of buffers and shared virtual
 * memory, at the most, it writes to the file BELOW when the process ends, and
 * how many pipes have not ended. Buffers that are released stay counted: nobody
 * is told when their memory is gone. Calls take a while, so that threads meet;
 * there are pipes, made of buffers, and unified shared memory. Without locks.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_layer.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZES 4096

static struct _cl_icd_dispatch below, table;
static _Atomic size_t live, peak, pipes;

/* Of shared virtual memory that is live. An address may be NULL. */
static struct {
	_Atomic(void *) address;
	size_t bytes;
} all[SIZES];

static void asked(size_t bytes)
{
	size_t now = atomic_fetch_add(&live, bytes) + bytes, most = peak;

	while (now > most && !atomic_compare_exchange_weak(&peak, &most, now))
		;
	usleep(50);
}

static cl_mem CL_API_CALL make_buffer(cl_context context, cl_mem_flags flags,
				      size_t bytes, void *host, cl_int *result)
{
	cl_mem made;

	asked(bytes);
	made = below.clCreateBuffer(context, flags, bytes, host, result);
	if (!made)
		live -= bytes;
	return made;
}

static void CL_CALLBACK pipe_ended(cl_mem pipe, void *unused)
{
	(void)pipe;
	(void)unused;
	pipes--;
}

static cl_mem CL_API_CALL make_pipe(cl_context context, cl_mem_flags flags,
				    cl_uint packet, cl_uint most,
				    const cl_pipe_properties *properties,
				    cl_int *result)
{
	cl_mem made = below.clCreateBuffer(context, flags,
					   (size_t)packet * most, NULL, result);

	(void)properties;
	if (made &&
	    !below.clSetMemObjectDestructorCallback(made, pipe_ended, NULL))
		pipes++;
	return made;
}

static void *CL_API_CALL make_svm(cl_context context, cl_svm_mem_flags flags,
				  size_t bytes, cl_uint alignment)
{
	void *made, *none = NULL;

	asked(bytes);
	made = below.clSVMAlloc(context, flags, bytes, alignment);
	if (!made)
		live -= bytes;
	for (int i = 0; made && i < SIZES; i++, none = NULL)
		if (!all[i].bytes && atomic_compare_exchange_strong(
					     &all[i].address, &none, made)) {
			all[i].bytes = bytes;
			break;
		}
	return made;
}

static size_t take(void *address)
{
	size_t bytes = 0;

	for (int i = 0; address && !bytes && i < SIZES; i++)
		if (all[i].address == address) {
			bytes = all[i].bytes;
			all[i].bytes = 0;
			all[i].address = NULL;
		}
	return bytes;
}

static void CL_API_CALL free_svm(cl_context context, void *address)
{
	size_t bytes = take(address);

	usleep(50);
	below.clSVMFree(context, address);
	live -= bytes;
}

/* ---- unified shared memory, which is shared virtual memory
 * -------------------
 */

static void *CL_API_CALL make_on_host(cl_context context,
				      const cl_bitfield *properties,
				      size_t bytes, cl_uint alignment,
				      cl_int *result)
{
	void *made = make_svm(context, CL_MEM_READ_WRITE, bytes, alignment);

	(void)properties;
	if (result)
		*result = made ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
	return made;
}

static void *CL_API_CALL make_on(cl_context context, cl_device_id device,
				 const cl_bitfield *properties, size_t bytes,
				 cl_uint alignment, cl_int *result)
{
	(void)device;
	return make_on_host(context, properties, bytes, alignment, result);
}

static cl_int CL_API_CALL free_usm(cl_context context, void *address)
{
	size_t bytes = take(address);

	if (address && !bytes)
		return CL_INVALID_VALUE;
	below.clSVMFree(context, address);
	live -= bytes;
	return CL_SUCCESS;
}

static void *usm(const char *name)
{
	if (!strcmp(name, "clHostMemAllocINTEL"))
		return (void *)make_on_host;
	if (!strcmp(name, "clDeviceMemAllocINTEL") ||
	    !strcmp(name, "clSharedMemAllocINTEL"))
		return (void *)make_on;
	if (!strcmp(name, "clMemFreeINTEL") ||
	    !strcmp(name, "clMemBlockingFreeINTEL"))
		return (void *)free_usm;
	return !strcmp(name, "clSVMAllocARM") ? (void *)make_svm : NULL;
}

static void *CL_API_CALL find_for(cl_platform_id platform, const char *name)
{
	void *found = usm(name);

	return found ? found
		     : below.clGetExtensionFunctionAddressForPlatform(platform,
								      name);
}

static void *CL_API_CALL find(const char *name)
{
	void *found = usm(name);

	return found ? found : below.clGetExtensionFunctionAddress(name);
}

__attribute__((destructor)) static void end(void)
{
	const char *name = getenv("BELOW");
	FILE *file = name && peak ? fopen(name, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "%zu %zu\n", (size_t)peak, (size_t)pipes);
	fclose(file);
}

cl_int clGetLayerInfo(cl_layer_info what, size_t bytes, void *value,
		      size_t *used)
{
	cl_layer_api_version version = CL_LAYER_API_VERSION_100;

	if (what != CL_LAYER_API_VERSION || bytes < sizeof(version))
		return CL_INVALID_VALUE;
	memcpy(value, &version, sizeof(version));
	if (used)
		*used = sizeof(version);
	return CL_SUCCESS;
}

cl_int clInitLayer(cl_uint count, const cl_icd_dispatch *target,
		   cl_uint *count_out, const cl_icd_dispatch **table_out)
{
	cl_uint most = sizeof(below) / sizeof(void *);

	count = count < most ? count : most;
	memcpy(&below, target, count * sizeof(void *));
	table = below;
	table.clCreateBuffer = make_buffer;
	table.clCreatePipe = make_pipe;
	table.clSVMAlloc = make_svm;
	table.clSVMFree = free_svm;
	table.clGetExtensionFunctionAddressForPlatform = find_for;
	table.clGetExtensionFunctionAddress = find;
	*count_out = count;
	*table_out = &table;
	return CL_SUCCESS;
}
