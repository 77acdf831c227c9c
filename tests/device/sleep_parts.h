/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a sleep and a wake are made of, each part measured alone, without
 * gpumem: what the host takes to make pages and to copy between them and small
 * or large buffers, by threads; what it takes to pin memory, new from the
 * driver or the process's own; and what the driver takes to unmap and release
 * handles, by size, by call and by threads, and to copy many small runs one by
 * one and by cuMemcpyBatchAsync(). Include this once.
 */
#ifndef GPUMEM_TESTS_DEVICE_SLEEP_PARTS_H
#define GPUMEM_TESTS_DEVICE_SLEEP_PARTS_H

#include "calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { PARTS_THREADS = 16, PARTS_HANDLES = 256 };

/* Each of `count` pieces of work by whichever thread is free. */
struct parts {
	void (*work)(struct parts *parts, int number, unsigned char *buffer);
	int count;
	int next; /* atomic */
	CUcontext context;
	size_t buffer_bytes; /* of each thread; pinned; 0: none */
	pthread_barrier_t ready;
	unsigned char *memory;
	const CUmemGenericAllocationHandle *handle;
};

static void *parts_thread(void *arg)
{
	struct parts *parts = arg;
	void *buffer = NULL;
	int number;

	CALL(cuCtxSetCurrent(parts->context));
	if (parts->buffer_bytes)
		CALL(cuMemHostAlloc(&buffer, parts->buffer_bytes, 0));
	pthread_barrier_wait(&parts->ready);
	while ((number = __atomic_fetch_add(&parts->next, 1,
					    __ATOMIC_RELAXED)) < parts->count)
		parts->work(parts, number, buffer);
	pthread_barrier_wait(&parts->ready);
	if (buffer)
		CALL(cuMemFreeHost(buffer));
	return NULL;
}

static double parts_ms(struct parts *parts, int threads)
{
	pthread_t thread[PARTS_THREADS];
	double begin, end;

	parts->next = 0;
	CALL(cuCtxGetCurrent(&parts->context));
	pthread_barrier_init(&parts->ready, NULL, (unsigned)threads + 1);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, parts_thread, parts))
			bail("no thread");
	pthread_barrier_wait(&parts->ready);
	begin = now_ms();
	pthread_barrier_wait(&parts->ready);
	end = now_ms();
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&parts->ready);
	return end - begin;
}

/* ---- the host ---- */

static void parts_fault(struct parts *parts, int number, unsigned char *buffer)
{
	unsigned char *at =
		parts->memory + (size_t)number * parts->buffer_bytes;

	(void)buffer;
	if (madvise(at, parts->buffer_bytes, MADV_POPULATE_WRITE))
		memset(at, 0, parts->buffer_bytes);
}

static void parts_down(struct parts *parts, int number, unsigned char *buffer)
{
	memcpy(parts->memory + (size_t)number * parts->buffer_bytes, buffer,
	       parts->buffer_bytes);
}

static void parts_up(struct parts *parts, int number, unsigned char *buffer)
{
	memcpy(buffer, parts->memory + (size_t)number * parts->buffer_bytes,
	       parts->buffer_bytes);
}

static void tell_host(size_t bytes, size_t buffer_bytes, int threads)
{
	struct parts parts = {.count = (int)(bytes / buffer_bytes),
			      .buffer_bytes = buffer_bytes};
	double ms[3];

	parts.memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (parts.memory == MAP_FAILED)
		bail("no host memory");
	(void)madvise(parts.memory, bytes, MADV_HUGEPAGE);
	parts.work = parts_fault;
	ms[0] = parts_ms(&parts, threads);
	parts.work = parts_down;
	ms[1] = parts_ms(&parts, threads);
	parts.work = parts_up;
	ms[2] = parts_ms(&parts, threads);
	diag("host, %d threads, buffers of %zu MiB: new pages %.1f, copied "
	     "there %.1f, and back %.1f GB/s",
	     threads, buffer_bytes / MIB, (double)bytes / 1e6 / ms[0],
	     (double)bytes / 1e6 / ms[1], (double)bytes / 1e6 / ms[2]);
	munmap(parts.memory, bytes);
}

/* ---- pinned memory ---- */

static void *parts_pinned[PARTS_HANDLES];
static size_t parts_pinned_bytes;

