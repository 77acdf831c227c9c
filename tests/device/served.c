/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A program that makes stream-ordered allocations, on a machine with an NVIDIA
 * GPU, and knows nothing of gpumem: by itself, and under gpumem-run --adopt.
 * Its blocks are filled on the streams that they are of and looked at before
 * they are freed there or elsewhere, and may not have changed. It prints how
 * long an allocation and a free take, what its pool says, and what nvidia-smi
 * says of the device: with the context, with 4 GiB, when they are freed, after
 * a pause of 15 seconds, and when they were allocated and the pool trimmed. The
 * exit status is 0 if no byte was wrong.
 */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

enum { STREAMS = 4, BLOCKS = 64, ROUNDS = 20000, PAIRS = 20000 };

static CUstream streams[STREAMS];
static CUmemoryPool pool;
static unsigned char *seen; /* two bytes that the device can write */
static unsigned wrong;

static void must(CUresult result, const char *call)
{
	if (result == CUDA_SUCCESS)
		return;
	printf("%s: %d\n", call, (int)result);
	exit(1);
}
#define MUST(call) must(call, #call)

struct block {
	CUdeviceptr at;
	size_t bytes;
	CUstream stream;
	unsigned char value;
};

static void make(struct block *block)
{
	int kind = rand() % 3;

	block->stream = streams[rand() % STREAMS];
	block->bytes = 1 + (size_t)rand() % (kind == 0	 ? 4096
					     : kind == 1 ? MIB
							 : 32 * MIB);
	block->value = (unsigned char)(1 + rand() % 255);
	MUST(cuMemAllocFromPoolAsync(&block->at, block->bytes, pool,
				     block->stream));
	MUST(cuMemsetD8Async(block->at, block->value, block->bytes,
			     block->stream));
}

/* Its first and its last byte, behind all that its stream had to do. */
static void look(const struct block *block)
{
	MUST(cuMemcpyAsync((uintptr_t)&seen[0], block->at, 1, block->stream));
	MUST(cuMemcpyAsync((uintptr_t)&seen[1], block->at + block->bytes - 1, 1,
			   block->stream));
	MUST(cuStreamSynchronize(block->stream));
	wrong += seen[0] != block->value || seen[1] != block->value;
}

static void end(struct block *block)
{
	if (rand() % 2)
		look(block);
	if (rand() % 4 == 0) {
		MUST(cuStreamSynchronize(block->stream));
		block->stream = streams[rand() % STREAMS];
	}
	if (rand() % 16)
		MUST(cuMemFreeAsync(block->at, block->stream));
	else
		MUST(cuMemFree(block->at));
	block->at = 0;
}

static void at_random(void)
{
	static struct block blocks[BLOCKS];

	for (int i = 0; i < ROUNDS; i++) {
		struct block *block = &blocks[rand() % BLOCKS];

		if (block->at)
			end(block);
		else
			make(block);
	}
	for (int i = 0; i < BLOCKS; i++)
		if (blocks[i].at)
			end(&blocks[i]);
	MUST(cuCtxSynchronize());
	printf("%u of %d rounds had wrong bytes\n", wrong, ROUNDS);
}

static void time_pairs(size_t bytes)
{
	struct timespec from, to;
	CUdeviceptr block;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < PAIRS; i++) {
		MUST(cuMemAllocFromPoolAsync(&block, bytes, pool, streams[0]));
		MUST(cuMemFreeAsync(block, streams[0]));
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%zu bytes: %.0f ns for an allocation and a free\n", bytes,
	       ((double)(to.tv_sec - from.tv_sec) * 1e9 +
		(double)(to.tv_nsec - from.tv_nsec)) /
		       PAIRS);
}

static void say(const char *when)
{
	static const char command[] =
		"nvidia-smi -i 0 --query-gpu=memory.used --format=csv,noheader";
	uint64_t used = 0, reserved = 0;

	MUST(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
				   &used));
	MUST(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
				   &reserved));
	printf("%s: the pool has %llu MiB, %llu in use; the device ", when,
	       (unsigned long long)(reserved / MIB),
	       (unsigned long long)(used / MIB));
	fflush(stdout);
	if (system(command))
		puts("(no nvidia-smi)");
}

static void four_gib(CUdeviceptr *blocks)
{
	for (int i = 0; i < 64; i++)
		MUST(cuMemAllocFromPoolAsync(&blocks[i], 64 * MIB, pool,
					     streams[i % STREAMS]));
	MUST(cuCtxSynchronize());
}

static void give(const CUdeviceptr *blocks)
{
	for (int i = 0; i < 64; i++)
		MUST(cuMemFreeAsync(blocks[i], streams[i % STREAMS]));
	MUST(cuCtxSynchronize());
}

int main(void)
{
	uint64_t all = UINT64_MAX;
	CUdeviceptr blocks[64];
	CUcontext context;

	MUST(cuInit(0));
	MUST(cuDevicePrimaryCtxRetain(&context, 0));
	MUST(cuCtxSetCurrent(context));
	MUST(cuMemAllocHost((void **)&seen, 2));
	MUST(cuDeviceGetDefaultMemPool(&pool, 0));
	MUST(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
				   &all));
	for (int i = 0; i < STREAMS; i++)
		MUST(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
	say("with the context");
	four_gib(blocks);
	say("with 4 GiB");
	give(blocks);
	say("freed");
	sleep(15);
	say("after 15 seconds");
	four_gib(blocks);
	give(blocks);
	MUST(cuMemPoolTrimTo(pool, 0));
	say("again, and trimmed");
	time_pairs(512);
	time_pairs(MIB);
	time_pairs(64 * MIB);
	at_random();
	return wrong != 0;
}
