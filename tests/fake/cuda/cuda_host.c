/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pinned host memory. It is ordinary memory that the driver knows; nothing is
 * locked, so that tests need no privilege.
 */
#include "cuda_fake.h"

#include <linux/mempolicy.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ull

static CUresult ready(struct fake_context **context_out)
{
	CUresult result = fake_context_current(context_out);

	return result == CUDA_SUCCESS ? fake_capture_unsafe() : result;
}

/* Of the first 64. */
static int preferred_node(void)
{
	unsigned long nodes[16] = {0};
	int mode;

	if (syscall(SYS_get_mempolicy, &mode, nodes, 1024ul, NULL, 0ul) ||
	    mode != MPOL_PREFERRED || !nodes[0])
		return -1;
	return __builtin_ctzl(nodes[0]);
}

static CUresult new_pinned(struct fake_context *context, size_t bytes,
			   void **memory_out)
{
	struct fake_region *region = calloc(1, sizeof(*region));
	/* Seen: nothing is allocated for 0, and that is no error. */
	uint64_t whole = (bytes + PAGE - 1) & ~(PAGE - 1);
	void *map = mmap(NULL, whole, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (!region || map == MAP_FAILED) {
		free(region);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*region = (struct fake_region){
		.start = (uintptr_t)map,
		.bytes = bytes,
		.kind = FAKE_PINNED,
		.device = context->device,
		.context = context,
		.mapped_start = (uintptr_t)map,
		.mapped_bytes = whole,
	};
	*memory_out = map;
	fake.pinned_node = preferred_node();
	return fake_region_add(region);
}

static CUresult alloc(void **memory_out, size_t bytes, unsigned flags)
{
	struct fake_context *context;
	CUresult result = ready(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!memory_out || flags > 7)
		return CUDA_ERROR_INVALID_VALUE;
	if (!bytes) {
		*memory_out = NULL;
		return CUDA_SUCCESS;
	}
	return new_pinned(context, bytes, memory_out);
}

/* Waits for all work of the device, needs no current context, and NULL is no
 * error (all seen). */
static CUresult release(void *memory)
{
	struct fake_region *region =
		fake_region_at((uintptr_t)memory, FAKE_PINNED);
	CUresult result = fake_capture_unsafe();

	if (result != CUDA_SUCCESS || !memory)
		return result;
	if (!region)
		return CUDA_ERROR_INVALID_VALUE;
	if (region->context->lost)
		return region->context->lost;
	result = fake_queue_await_device(region->device);
	if (result != CUDA_SUCCESS)
		return result;
	/* The mutex was open meanwhile. */
	if (fake_spans_find(&fake_regions, (uintptr_t)memory) != region)
		return CUDA_ERROR_INVALID_VALUE;
	fake_region_drop(region);
	return CUDA_SUCCESS;
}

/* The first that the driver knows there; NULL: none. */
static struct fake_region *region_in(const void *memory, size_t bytes)
{
	uint64_t start = (uintptr_t)memory;
	size_t i = fake_spans_after(&fake_regions, start);
	struct fake_region *region =
		i < fake_regions.count ? fake_regions.items[i] : NULL;

	return region && region->start < start + bytes ? region : NULL;
}

static CUresult enlist(void *memory, size_t bytes, unsigned flags)
{
	struct fake_context *context;
	struct fake_region *region;
	CUresult result = ready(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!memory || !bytes || flags > 15)
		return CUDA_ERROR_INVALID_VALUE;
	region = region_in(memory, bytes);
	if (region) /* seen: which it is not, if the driver has made it */
		return region->kind == FAKE_REGISTERED
			       ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
			       : CUDA_ERROR_INVALID_VALUE;
	region = calloc(1, sizeof(*region));
	if (!region)
		return CUDA_ERROR_OUT_OF_MEMORY;
	region->start = (uintptr_t)memory;
	region->bytes = bytes;
	region->kind = FAKE_REGISTERED;
	region->device = context->device;
	region->context = context;
	return fake_region_add(region);
}

/* Seen: 713 only of memory that the driver does not know. */
static CUresult delist(void *memory)
{
	struct fake_region *region =
		fake_region_at((uintptr_t)memory, FAKE_REGISTERED);
	CUresult result = fake_capture_unsafe();

	if (result != CUDA_SUCCESS)
		return result;
	if (!region)
		return !memory || region_in(memory, 1)
			       ? CUDA_ERROR_INVALID_VALUE
			       : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	fake_region_drop(region);
	return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **memory_out, size_t bytes, unsigned flags)
{
	FAKE_CALL(cuMemHostAlloc, alloc(memory_out, bytes, flags));
}

CUresult cuMemFreeHost(void *memory)
{
	FAKE_CALL(cuMemFreeHost, release(memory));
}

CUresult cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags)
{
	FAKE_CALL(cuMemHostRegister_v2, enlist(memory, bytes, flags));
}

CUresult cuMemHostUnregister(void *memory)
{
	FAKE_CALL(cuMemHostUnregister, delist(memory));
}

CUresult cuMemAllocHost_v2(void **memory_out, size_t bytes)
{
	FAKE_CALL(cuMemAllocHost_v2, alloc(memory_out, bytes, 0));
}
