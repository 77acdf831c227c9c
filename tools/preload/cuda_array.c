/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Arrays of textures and surfaces, with and without mipmaps. NVIDIA's driver
 * does not say what it takes for one: counted is what the program asks for.
 * None is kept.
 */
#include "pool.h"

/* Flags of arrays that older headers lack. */
enum { SPARSE = 0x40, DEFERRED = 0x80 };

struct wanted {
	bool known; /* how large its elements are */
	uint64_t bytes;
};

/* Of a channel. 0: the format is not known here. */
static uint64_t channel_bytes(CUarray_format format)
{
	switch ((int)format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return 1;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4;
	default:
		return 0;
	}
}

/* 0 is one that the array does not have. */
static uint64_t extent(size_t elements, unsigned level)
{
	return elements >> level ? elements >> level : 1;
}

/* More than there is: UINT64_MAX. */
static uint64_t product(uint64_t a, uint64_t b)
{
	uint64_t bytes;

	return __builtin_mul_overflow(a, b, &bytes) ? UINT64_MAX : bytes;
}

static bool has_layers(const CUDA_ARRAY3D_DESCRIPTOR *about)
{
	return about->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
}

/* Layers are as many at each level. */
static uint64_t level_bytes(const CUDA_ARRAY3D_DESCRIPTOR *about,
			    unsigned level)
{
	uint64_t bytes =
		product(channel_bytes(about->Format), about->NumChannels);

	bytes = product(bytes, extent(about->Width, level));
	bytes = product(bytes, extent(about->Height, level));
	return product(bytes,
		       extent(about->Depth, has_layers(about) ? 0 : level));
}

/* There are no more levels than halve it to a single element. What a program
 * maps into an array is counted where that was made. */
static struct wanted wanted_of(const CUDA_ARRAY3D_DESCRIPTOR *about,
			       unsigned levels)
{
	struct wanted wanted = {.known = channel_bytes(about->Format) > 0};
	size_t largest = about->Width | about->Height |
			 (has_layers(about) ? 0 : about->Depth);

	if (about->Flags & (SPARSE | DEFERRED))
		return (struct wanted){.known = true};
	wanted.bytes = level_bytes(about, 0);
	for (unsigned i = 1; i < levels && i < 64 && largest >> i; i++)
		if (__builtin_add_overflow(wanted.bytes, level_bytes(about, i),
					   &wanted.bytes))
			wanted.bytes = UINT64_MAX;
	return wanted;
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

/* It is told also of a program that has nothing else. */
static void untracked(void)
{
	struct preload_state *state = preload_lock();

	(void)preload_ledger(state, LEDGER_CUDA);
	preload_note_locked(state, LEDGER_CUDA, LEDGER_UNTRACKED);
	preload_unlock(state);
}

static void made(CUresult result, const void *array,
		 const struct wanted *wanted)
{
	if (wanted->known)
		count_alloc(result, BLOCK_ARRAY, LEDGER_ARRAY, (uintptr_t)array,
			    wanted->bytes, NULL);
	else if (result == CUDA_SUCCESS)
		untracked();
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
