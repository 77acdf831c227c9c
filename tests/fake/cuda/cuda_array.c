/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Arrays: their memory, which is taken as it is asked for, and nothing that a
 * kernel or a copy would do with them. Handles are addresses.
 */
#include "cuda_fake.h"

static uint64_t halved(size_t elements, unsigned times)
{
	for (; times && elements > 1; times--)
		elements /= 2;
	return elements ? elements : 1;
}

/* 0: a format that the double does not know, or three channels. */
static uint64_t element_bytes(const CUDA_ARRAY3D_DESCRIPTOR *about)
{
	uint64_t channels = about->NumChannels;

	if (about->Format == CU_AD_FORMAT_NV12)
		return 2;
	if (channels != 1 && channels != 2 && channels != 4)
		return 0;
	switch (about->Format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return channels;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2 * channels;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4 * channels;
	default:
		return 0;
	}
}

static uint64_t bytes_of(const CUDA_ARRAY3D_DESCRIPTOR *about, unsigned levels)
{
	bool layered = about->Flags &
		       (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
	uint64_t bytes = 0, width = 0, height = 0, depth = 0;

	for (unsigned i = 0; i < (levels ? levels : 1); i++) {
		if (i && width == 1 && height == 1 && (layered || depth == 1))
			break;
		width = halved(about->Width, i);
		height = halved(about->Height, i);
		depth = halved(about->Depth, layered ? 0 : i);
		bytes += element_bytes(about) * width * height * depth;
	}
	return bytes;
}

static CUresult make(void *handle_out, enum fake_region_kind kind,
		     const CUDA_ARRAY3D_DESCRIPTOR *about, unsigned levels)
{
	struct fake_context *context;
	CUresult result = fake_context_current(&context);
	CUdeviceptr address;

	if (result == CUDA_SUCCESS)
		result = fake_capture_unsafe();
	if (result != CUDA_SUCCESS)
		return result;
	if (!handle_out || !about || !about->Width || !element_bytes(about))
		return CUDA_ERROR_INVALID_VALUE;
	result = fake_block_new(context, kind, bytes_of(about, levels),
				&address);
	if (result == CUDA_SUCCESS)
		memcpy(handle_out, &address, sizeof(address));
	return result;
}

static CUresult make_flat(CUarray *array_out,
			  const CUDA_ARRAY_DESCRIPTOR *about)
{
	CUDA_ARRAY3D_DESCRIPTOR same = {0};

	if (!about)
		return CUDA_ERROR_INVALID_VALUE;
	same.Width = about->Width;
	same.Height = about->Height;
	same.Format = about->Format;
	same.NumChannels = about->NumChannels;
	return make(array_out, FAKE_ARRAY, &same, 1);
}

static CUresult end(const void *array, enum fake_region_kind kind)
{
	struct fake_region *region = fake_region_at((uintptr_t)array, kind);
	CUresult result = fake_capture_unsafe();

	if (result != CUDA_SUCCESS)
		return result;
	if (!region)
		return CUDA_ERROR_INVALID_HANDLE;
	fake_region_drop(region);
	return CUDA_SUCCESS;
}

CUresult cuArrayCreate_v2(CUarray *array_out,
			  const CUDA_ARRAY_DESCRIPTOR *about)
{
	FAKE_CALL(cuArrayCreate_v2, make_flat(array_out, about));
}

CUresult cuArray3DCreate_v2(CUarray *array_out,
			    const CUDA_ARRAY3D_DESCRIPTOR *about)
{
	FAKE_CALL(cuArray3DCreate_v2, make(array_out, FAKE_ARRAY, about, 1));
}

CUresult cuArrayDestroy(CUarray array)
{
	FAKE_CALL(cuArrayDestroy, end(array, FAKE_ARRAY));
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *array_out,
				const CUDA_ARRAY3D_DESCRIPTOR *about,
				unsigned levels)
{
	FAKE_CALL(cuMipmappedArrayCreate,
		  make(array_out, FAKE_MIPMAPPED, about, levels));
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray array)
{
	FAKE_CALL(cuMipmappedArrayDestroy, end(array, FAKE_MIPMAPPED));
}
