/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What a consumer of DLPack asks for, and the capsule that it gets. */
#ifndef GPUMEM_PYTHON_DLPACK_H
#define GPUMEM_PYTHON_DLPACK_H

#include "core.h"

enum {
	DL_CPU = 1,
	DL_CUDA = 2,
	DL_CUDA_HOST = 3,
	DL_OPENCL = 4,
	DL_ROCM = 10,
	DL_ROCM_HOST = 11,
	DL_CUDA_MANAGED = 13,
	DL_UINT = 1,
	DL_MAJOR = 1,
	DL_MINOR = 3,
	DL_IS_COPIED = 2,
	DL_ALIGNMENT = 256, /* of data, which DLPack promises */
};

/* What a consumer asks for; as a device, type and number. */
struct wish {
	PyObject *stream;
	int major, minor;
	int32_t type, number;
	bool copy, no_copy;
};

/* dlpack_capsule.c: of the buffer, or of a copy in ordinary memory, which it
 * takes over, also if it fails: then an exception is set. Under the GIL. */
PyObject *dlpack_capsule(struct buffer *of, void *copy, size_t bytes,
			 const struct wish *wish, uint64_t flags);

#endif
