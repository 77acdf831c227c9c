/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Arrays of textures and surfaces, with and without mipmaps. NVIDIA's driver
 * does not say what it takes for one: counted is what the program asks for.
 * None is kept.
 */
#include "array.h"
#include "pool.h"

/* Flags of arrays that older headers lack. */
enum { SPARSE = 0x40, DEFERRED = 0x80 };

struct wanted {
	bool known; /* how large its elements are */
	uint64_t bytes;
};

static bool has_layers(const CUDA_ARRAY3D_DESCRIPTOR *about)
{
	return about->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
}

/* What a program maps into an array is counted where that was made. */
static struct wanted wanted_of(const CUDA_ARRAY3D_DESCRIPTOR *about,
			       unsigned levels)
{
	uint64_t bytes = array_channel_bytes((int)about->Format);
	const struct array array = {.element_bytes = bytes * about->NumChannels,
				    .width = about->Width,
				    .height = about->Height,
				    .depth = about->Depth,
				    .layered = has_layers(about),
				    .levels = levels};

	if (about->Flags & (SPARSE | DEFERRED))
		return (struct wanted){.known = true};
	return (struct wanted){.known = bytes, .bytes = array_bytes(&array)};
}

static struct wanted wanted_flat(const CUDA_ARRAY_DESCRIPTOR *about)
{
	const CUDA_ARRAY3D_DESCRIPTOR same = {.Width = about->Width,
					      .Height = about->Height,
					      .Format = about->Format,
					      .NumChannels =
						      about->NumChannels};

	return wanted_of(&same, 1);
}

static bool may_have(const void *out, const struct wanted *wanted)
{
	return !wanted->known || limit_begin(out, LEDGER_ARRAY, wanted->bytes);
}

static void made(CUresult result, const void *array,
		 const struct wanted *wanted)
{
	if (wanted->known)
		count_alloc(result, BLOCK_ARRAY, LEDGER_ARRAY, (uintptr_t)array,
			    wanted->bytes, NULL);
	else if (result == CUDA_SUCCESS)
		count_untracked(LEDGER_CUDA);
}

#define CREATE(name, parameters, arguments, what)                              \
	CUresult wrap_##name parameters                                        \
	{                                                                      \
		CUresult result = CUDA_ERROR_OUT_OF_MEMORY;                    \
		struct wanted wanted;                                          \
                                                                               \
		if (!about || !preload_enter())                                \
			return REAL(name) arguments;                           \
		wanted = what;                                                 \
		if (may_have(out, &wanted)) {                                  \
			result = REAL(name) arguments;                         \
			if (pool_relieve(result))                              \
				result = REAL(name) arguments;                 \
			made(result, result == CUDA_SUCCESS ? *out : NULL,     \
			     &wanted);                                         \
		}                                                              \
		preload_leave();                                               \
		return result;                                                 \
	}

CREATE(cuArrayCreate_v2, (CUarray * out, const CUDA_ARRAY_DESCRIPTOR *about),
       (out, about), wanted_flat(about))
CREATE(cuArray3DCreate_v2,
       (CUarray * out, const CUDA_ARRAY3D_DESCRIPTOR *about), (out, about),
       wanted_of(about, 1))
CREATE(cuMipmappedArrayCreate,
       (CUmipmappedArray * out, const CUDA_ARRAY3D_DESCRIPTOR *about,
	unsigned levels),
       (out, about, levels), wanted_of(about, levels))

#define DESTROY(name, type)                                                    \
	CUresult wrap_##name(type array)                                       \
	{                                                                      \
		struct block block;                                            \
		CUresult result;                                               \
                                                                               \
		if (!array || !preload_enter())                                \
			return REAL(name)(array);                              \
		count_take(BLOCK_ARRAY, (uintptr_t)array, &block);             \
		result = REAL(name)(array);                                    \
		count_free(result, &block);                                    \
		preload_leave();                                               \
		return result;                                                 \
	}

DESTROY(cuArrayDestroy, CUarray)
DESTROY(cuMipmappedArrayDestroy, CUmipmappedArray)
