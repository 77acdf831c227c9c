/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a device can do, asked each time: nothing is kept, without locks.
 *
 * Addresses of the implementation's own are taken where they cost nothing,
 * since with them a block is a pointer: memory of the device alone (USM) before
 * memory that the host may see too (SVM). Where host and device have memory of
 * their own and SVM is coarse, it has a shadow in the host's, and is slow to
 * get and to give back: buffers are better then.
 */
#include "opencl_plugin.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT_MIN 256

bool gm_opencl_ask(const struct opencl_unit *unit, cl_device_info what,
		   void *value_out, size_t bytes)
{
	return gm_opencl.clGetDeviceInfo(unit->id, what, bytes, value_out,
					 NULL) == CL_SUCCESS;
}

static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);
	const char *at = text;

	for (; (at = strstr(at, word)) != NULL; at += length)
		if ((at == text || at[-1] == ' ') &&
		    (at[length] == ' ' || !at[length]))
			return true;
	return false;
}

bool gm_opencl_extends(const struct opencl_unit *unit, const char *extension)
{
	size_t bytes = 0;
	bool found = false;
	char *text;

	if (gm_opencl.clGetDeviceInfo(unit->id, CL_DEVICE_EXTENSIONS, 0, NULL,
				      &bytes) != CL_SUCCESS)
		return false;
	text = calloc(1, bytes + 1);
	if (text && gm_opencl_ask(unit, CL_DEVICE_EXTENSIONS, text, bytes))
		found = has_word(text, extension);
	free(text);
	return found;
}

enum svm { SVM_NONE, SVM_SHADOWED, SVM_FREE };

static enum svm svm_of(const struct opencl_unit *unit)
{
	const cl_device_svm_capabilities any =
		CL_DEVICE_SVM_COARSE_GRAIN_BUFFER |
		CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
	cl_device_svm_capabilities svm = 0;
	cl_bool unified = CL_FALSE;

	if (unit->version < 20 || !gm_opencl.clSVMAlloc ||
	    !gm_opencl.clSVMFree || !gm_opencl.clEnqueueSVMMemcpy ||
	    !gm_opencl.clEnqueueSVMMemFill ||
	    !gm_opencl_ask(unit, CL_DEVICE_SVM_CAPABILITIES, &svm,
			   sizeof(svm)) ||
	    !(svm & any))
		return SVM_NONE;
	if (svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER)
		return SVM_FREE;
	return gm_opencl_ask(unit, CL_DEVICE_HOST_UNIFIED_MEMORY, &unified,
			     sizeof(unified)) &&
			       unified
		       ? SVM_FREE
		       : SVM_SHADOWED;
}

static bool has_usm(const struct opencl_unit *unit)
{
	cl_bitfield usm = 0;

	return unit->version >= 12 &&
	       gm_opencl.clGetExtensionFunctionAddressForPlatform &&
	       gm_opencl_extends(unit, "cl_intel_unified_shared_memory") &&
	       gm_opencl_ask(unit, CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL,
			     &usm, sizeof(usm)) &&
	       (usm & CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL);
}

static gpumem_status lacks(const char *what)
{
	return gm_opencl_fail(GPUMEM_UNSUPPORTED, CL_SUCCESS,
			      "the device has no %s, which option "
			      "opencl.memory asks for",
			      what);
}

static void choose_best(const struct opencl_unit *unit, enum svm svm,
			struct opencl_traits *traits)
{
	if (has_usm(unit)) {
		traits->memory = OPENCL_USM;
		return;
	}
	traits->memory = svm == SVM_FREE ? OPENCL_SVM : OPENCL_BUFFER;
	traits->shadowed_svm = svm == SVM_SHADOWED;
}

static gpumem_status choose_memory(const struct opencl_unit *unit,
				   struct opencl_traits *traits)
{
	enum opencl_wish wish = OPENCL_WISH_AUTO;
	gpumem_status status = gm_opencl_option_memory(&wish);
	enum svm svm = svm_of(unit);

	if (status != GPUMEM_OK)
		return status;
	if (wish == OPENCL_WISH_SVM && svm == SVM_NONE)
		return lacks("shared virtual memory (SVM)");
	if (wish == OPENCL_WISH_USM && !has_usm(unit))
		return lacks("unified shared memory (USM)");
	if (wish == OPENCL_WISH_SVM)
		traits->memory = OPENCL_SVM;
	else if (wish == OPENCL_WISH_USM)
		traits->memory = OPENCL_USM;
	else if (wish == OPENCL_WISH_BUFFER)
		traits->memory = OPENCL_BUFFER;
	else
		choose_best(unit, svm, traits);
	return GPUMEM_OK;
}

static gpumem_status read_sizes(const struct opencl_unit *unit,
				struct opencl_traits *traits)
{
	uint64_t wish, largest;
	cl_ulong total = 0, most = 0;
	cl_uint bits = 0;

	if (!gm_opencl_ask(unit, CL_DEVICE_GLOBAL_MEM_SIZE, &total,
			   sizeof(total)) ||
	    !gm_opencl_ask(unit, CL_DEVICE_MAX_MEM_ALLOC_SIZE, &most,
			   sizeof(most)) ||
	    !gm_opencl_ask(unit, CL_DEVICE_MEM_BASE_ADDR_ALIGN, &bits,
			   sizeof(bits)))
		return gm_opencl_fail(GPUMEM_DRIVER, CL_SUCCESS,
				      "the device does not report its "
				      "memory");
	wish = gm_opencl_option_capacity(total);
	traits->capacity_bytes = wish && wish < total ? wish : total;
	traits->alignment_bytes = ALIGNMENT_MIN;
	if (bits / 8 > ALIGNMENT_MIN)
		traits->alignment_bytes = bits / 8;
	/* Pointers that come misaligned need room to be moved up. */
	largest = most > traits->alignment_bytes
			  ? most - traits->alignment_bytes
			  : 0;
	if (traits->memory == OPENCL_BUFFER)
		largest = most;
	if (largest > traits->capacity_bytes)
		largest = traits->capacity_bytes;
	traits->max_alloc_bytes = largest & ~(OPENCL_GRANULARITY_BYTES - 1);
	if (!traits->max_alloc_bytes)
		return gm_opencl_fail(GPUMEM_INVALID, CL_SUCCESS,
				      "%llu bytes are too small a device: see "
				      "option opencl.capacity",
				      (unsigned long long)largest);
	return GPUMEM_OK;
}

gpumem_status gm_opencl_read_traits(const struct opencl_unit *unit,
				    struct opencl_traits *traits_out)
{
	struct opencl_traits traits = {0};
	size_t told[2] = {0};
	gpumem_status status;

	status = choose_memory(unit, &traits);
	if (status == GPUMEM_OK)
		status = read_sizes(unit, &traits);
	if (status != GPUMEM_OK)
		return status;
	traits.tells_free =
		gm_opencl_extends(unit, "cl_amd_device_attribute_query") &&
		gm_opencl_ask(unit, CL_DEVICE_GLOBAL_FREE_MEMORY_AMD, told,
			      sizeof(told));
	*traits_out = traits;
	return GPUMEM_OK;
}
