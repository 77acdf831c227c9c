/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pools that the program makes, sets and asks: names for what is served, or the
 * driver's own where they are of another kind.
 */
#include "served_cases.h"

#include <pthread.h>
#include <unistd.h>

#define FD 1   /* of CUmemAllocationHandleType */
#define HOST 2 /* of CUmemLocationType */

static address take_from(void *pool, size_t bytes, void *stream)
{
	address block = 0;

	OK(cu.cuMemAllocFromPoolAsync(&block, bytes, pool, stream));
	TRUE(block);
	return block;
}

void attributes(void)
{
	void *stream = stream_new(), *pool = pool_new(0, 1, 0);
	address block, other;
	uint64_t zero = 0, one = 1;

	TRUE(attribute(pool, USED) == 0 && attribute(pool, RESERVED) == 0);
	block = take_from(pool, 4 * MIB, stream);
	other = take_from(default_pool(), 2 * MIB, stream);
	TRUE(attribute(pool, USED) == 4 * MIB);
	TRUE(attribute(default_pool(), USED) == 2 * MIB);
	TRUE(attribute(pool, RESERVED) >= 4 * MIB);
	give(block, stream);
	TRUE(attribute(pool, USED) == 0);
	TRUE(attribute(pool, USED_HIGH) == 4 * MIB);
	TRUE(attribute(pool, RESERVED) >= 4 * MIB);
	TRUE(attribute(pool, RESERVED_HIGH) >= attribute(pool, RESERVED));
	TRUE(cu.cuMemPoolSetAttribute(pool, USED_HIGH, &one) == INVALID_VALUE);
	TRUE(attribute(pool, USED_HIGH) == 4 * MIB);
	OK(cu.cuMemPoolSetAttribute(pool, USED_HIGH, &zero));
	TRUE(attribute(pool, USED_HIGH) == 0);
	OK(cu.cuMemPoolTrimTo(pool, 0));
	OK(cu.cuMemPoolSetAttribute(pool, RESERVED_HIGH, &zero));
	TRUE(attribute(pool, RESERVED_HIGH) < 4 * MIB);
	give(other, stream);
	OK(cu.cuMemPoolTrimTo(default_pool(), 0));
	TRUE(attribute(pool, RESERVED) == 0);
	TRUE(cu.cuMemPoolTrimTo(NULL, 0) == INVALID_VALUE);
	TRUE(used_bytes() == 0);
}

/* The driver keeps what is set; a trim gives back all the same. */
void thresholds(void)
{
	void *stream = stream_new();
	uint64_t most = UINT64_MAX;
	int off = 0, value = 1;
	address block;

	OK(cu.cuMemPoolSetAttribute(default_pool(), THRESHOLD, &most));
	OK(cu.cuMemPoolSetAttribute(default_pool(), 2, &off));
	block = take(64 * MIB, stream);
	give(block, stream);
	OK(cu.cuStreamSynchronize(stream));
	TRUE(attribute(default_pool(), THRESHOLD) == UINT64_MAX);
	OK(cu.cuMemPoolGetAttribute(default_pool(), 2, &value));
	TRUE(value == 0);
	TRUE(used_bytes() >= 64 * MIB);
	TRUE(trim() >= 64 * MIB);
	TRUE(used_bytes() == 0);
}

/* They live on; a later pool knows nothing of them. */
void ends_with_blocks(void)
{
	void *stream = stream_new(), *pool = pool_new(0, 1, 0), *says = pool;
	address block = take_from(pool, 4 * MIB, stream), other;

	OK(cu.cuMemPoolDestroy(pool));
	TRUE(cu.cuMemPoolDestroy(default_pool()) == INVALID_VALUE);
	OK(cu.cuPointerGetAttribute(&says, 17, block));
	TRUE(!says);
	TRUE(cu.cuMemAllocFromPoolAsync(&other, MIB, pool, stream) ==
	     INVALID_VALUE);
	OK(cu.cuMemsetD8Async(block, 1, 4 * MIB, stream));
	pool = pool_new(0, 1, 0);
	TRUE(attribute(pool, USED) == 0);
	give(block, stream);
	TRUE(attribute(pool, USED) == 0);
	TRUE(passed_on() == 1);
	for (int i = 0; i < 200; i++)
		OK(cu.cuMemPoolDestroy(pool_new(0, 1, 0)));
	other = take_from(pool_new(0, 1, 0), MIB, stream);
	give(other, stream);
	TRUE(passed_on() == 1);
}

