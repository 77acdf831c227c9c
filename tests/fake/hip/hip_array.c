/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Arrays, which are those of the driver below. The same functions free what
 * either style has made. Those with channels know 1, 2 or 4 alike, of a float,
 * a half, or 8 unsigned bits each.
 */
#include "hip_fake.h"

static CUarray_format format_of(const hipChannelFormatDesc *about)
{
	return about->x == 32	? CU_AD_FORMAT_FLOAT
	       : about->x == 16 ? CU_AD_FORMAT_HALF
				: CU_AD_FORMAT_UNSIGNED_INT8;
}

static hipError_t make(void *out, const HIP_ARRAY3D_DESCRIPTOR *about,
		       unsigned levels)
{
	CUDA_ARRAY3D_DESCRIPTOR same = {0};

	if (!about)
		return hipErrorInvalidValue;
	same.Width = about->Width;
	same.Height = about->Height;
	same.Depth = about->Depth;
	same.Format = (CUarray_format)about->Format;
	same.NumChannels = about->NumChannels;
	same.Flags = about->Flags;
	return hip_error_of(
		levels ? cu.cuMipmappedArrayCreate(out, &same, levels)
		       : cu.cuArray3DCreate_v2(out, &same));
}

static hipError_t make_of(void *out, const hipChannelFormatDesc *about,
			  hipExtent extent, unsigned flags, unsigned levels)
{
	HIP_ARRAY3D_DESCRIPTOR same = {.Width = extent.width,
				       .Height = extent.height,
				       .Depth = extent.depth,
				       .Flags = flags};

	if (!about)
		return hipErrorInvalidValue;
	same.Format = (hipArray_Format)format_of(about);
	same.NumChannels =
		1u + (about->y > 0) + (about->z > 0) + (about->w > 0);
	return make(out, &same, levels);
}

static hipError_t make_flat(hipArray_t *out, const HIP_ARRAY_DESCRIPTOR *about)
{
	HIP_ARRAY3D_DESCRIPTOR same = {0};

	if (!about)
		return hipErrorInvalidValue;
	same.Width = about->Width;
	same.Height = about->Height;
	same.Format = about->Format;
	same.NumChannels = about->NumChannels;
	return make(out, &same, 0);
}

static hipError_t end(void *array)
{
	return array ? hip_error_of(cu.cuArrayDestroy(array))
		     : hipErrorInvalidValue;
}

static hipError_t end_levels(void *array)
{
	return array ? hip_error_of(cu.cuMipmappedArrayDestroy(array))
		     : hipErrorInvalidValue;
}

hipError_t hipMallocArray(hipArray_t *out, const hipChannelFormatDesc *about,
			  size_t width, size_t height, unsigned flags)
{
	HIP_CALL_ON(
		NULL, hipMallocArray,
		make_of(out, about, (hipExtent){width, height, 0}, flags, 0));
}

hipError_t hipMalloc3DArray(hipArray_t *out, const hipChannelFormatDesc *about,
			    hipExtent extent, unsigned flags)
{
	HIP_CALL_ON(NULL, hipMalloc3DArray,
		    make_of(out, about, extent, flags, 0));
}

hipError_t hipMallocMipmappedArray(hipMipmappedArray_t *out,
				   const hipChannelFormatDesc *about,
				   hipExtent extent, unsigned levels,
				   unsigned flags)
{
	HIP_CALL_ON(NULL, hipMallocMipmappedArray,
		    make_of(out, about, extent, flags, levels));
}

hipError_t hipArrayCreate(hipArray_t *out, const HIP_ARRAY_DESCRIPTOR *about)
{
	HIP_CALL_ON(NULL, hipArrayCreate, make_flat(out, about));
}

hipError_t hipArray3DCreate(hipArray_t *out,
			    const HIP_ARRAY3D_DESCRIPTOR *about)
{
	HIP_CALL_ON(NULL, hipArray3DCreate, make(out, about, 0));
}

hipError_t hipMipmappedArrayCreate(hipMipmappedArray_t *out,
				   HIP_ARRAY3D_DESCRIPTOR *about,
				   unsigned levels)
{
	HIP_CALL_ON(NULL, hipMipmappedArrayCreate, make(out, about, levels));
}

hipError_t hipFreeArray(hipArray_t array)
{
	HIP_CALL_ON(NULL, hipFreeArray, end(array));
}

hipError_t hipArrayDestroy(hipArray_t array)
{
	HIP_CALL_ON(NULL, hipArrayDestroy, end(array));
}

hipError_t hipFreeMipmappedArray(hipMipmappedArray_t array)
{
	HIP_CALL_ON(NULL, hipFreeMipmappedArray, end_levels(array));
}

hipError_t hipMipmappedArrayDestroy(hipMipmappedArray_t array)
{
	HIP_CALL_ON(NULL, hipMipmappedArrayDestroy, end_levels(array));
}
