/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group HOST_PIN. Memory of the process's, whose pages are made here, by as
 * many threads as call: a driver that has to touch them does so for one at a
 * time. Keeps nothing; no lock.
 */
#include "plugin.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Linux 5.14 has it; before, the driver touches what it pins. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* 0, or why there are no pages. */
static int populate(void *memory, uint64_t bytes)
{
	while (madvise(memory, bytes, MADV_POPULATE_WRITE) < 0) {
		if (errno == EINVAL)
			break;
		if (errno != EINTR && errno != EAGAIN)
			return errno;
	}
	return 0;
}

static gpumem_status make_pages(const struct gpu_device *device, void *memory,
				uint64_t bytes)
{
	bool near = gpu_near_begin(device);
	int error = populate(memory, bytes);

	gpu_near_end(near);
	return error ? gpu_fail(GPUMEM_NO_HOST_MEMORY, GPU_SUCCESS,
				"the system has no pages for %llu bytes: %s",
				(unsigned long long)bytes, strerror(error))
		     : GPUMEM_OK;
}

gpumem_status GPU(host_pin)(void *device, void *memory, uint64_t bytes)
{
	struct gpu_call call = gpu_begin(device);

	if (call.status == GPUMEM_OK)
		call.status = make_pages(device, memory, bytes);
	if (call.status == GPUMEM_OK)
		call.status = gpu_check_memory(
			gpu.MemHostRegister(memory, bytes,
					    GPU_REGISTER_EVERYWHERE),
			MEM_HOST_REGISTER, bytes, (uintptr_t)memory);
	return gpu_end(&call);
}

gpumem_status GPU(host_unpin)(void *device, void *memory, uint64_t bytes)
{
	struct gpu_call call = gpu_begin(device);

	if (call.status == GPUMEM_OK)
		call.status = gpu_check_memory(gpu.MemHostUnregister(memory),
					       MEM_HOST_UNREGISTER, bytes,
					       (uintptr_t)memory);
	return gpu_end(&call);
}
