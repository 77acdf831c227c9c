/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Arrays of textures and surfaces, with and without mipmaps. Counted is what
 * the program asks for, as of NVIDIA's driver; the runtime may take more. The
 * structures that say what an array is are the same in each release. An array
 * may be freed by the function of either style.
 */
#include "array.h"
#include "hip_current.h"

static bool is_layered(unsigned flags)
{
	return flags & (hipArrayLayered | hipArrayCubemap);
}

/* The channels may have any number of bits. */
static struct array of_channels(const hipChannelFormatDesc *about,
				hipExtent extent, unsigned flags,
				unsigned levels)
{
	uint64_t bits = (uint64_t)about->x + (uint64_t)about->y +
			(uint64_t)about->z + (uint64_t)about->w;

	return (struct array){.element_bytes = (bits + 7) / 8,
			      .width = extent.width,
			      .height = extent.height,
			      .depth = extent.depth,
			      .layered = is_layered(flags),
			      .levels = levels};
}

static struct array of_format(const HIP_ARRAY3D_DESCRIPTOR *about,
			      unsigned levels)
{
	return (struct array){.element_bytes =
				      array_channel_bytes((int)about->Format) *
				      about->NumChannels,
			      .width = about->Width,
			      .height = about->Height,
			      .depth = about->Depth,
			      .layered = is_layered(about->Flags),
			      .levels = levels};
}

static struct array of_flat(const HIP_ARRAY_DESCRIPTOR *about)
{
	const HIP_ARRAY3D_DESCRIPTOR same = {.Width = about->Width,
					     .Height = about->Height,
					     .Format = about->Format,
					     .NumChannels = about->NumChannels};

	return of_format(&same, 1);
}

/* In a wrapper whose parameters are `arguments`. Of elements whose size is not
 * known the runtime says whether there are such. */
#define CREATE(name, parameters, arguments, what)                              \
	hipError_t wrap_##name parameters                                      \
	{                                                                      \
		struct hip_alloc alloc = {.kind = LEDGER_ARRAY};               \
		hipError_t result = hipErrorOutOfMemory;                       \
		struct array array;                                            \
                                                                               \
		if (!about || !hip_enter())                                    \
			return REAL(name) arguments;                           \
		array = what;                                                  \
		alloc.bytes = array_bytes(&array);                             \
		if (!array.element_bytes) {                                    \
			result = REAL(name) arguments;                         \
			if (result == hipSuccess)                              \
				count_untracked(LEDGER_HIP);                   \
		} else if (hip_alloc_begin(&alloc, out)) {                     \
			result = REAL(name) arguments;                         \
			hip_alloc_end(&alloc, result,                          \
				      result == hipSuccess ? *out : NULL);     \
		}                                                              \
		preload_leave();                                               \
		return result;                                                 \
	}

CREATE(hipMallocArray,
       (hipArray_t * out, const hipChannelFormatDesc *about, size_t width,
	size_t height, unsigned flags),
       (out, about, width, height, flags),
       of_channels(about, (hipExtent){width, height, 0}, flags, 1))
CREATE(hipMalloc3DArray,
       (hipArray_t * out, const hipChannelFormatDesc *about, hipExtent extent,
	unsigned flags),
       (out, about, extent, flags), of_channels(about, extent, flags, 1))
CREATE(hipMallocMipmappedArray,
       (hipMipmappedArray_t * out, const hipChannelFormatDesc *about,
	hipExtent extent, unsigned levels, unsigned flags),
       (out, about, extent, levels, flags),
       of_channels(about, extent, flags, levels))
CREATE(hipArrayCreate, (hipArray_t * out, const HIP_ARRAY_DESCRIPTOR *about),
       (out, about), of_flat(about))
CREATE(hipArray3DCreate,
       (hipArray_t * out, const HIP_ARRAY3D_DESCRIPTOR *about), (out, about),
       of_format(about, 1))
CREATE(hipMipmappedArrayCreate,
       (hipMipmappedArray_t * out, HIP_ARRAY3D_DESCRIPTOR *about,
	unsigned levels),
       (out, about, levels), of_format(about, levels))

#define DESTROY(name, type)                                                    \
	hipError_t wrap_##name(type array)                                     \
	{                                                                      \
		HIP_FREE(name, BLOCK_HIP_ARRAY, array, NULL, array);           \
	}

DESTROY(hipFreeArray, hipArray_t)
DESTROY(hipArrayDestroy, hipArray_t)
DESTROY(hipFreeMipmappedArray, hipMipmappedArray_t)
DESTROY(hipMipmappedArrayDestroy, hipMipmappedArray_t)
