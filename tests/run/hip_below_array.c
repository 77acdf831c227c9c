/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Arrays of the runtime that hip_below.c is, a part of it. Their memory is from
 * its hipMalloc(), called by its exported name, which must not be counted
 * twice; how a call ended is known by that.
 */
#include <stdlib.h>
#include <string.h>

int hipMalloc(void **out, size_t bytes);
int hipFree(void *address);

enum { INVALID = 1, NO_MEMORY = 2, LAYERED = 1, CUBEMAP = 4 };

struct channels {
	int x, y, z, w, kind;
};
struct extent {
	size_t width, height, depth;
};
struct flat {
	size_t width, height;
	int format;
	unsigned channels;
};
struct about {
	size_t width, height, depth;
	int format;
	unsigned channels, flags;
};

struct array {
	void *memory;
	int mipmapped;
};

/* By the format; one that the library does not know has 3 bytes. */
static size_t channel(int format)
{
	static const unsigned char bytes[0x21] = {
		[1] = 1, [2] = 2,  [3] = 4,    [8] = 1,
		[9] = 2, [10] = 4, [0x10] = 2, [0x20] = 4};

	return format <= 0x20 && bytes[format] ? bytes[format] : 3;
}

static size_t halved(size_t elements)
{
	return elements > 1 ? elements / 2 : 1;
}

/* Of no elements: what nobody has. */
static size_t bytes_of(size_t element, struct extent extent, unsigned flags,
		       unsigned levels)
{
	size_t width = extent.width, height = extent.height ? extent.height : 1,
	       depth = extent.depth ? extent.depth : 1, bytes = 0;
	int layered = flags & (LAYERED | CUBEMAP), last = 0;

	if (!width || !element || width > (size_t)1 << 40)
		return (size_t)1 << 60;
	for (unsigned i = 0; i < levels && !last; i++) {
		last = width == 1 && height == 1 && (layered || depth == 1);
		bytes += element * width * height * depth;
		width = halved(width);
		height = halved(height);
		depth = layered ? depth : halved(depth);
	}
	return bytes;
}

static int make(struct array **out, size_t bytes, int mipmapped)
{
	struct array *array;
	int result;

	if (!out)
		return hipMalloc(NULL, 1);
	array = calloc(1, sizeof(*array));
	result = hipMalloc(&array->memory, bytes);
	array->mipmapped = mipmapped;
	if (result)
		free(array);
	else
		*out = array;
	return result;
}

static int end(struct array *array, int mipmapped)
{
	int result;

	if (!array || array->mipmapped != mipmapped)
		return hipMalloc(NULL, 1);
	result = hipFree(array->memory);
	if (!result)
		free(array);
	return result;
}

static size_t element(const struct channels *about)
{
	return (size_t)(about->x + about->y + about->z + about->w) / 8;
}

int hipMallocArray(struct array **out, const struct channels *about,
		   size_t width, size_t height, unsigned flags)
{
	return about ? make(out,
			    bytes_of(element(about),
				     (struct extent){width, height, 0}, flags,
				     1),
			    0)
		     : hipMalloc(NULL, 1);
}

int hipMalloc3DArray(struct array **out, const struct channels *about,
		     struct extent extent, unsigned flags)
{
	return about ? make(out, bytes_of(element(about), extent, flags, 1), 0)
		     : hipMalloc(NULL, 1);
}

int hipMallocMipmappedArray(struct array **out, const struct channels *about,
			    struct extent extent, unsigned levels,
			    unsigned flags)
{
	return about ? make(out,
			    bytes_of(element(about), extent, flags, levels), 1)
		     : hipMalloc(NULL, 1);
}

int hipArrayCreate(struct array **out, const struct flat *about)
{
	return about ? make(out,
			    bytes_of(channel(about->format) * about->channels,
				     (struct extent){about->width,
						     about->height, 0},
				     0, 1),
			    0)
		     : hipMalloc(NULL, 1);
}

static int make_of(struct array **out, const struct about *about,
		   unsigned levels, int mipmapped)
{
	return about ? make(out,
			    bytes_of(channel(about->format) * about->channels,
				     (struct extent){about->width,
						     about->height,
						     about->depth},
				     about->flags, levels),
			    mipmapped)
		     : hipMalloc(NULL, 1);
}

int hipArray3DCreate(struct array **out, const struct about *about)
{
	return make_of(out, about, 1, 0);
}

int hipMipmappedArrayCreate(struct array **out, const struct about *about,
			    unsigned levels)
{
	return make_of(out, about, levels, 1);
}

int hipFreeArray(struct array *array)
{
	return end(array, 0);
}

int hipArrayDestroy(struct array *array)
{
	return end(array, 0);
}

int hipFreeMipmappedArray(struct array *array)
{
	return end(array, 1);
}

int hipMipmappedArrayDestroy(struct array *array)
{
	return end(array, 1);
}
