/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory in the order of streams: a block is freed as soon as all work that
 * uses it is queued, and nobody waits for that work.
 *
 *	cc stream_order.c $(pkg-config --cflags --libs gpumem) && ./a.out
 *
 * The streams are gpumem's own here, and fills and copies stand for kernels. A
 * program with a CUstream, hipStream_t or cl_command_queue passes that.
 */
#include <gpumem/gpumem.h>
#include <stdio.h>
#include <stdlib.h>

#define BYTES (1u << 20)

static unsigned char first[BYTES], second[BYTES];

static void must(gpumem_status status)
{
	if (status == GPUMEM_OK)
		return;
	fprintf(stderr, "%s\n", gpumem_error_text());
	exit(1);
}

int main(void)
{
	gpumem_device *device;
	gpumem_stream compute, io;
	gpumem_event *ready;
	gpumem_pool *pool;
	void *block, *next;

	must(gpumem_device_open(NULL, &device));
	must(gpumem_device_pool(device, &pool));
	must(gpumem_stream_create(device, &compute));
	must(gpumem_stream_create(device, &io));
	must(gpumem_event_create(device, &ready));

	/* One stream: the next block may be the same memory, for the stream
	 * does one after the other. */
	must(gpumem_alloc(pool, BYTES, compute, &block));
	must(gpumem_fill(device, block, 1, BYTES, compute));
	must(gpumem_copy(device, first, block, BYTES, compute));
	must(gpumem_free(block, compute));
	must(gpumem_alloc(pool, BYTES, compute, &next));
	must(gpumem_fill(device, next, 2, BYTES, compute));
	printf("the next block is %s\n",
	       next == block ? "the same memory" : "other memory");

	/* Two streams: io begins when compute is ready, which is the program's
	 * business; that the block waits for io as well is said to the pool. */
	must(gpumem_event_record(ready, compute));
	must(gpumem_stream_wait(device, io, ready));
	must(gpumem_copy(device, second, next, BYTES, io));
	must(gpumem_use_on(next, io));
	must(gpumem_free(next, compute));

	/* The only wait: the host wants to read. */
	must(gpumem_stream_sync(device, io));
	printf("compute wrote %d, then %d\n", first[0], second[BYTES - 1]);

	must(gpumem_event_destroy(ready));
	must(gpumem_stream_destroy(device, io)); /* before the device closes */
	must(gpumem_stream_destroy(device, compute));
	must(gpumem_device_close(device));
	return first[0] != 1 || second[BYTES - 1] != 2;
}