static void parts_alloc(struct parts *parts, int number, unsigned char *buffer)
{
	(void)parts;
	(void)buffer;
	CALL(cuMemHostAlloc(&parts_pinned[number], parts_pinned_bytes, 0));
}

static void parts_free(struct parts *parts, int number, unsigned char *buffer)
{
	(void)parts;
	(void)buffer;
	CALL(cuMemFreeHost(parts_pinned[number]));
}

static void parts_touch(struct parts *parts, int number, unsigned char *buffer)
{
	unsigned char *at =
		parts->memory + (size_t)number * parts_pinned_bytes;

	(void)buffer;
	if (madvise(at, parts_pinned_bytes, MADV_POPULATE_WRITE))
		memset(at, 0, parts_pinned_bytes);
}

static void parts_register(struct parts *parts, int number,
			   unsigned char *buffer)
{
	unsigned char *at =
		parts->memory + (size_t)number * parts_pinned_bytes;

	(void)buffer;
	CALL(cuMemHostRegister(at, parts_pinned_bytes, 0));
}

static void parts_unregister(struct parts *parts, int number,
			     unsigned char *buffer)
{
	(void)buffer;
	CALL(cuMemHostUnregister(parts->memory +
				 (size_t)number * parts_pinned_bytes));
}

/* GB/s of so much work on all of it. */
static double parts_rate(struct parts *parts, size_t bytes, int threads,
			 void (*work)(struct parts *, int, unsigned char *))
{
	parts->work = work;
	return (double)bytes / 1e6 / parts_ms(parts, threads);
}

static void tell_pinned(size_t bytes, size_t piece_bytes, int threads)
{
	struct parts parts = {.count = (int)(bytes / piece_bytes)};
	double rates[5];

	parts_pinned_bytes = piece_bytes;
	rates[0] = parts_rate(&parts, bytes, threads, parts_alloc);
	rates[1] = parts_rate(&parts, bytes, threads, parts_free);
	parts.memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (parts.memory == MAP_FAILED)
		bail("no host memory");
	(void)madvise(parts.memory, bytes, MADV_HUGEPAGE);
	rates[2] = parts_rate(&parts, bytes, threads, parts_touch);
	rates[3] = parts_rate(&parts, bytes, threads, parts_register);
	rates[4] = parts_rate(&parts, bytes, threads, parts_unregister);
	diag("pinned, %d threads, pieces of %zu MiB: allocated %.1f, freed "
	     "%.1f; pages made %.1f, registered %.1f, and not any more %.1f "
	     "GB/s",
	     threads, piece_bytes / MIB, rates[0], rates[1], rates[2], rates[3],
	     rates[4]);
	munmap(parts.memory, bytes);
}

/* ---- the driver ---- */

static void parts_release(struct parts *parts, int number,
			  unsigned char *buffer)
{
	(void)buffer;
	CALL(cuMemRelease(parts->handle[number]));
}

