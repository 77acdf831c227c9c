/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How much a program asks for with an array, with and without mipmaps: the
 * bytes of all elements. Of NVIDIA's driver and of AMD's runtime. Arithmetic,
 * and nothing that is locked.
 */
#ifndef GPUMEM_PRELOAD_ARRAY_H
#define GPUMEM_PRELOAD_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

struct array {
	uint64_t element_bytes;
	uint64_t width, height, depth; /* 0: it does not have that one */
	bool layered;		       /* layers are as many at each level */
	unsigned levels;
};

/* Of a channel; both vendors have the same numbers. 0: the format is not known
 * here. */
uint64_t array_channel_bytes(int format);
/* More than there is: UINT64_MAX. */
uint64_t array_bytes(const struct array *array);

#endif
