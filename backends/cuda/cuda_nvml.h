/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The part of NVIDIA's NVML that is used, in its own ABI. Declared by hand: its
 * header does not come with every CUDA Toolkit, and the library is opened when
 * it is needed.
 */
#ifndef GM_CUDA_NVML_H
#define GM_CUDA_NVML_H

#include <stdint.h>

typedef struct nvml_device *nvml_device_t;

enum nvml_result { NVML_OK = 0, NVML_INSUFFICIENT_SIZE = 7 };

/* nvmlProcessInfo_v2_t, which _v2 and _v3 of the calls fill. */
struct nvml_process {
	unsigned pid;
	unsigned long long used_bytes; /* UINT64_MAX: not available */
	unsigned gpu_instance, compute_instance;
};

typedef int nvml_init_fn(void);
typedef const char *nvml_error_string_fn(int result);
typedef int nvml_device_by_uuid_fn(const char *uuid, nvml_device_t *device_out);
/* *count is the list's room before and the number of processes after, also with
 * NVML_INSUFFICIENT_SIZE. */
typedef int nvml_processes_fn(nvml_device_t device, unsigned *count,
			      struct nvml_process *list);
typedef int nvml_process_name_fn(unsigned pid, char *name_out, unsigned length);

#endif
