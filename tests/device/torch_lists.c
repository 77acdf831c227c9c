/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The least that CUDAPluggableAllocator can call: lists of free blocks by power
 * of two, without statistics, other streams or a way back to the driver. What
 * PyTorch takes longer with it than with its own allocator is what the door for
 * others costs. A control for torch_models.py, for one device and one stream;
 * the mutex is held by each call.
 */
#include <cuda.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ORDERS = 48, SMALLEST = 9, KEPT = 1 << 16 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
	void *block[KEPT];
	unsigned count;
} lists[ORDERS];
static uint64_t asked, asked_peak, taken;

static unsigned order_of(size_t bytes)
{
	unsigned order = SMALLEST;

	while ((size_t)1 << order < bytes)
		order++;
	return order;
}

static void *take(unsigned order)
{
	CUdeviceptr address;

	if (lists[order].count)
		return lists[order].block[--lists[order].count];
	if (cuMemAlloc(&address, (size_t)1 << order) != CUDA_SUCCESS) {
		fprintf(stderr, "out of memory\n");
		_exit(3);
	}
	taken += (uint64_t)1 << order;
	return (void *)(uintptr_t)address;
}

__attribute__((visibility("default"))) void *
torch_plug_alloc(size_t bytes, int device, void *stream)
{
	void *ptr;

	(void)device;
	(void)stream;
	pthread_mutex_lock(&mutex);
	ptr = take(order_of(bytes));
	asked += bytes;
	asked_peak = asked > asked_peak ? asked : asked_peak;
	pthread_mutex_unlock(&mutex);
	return ptr;
}

__attribute__((visibility("default"))) void
torch_plug_free(void *ptr, size_t bytes, int device, void *stream)
{
	unsigned order = order_of(bytes);

	(void)device;
	(void)stream;
	if (!ptr)
		return;
	pthread_mutex_lock(&mutex);
	if (lists[order].count == KEPT) {
		fprintf(stderr, "too many free blocks\n");
		_exit(3);
	}
	lists[order].block[lists[order].count++] = ptr;
	asked -= bytes;
	pthread_mutex_unlock(&mutex);
}

/* In bytes: of what was asked for, and of what the driver gave. */
__attribute__((visibility("default"))) void
torch_plug_peaks(uint64_t *requested_out, uint64_t *reserved_out)
{
	*requested_out = asked_peak;
	*reserved_out = taken;
}