/* What a pool may have at most. */
void most(void)
{
	void *stream = stream_new(), *pool = pool_new(0, 1, 8 * MIB);
	address block = take_from(pool, 6 * MIB, stream), other;

	TRUE(cu.cuMemAllocFromPoolAsync(&other, 3 * MIB, pool, stream) ==
	     OUT_OF_MEMORY);
	TRUE(cu.cuMemAllocFromPoolAsync(&other, SIZE_MAX, pool, stream) ==
	     OUT_OF_MEMORY);
	other = take_from(pool, 2 * MIB, stream);
	give(other, stream);
	give(block, stream);
	block = take_from(pool, 8 * MIB, stream);
	TRUE(passed_on() == 0);
}

static struct {
	void *pool, *context;
	pthread_barrier_t begins, all;
	_Atomic unsigned have;
} shared;

static void *take_at_once(void *stream)
{
	OK(cu.cuCtxSetCurrent(shared.context));
	for (int i = 0; i < 1000; i++) {
		address block = 0;
		int result;

		pthread_barrier_wait(&shared.begins);
		result = cu.cuMemAllocFromPoolAsync(&block, 5 * MIB,
						    shared.pool, stream);
		TRUE(result == 0 || result == OUT_OF_MEMORY);
		if (!result)
			shared.have++;
		pthread_barrier_wait(&shared.all);
		TRUE(shared.have == 1);
		pthread_barrier_wait(&shared.begins);
		if (!result) {
			shared.have--;
			give(block, stream);
			trim(); /* so that the next one takes its time */
		}
		pthread_barrier_wait(&shared.all);
	}
	return NULL;
}

/* Several that ask at once have no more of it together: one of them has a
 * block, and there is room for no other. */
void most_of_threads(void)
{
	enum { THREADS = 3 };
	pthread_t threads[THREADS];
	void *own = stream_new();

	shared.pool = pool_new(0, 1, 8 * MIB);
	shared.context = context;
	pthread_barrier_init(&shared.begins, NULL, THREADS);
	pthread_barrier_init(&shared.all, NULL, THREADS);
	give(take_from(shared.pool, MIB, own), own);
	for (int i = 0; i < THREADS; i++)
		TRUE(!pthread_create(&threads[i], NULL, take_at_once,
				     stream_new()));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	TRUE(attribute(shared.pool, USED_HIGH) == 5 * MIB);
	TRUE(passed_on() == 0);
}

static void *pool_for(unsigned char use, unsigned char more)
{
	struct pool_props props = {1, 0, 1, 0, NULL, 0, {use, more}};
	void *pool;

	OK(cu.cuMemPoolCreate(&pool, &props));
	return pool;
}

/* Memory for uses that are not known may be of another kind. */
void of_another_use(void)
{
	void *stream = stream_new();

	give(take_from(pool_for(1, 0), MIB, stream), stream);
	TRUE(passed_on() == 1);
	give(take_from(pool_for(3, 0), MIB, stream), stream);
	TRUE(passed_on() == 2);
	give(take_from(pool_for(2, 1), MIB, stream), stream);
	TRUE(passed_on() == 3);
}

/* What is served can be decompressed to, as what the driver gives. */
void decompresses(void)
{
	void *stream = stream_new();
	address block = take_from(pool_for(2, 0), MIB, stream);
	int yes = 0;

	TRUE(passed_on() == 0);
	OK(cu.cuPointerGetAttribute(&yes, 21, block));
	TRUE(yes);
	give(block, stream);
}

/* Each device has a pool of its own. */
void devices(void)
{
	void *stream = stream_new(), *other, *pool;
	address block = take(4 * MIB, stream), theirs;
	size_t free_bytes, total;

	OK(cu.cuDevicePrimaryCtxRetain(&other, 1));
	OK(cu.cuCtxSetCurrent(other));
	theirs = take(8 * MIB, stream_new());
	OK(cu.cuMemGetInfo_v2(&free_bytes, &total));
	TRUE(total - free_bytes == 8 * MIB);
	/* The pool of one device on a stream of the other is the driver's. */
	OK(cu.cuDeviceGetDefaultMemPool(&pool, 0));
	OK(cu.cuMemAllocFromPoolAsync(&theirs, MIB, pool, NULL));
	TRUE(passed_on() == 1);
	OK(cu.cuMemFreeAsync(block, stream));
	TRUE(trim() >= 4 * MIB);
}