static void parts_map(CUdeviceptr at, size_t bytes, int count,
		      CUmemGenericAllocationHandle *handle)
{
	CUmemAllocationProp page = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
	CUmemAccessDesc access = {.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

	page.location.type = access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	for (int i = 0; i < count; i++) {
		CALL(cuMemCreate(&handle[i], bytes, &page, 0));
		CALL(cuMemMap(at + (size_t)i * bytes, bytes, 0, handle[i], 0));
	}
	CALL(cuMemSetAccess(at, (size_t)count * bytes, &access, 1));
	CALL(cuMemsetD8(at, 1, (size_t)count * bytes));
	CALL(cuCtxSynchronize());
}

/* Handles of that size: unmapped so many at a call, released by so many
 * threads. */
static void tell_driver(size_t bytes, int count, int at_a_call, int threads)
{
	CUmemGenericAllocationHandle handle[PARTS_HANDLES];
	struct parts parts = {
		.work = parts_release, .count = count, .handle = handle};
	size_t step = bytes * (size_t)at_a_call;
	double begin = now_ms(), mapped, unmapped;
	CUdeviceptr at;

	CALL(cuMemAddressReserve(&at, bytes * (size_t)count, 0, 0, 0));
	parts_map(at, bytes, count, handle);
	mapped = now_ms();
	for (size_t done = 0; done < bytes * (size_t)count; done += step)
		CALL(cuMemUnmap(at + done, step));
	unmapped = now_ms();
	diag("driver, %d handles of %zu MiB: made and filled %.1f ms, unmapped "
	     "%d at a call %.1f ms, released by %d threads %.1f ms",
	     count, bytes / MIB, mapped - begin, at_a_call, unmapped - mapped,
	     threads, parts_ms(&parts, threads));
	CALL(cuMemAddressFree(at, bytes * (size_t)count));
}

/* ---- many small copies ---- */

/* As CUDA 12.8 has them; later drivers do, too. */
struct batch_attributes {
	int source_order; /* 1: the stream's */
	struct {
		int type, id;
	} source, destination;
	unsigned flags;
};
typedef CUresult (*batch_fn)(CUdeviceptr *destinations, CUdeviceptr *sources,
			     size_t *bytes, size_t count,
			     struct batch_attributes *attributes,
			     size_t *first_of_attributes,
			     size_t attributes_count, size_t *failed_out,
			     CUstream stream);

enum { BATCH_BYTES = 64 << 10, BATCH_COUNT = 1024, BATCHES = 32 };

/* Every other 64 KiB of the device to the host; as many at a call as a chunk of
 * a sleep has. */
static double batch_ms(batch_fn batch, CUdeviceptr from, unsigned char *to,
		       CUstream stream)
{
	static CUdeviceptr source[BATCH_COUNT], destination[BATCH_COUNT];
	static size_t bytes[BATCH_COUNT];
	struct batch_attributes attributes = {.source_order = 1};
	size_t first = 0, failed;
	double begin = now_ms();

	for (size_t i = 0; i < (size_t)BATCHES * BATCH_COUNT; i++) {
		size_t n = i % BATCH_COUNT;

		source[n] = from + 2 * i * BATCH_BYTES;
		destination[n] = (CUdeviceptr)(uintptr_t)to + i * BATCH_BYTES;
		bytes[n] = BATCH_BYTES;
		if (!batch)
			CALL(cuMemcpyDtoHAsync(to + i * BATCH_BYTES, source[n],
					       BATCH_BYTES, stream));
		else if (n == BATCH_COUNT - 1)
			CALL(batch(destination, source, bytes, BATCH_COUNT,
				   &attributes, &first, 1, &failed, stream));
	}
	CALL(cuStreamSynchronize(stream));
	return now_ms() - begin;
}

static void tell_batch(void)
{
	const size_t all = (size_t)BATCHES * BATCH_COUNT * BATCH_BYTES;
	batch_fn batch;
	CUdeviceptr from;
	CUstream stream;
	void *to;

	*(void **)&batch = dlsym(RTLD_DEFAULT, "cuMemcpyBatchAsync");
	CALL(cuMemAlloc(&from, 2 * all));
	CALL(cuMemHostAlloc(&to, all, 0));
	CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < 3; i++) {
		double one = batch_ms(NULL, from, to, stream);
		double many = batch ? batch_ms(batch, from, to, stream) : 0;

		diag("driver, 2 GiB in runs of 64 KiB, by one thread: a call "
		     "each %.1f ms, %.1f GB/s; %d at a call %.1f ms, %.1f GB/s",
		     one, (double)all / 1e6 / one, BATCH_COUNT, many,
		     batch ? (double)all / 1e6 / many : 0);
	}
	CALL(cuStreamDestroy(stream));
	CALL(cuMemFreeHost(to));
	CALL(cuMemFree(from));
}

static void tell_parts(void)
{
	const int threads[] = {1, 4, 8, PARTS_THREADS};

	for (int i = 0; i < 4; i++) {
		tell_host(4 * GIB, 64 * MIB, threads[i]);
		tell_host(4 * GIB, 8 * MIB, threads[i]);
	}
	for (int i = 0; i < 4; i++) {
		tell_pinned(4 * GIB, 64 * MIB, threads[i]);
		tell_pinned(4 * GIB, 512 * MIB, threads[i]);
	}
	for (int i = 0; i < 2; i++) {
		tell_driver(64 * MIB, PARTS_HANDLES, 1, 1);
		tell_driver(64 * MIB, PARTS_HANDLES, 64, 1);
		tell_driver(64 * MIB, PARTS_HANDLES, PARTS_HANDLES, 1);
		tell_driver(64 * MIB, PARTS_HANDLES, 64, 4);
		tell_driver(1 * GIB, 16, 16, 1);
	}
	tell_batch();
}

#endif
