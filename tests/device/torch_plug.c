/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What torch.cuda.memory.CUDAPluggableAllocator calls: a pool beside PyTorch,
 * on the device that GPUMEM_TORCH_DEVICE names. Built and loaded by
 * tests/device/run.sh for torch_busy.py; not an adapter for programs: it knows
 * one device, no record_stream and no captured graphs. PyTorch takes NULL for
 * memory, so out of memory ends the process with the pool's sentence and status
 * 3. Its calls come from any thread.
 */
#include <gpumem/gpumem.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FAILED = 3 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static gpumem_pool *pool;

__attribute__((noreturn)) static void fail(void)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	gpumem_last_error(&error);
	fprintf(stderr, "%s\n", error.text);
	_exit(FAILED);
}

static void start(void)
{
	const char *name = getenv("GPUMEM_TORCH_DEVICE");
	gpumem_device *device;

	if (gpumem_device_open(name, &device) != GPUMEM_OK ||
	    gpumem_device_pool(device, &pool) != GPUMEM_OK)
		fail();
}

/* PyTorch's signatures: both get the device, which is always the same. Some
 * versions ask for nothing, and want a pointer that is theirs. */
__attribute__((visibility("default"))) void *
torch_plug_alloc(size_t bytes, int device, void *stream)
{
	void *ptr;

	(void)device;
	pthread_once(&once, start);
	if (gpumem_alloc(pool, bytes ? bytes : 1, stream, &ptr) != GPUMEM_OK)
		fail();
	return ptr;
}

__attribute__((visibility("default"))) void
torch_plug_free(void *ptr, size_t bytes, int device, void *stream)
{
	(void)bytes;
	(void)device;
	if (gpumem_free(ptr, stream) != GPUMEM_OK)
		fail();
}

/* Peaks of the pool, in bytes. */
__attribute__((visibility("default"))) void
torch_plug_peaks(uint64_t *requested_out, uint64_t *reserved_out)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);

	pthread_once(&once, start);
	if (gpumem_pool_stats(pool, &stats) != GPUMEM_OK)
		fail();
	*requested_out = stats.requested.peak;
	*reserved_out = stats.reserved.peak;
}