/* Of the host, and for other processes; those are exported, ours are not. */
void passes_on(void)
{
	void *stream = stream_new(), *pool = pool_new(FD, 1, 0);
	void *host = pool_new(0, HOST, 0), *own = pool_new(0, 1, 0);
	address block = take_from(pool, MIB, stream);
	unsigned char data[64];
	int fd = -1;

	TRUE(passed_on() == 1);
	OK(cu.cuMemPoolExportToShareableHandle(&fd, pool, FD, 0));
	OK(cu.cuMemPoolExportPointer(data, block));
	close(fd);
	give(block, stream);
	block = take_from(host, MIB, stream);
	TRUE(passed_on() == 2);
	give(block, stream);
	block = take_from(own, MIB, stream);
	TRUE(passed_on() == 2);
	TRUE(cu.cuMemPoolExportPointer(data, block) == INVALID_VALUE);
	OK(cu.cuDeviceSetMemPool(0, pool));
	give(take(MIB, stream), stream);
	TRUE(passed_on() == 3);
	OK(cu.cuDeviceSetMemPool(0, own));
	give(take(MIB, stream), stream);
	TRUE(passed_on() == 3);
	TRUE(attribute(own, USED) == MIB);
}

/* A stream of device 1 that writes to a block of device 0. */
static void *stream_of_peer(void)
{
	void *peer;

	OK(cu.cuDevicePrimaryCtxRetain(&peer, 1));
	OK(cu.cuCtxSetCurrent(peer));
	return stream_new();
}

void peers(void)
{
	void *stream = stream_new(), *pool = pool_new(0, 1, 0), *other;
	struct access access = {1, 1, 3};
	address block = take_from(pool, 4 * MIB, stream);

	other = stream_of_peer();
	TRUE(cu.cuMemsetD8Async(block, 1, 4 * MIB, other) == INVALID_VALUE);
	OK(cu.cuMemPoolSetAccess(pool, &access, 1));
	OK(cu.cuMemsetD8Async(block, 1, 4 * MIB, other));
	OK(cu.cuCtxSynchronize());
	access.id = 7;
	TRUE(cu.cuMemPoolSetAccess(pool, &access, 1) != 0);
}

/* Before anything was allocated. */
void peers_first(void)
{
	void *stream = stream_new(), *other;
	struct access access = {1, 1, 3};
	address block;

	OK(cu.cuMemPoolSetAccess(default_pool(), &access, 1));
	block = take(4 * MIB, stream);
	TRUE(passed_on() == 0);
	other = stream_of_peer();
	OK(cu.cuMemsetD8Async(block, 1, 4 * MIB, other));
	OK(cu.cuCtxSynchronize());
}

/* As a block of the driver's own pool. */
void described(void)
{
	void *stream = stream_new(), *says = NULL, *where = stream;
	address block = take(3 * MIB, stream), base = 0, id = 0, next = 0;
	address inside = block + 1000;
	size_t bytes = 0, range = 0;
	int ipc = -1; /* a boolean, of which the driver writes four bytes */
	int which[] = {1, 12, 17, 9}, ordinal = 7;
	void *data[] = {&where, &range, &says, &ordinal};
	char handle[64];

	OK(cu.cuMemGetAddressRange_v2(&base, &bytes, inside));
	TRUE(base == block && bytes == 3 * MIB);
	OK(cu.cuPointerGetAttributes(4, which, data, inside));
	TRUE(!where && range == 3 * MIB && says == default_pool() && !ordinal);
	where = stream;
	OK(cu.cuPointerGetAttribute(&where, 1, inside));
	TRUE(!where);
	OK(cu.cuPointerGetAttribute(&base, 11, inside));
	TRUE(base == block);
	OK(cu.cuPointerGetAttribute(&ipc, 10, inside));
	TRUE(!ipc);
	OK(cu.cuPointerGetAttribute(&id, 7, inside));
	give(block, stream);
	block = take(3 * MIB, stream);
	OK(cu.cuPointerGetAttribute(&next, 7, block));
	TRUE(id != next);
	TRUE(cu.cuIpcGetMemHandle(handle, block) == INVALID_VALUE);
	TRUE(cu.cuMemRetainAllocationHandle(&id, block) == INVALID_VALUE);
	give(block, stream);
}
