/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory that goes back to the driver, memory that is not there, and the end of
 * contexts and processes.
 */
#define _GNU_SOURCE
#include "served_cases.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void trims(void)
{
	void *stream = stream_new();
	address live = take(4 * MIB, stream), block = take(64 * MIB, stream);

	give(block, stream);
	TRUE(used_bytes() >= 68 * MIB);
	TRUE(trim() >= 64 * MIB);
	TRUE(used_bytes() <= 8 * MIB);
	TRUE(trim() == 0);
	OK(cu.cuMemsetD8Async(live, 1, 4 * MIB, stream));
	OK(cu.cuStreamSynchronize(stream));
	give(live, stream);
}

/* With no call of the driver by anybody: what tests say to the double is none.
 * The test's alarm ends what does not come to its end. */
void decays(void)
{
	void *stream = stream_new();

	give(take(64 * MIB, stream), stream);
	TRUE(used_bytes() >= 64 * MIB);
	while (used_bytes())
		sched_yield();
}

/* So do blocks of cuMemAlloc() that are kept. */
void blocks_decay(void)
{
	release(alloc(8 * MIB));
	TRUE(used_bytes() == 8 * MIB);
	while (used_bytes())
		sched_yield();
}

/* For gpumem-run --trim, which needs its number. */
void waits(void)
{
	void *stream = stream_new();

	give(take(64 * MIB, stream), stream);
	printf("%ld\n", (long)getpid());
	fflush(stdout);
	while (used_bytes())
		usleep(1000);
}

/* The same, and goes on until it is killed. */
void lasts(void)
{
	waits();
	for (;;)
		pause();
}

/* What is unused is what another kind of allocation gets. */
void relieves(void)
{
	void *stream = stream_new();
	address block;

	for (int i = 0; i < 4; i++) {
		give(take(96 * MIB, stream), stream);
		release(alloc(100 * MIB));
	}
	block = take(100 * MIB, stream);
	TRUE(cu.cuMemAlloc_v2(&block, 100 * MIB) == OUT_OF_MEMORY);
}

void no_memory(void)
{
	void *stream = stream_new();
	address block = take(96 * MIB, stream), other = 7;

	TRUE(cu.cuMemAllocAsync(&other, 96 * MIB, stream) == OUT_OF_MEMORY);
	TRUE(other == 7);
	cu.stepping(true);
	work(stream, block, 96 * MIB);
	give(block, stream);
	block = take(96 * MIB, stream);
	work(stream, block, 96 * MIB);
	give(block, stream);
	OK(cu.cuStreamSynchronize(stream));
}

/* Whatever call fails, the program has a block or an error, and nothing is
 * lost. */
void faults(void)
{
	static const char *const names[] = {
		"cuMemCreate",	      "cuMemAddressReserve",
		"cuMemMap",	      "cuMemSetAccess",
		"cuMemUnmap",	      "cuMemRelease",
		"cuEventCreate",      "cuEventRecord",
		"cuEventQuery",	      "cuStreamWaitEvent",
		"cuStreamGetCtx",     "cuDeviceGetMemPool",
		"cuCtxPushCurrent",   "cuStreamGetCaptureInfo",
		"cuStreamIsCapturing"};
	void *stream = stream_new(), *other = stream_new();

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (unsigned nth = 1; nth <= 3; nth++) {
			address block = 0;

			cu.fault(names[i], nth, false, nth == 1 ? 2 : 999);
			if (!cu.cuMemAllocAsync(&block, 6 * MIB, stream))
				(void)cu.cuMemsetD8Async(block, 1, MIB, stream);
			if (block && cu.cuMemFreeAsync(block, other)) {
				cu.heal();
				give(block, other);
			}
			cu.heal();
			OK(cu.cuCtxSynchronize());
			give(take(6 * MIB, stream), stream);
			OK(cu.cuCtxSynchronize());
			(void)trim();
			OK(cu.cuMemPoolTrimTo(default_pool(), 0));
			TRUE(used_bytes() == 0);
		}
}

/* By --limit=64MiB, which is that of everything together. */
void refused(void)
{
	void *stream = stream_new();
	address block = take(40 * MIB, stream), other;

	TRUE(cu.cuMemAllocAsync(&other, 40 * MIB, stream) == OUT_OF_MEMORY);
	TRUE(cu.cuMemAlloc_v2(&other, 40 * MIB) == OUT_OF_MEMORY);
	TRUE(used_bytes() <= 64 * MIB);
	give(block, stream);
	give(take(60 * MIB, stream), stream);
	TRUE(used_bytes() <= 64 * MIB);
}

/* With that limit what is unused goes back for another kind. */
void makes_room(void)
{
	void *stream = stream_new();
	address block;
	size_t free_bytes, total;

	give(take(40 * MIB, stream), stream);
	OK(cu.cuMemGetInfo_v2(&free_bytes, &total));
	TRUE(total == 64 * MIB && free_bytes == 64 * MIB);
	block = alloc(60 * MIB);
	TRUE(used_bytes() <= 64 * MIB);
	release(block);
	give(take(60 * MIB, stream), stream);
	TRUE(used_bytes() <= 64 * MIB);
}

/* Blocks go with the context, and the next ones are served as well. */
void resets(void)
{
	void *stream = stream_new();
	address block = take(4 * MIB, stream);

	OK(cu.cuDevicePrimaryCtxReset_v2(0));
	TRUE(used_bytes() == 0);
	OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
	OK(cu.cuCtxSetCurrent(context));
	TRUE(cu.cuMemFreeAsync(block, NULL) != 0);
	stream = stream_new();
	block = take(4 * MIB, stream);
	give(block, stream);
	TRUE(passed_on() == 0);
}

/* The last release ends the context. */
void released(void)
{
	struct fakecuda_held held;
	void *stream = stream_new();

	give(take(4 * MIB, stream), stream);
	OK(cu.cuDevicePrimaryCtxRelease_v2(0));
	cu.audit(&held);
	TRUE(held.contexts == 0 && held.used_bytes == 0);
}

/* A child has nothing of its parent's. */
void forks(void)
{
	void *stream = stream_new();
	address block = take(4 * MIB, stream), other;
	int status = 1;
	pid_t pid = fork();

	if (!pid)
		_exit(!cu.cuMemAllocAsync(&other, MIB, stream) ||
		      !cu.cuMemFreeAsync(block, stream) || trim() != 0);
	TRUE(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
	give(block, stream);
	TRUE(take(4 * MIB, stream) == block);
}

/* What gpumem-run has set is known, though the program has thrown it away. */
void clears(void)
{
	void *stream = stream_new();

	clearenv();
	give(take(4 * MIB, stream), stream);
	TRUE(passed_on() == 0);
}

/* More than those of which what is kept waits for each. */
void many_streams(void)
{
	void *stream = NULL;

	for (int i = 0; i < 300; i++) {
		stream = stream_new();
		give(take(MIB, stream), stream);
	}
	OK(cu.cuStreamDestroy_v2(stream));
	give(take(MIB, NULL), NULL);
	TRUE(passed_on() == 0);
}

/* After a kernel's wrong access the driver says so, of each call. */
void lost_device(void)
{
	void *stream = stream_new();
	address block = take(4 * MIB, stream), other;

	cu.lose(0, 700);
	TRUE(cu.cuMemAllocAsync(&other, 64 * MIB, stream) == 700);
	TRUE(cu.cuMemFreeAsync(block, stream) != OUT_OF_MEMORY);
	TRUE(cu.cuMemFree_v2(block) != 0);
	(void)trim();
}

/* Frameworks free while the process exits, when the driver has ended. */
void shut_down(void)
{
	void *stream = stream_new();
	address block = take(4 * MIB, stream), other = take(MIB, stream);

	give(other, stream);
	cu.deinit();
	TRUE(cu.cuMemFreeAsync(block, stream) != 0);
	TRUE(cu.cuMemAllocAsync(&other, 64 * MIB, stream) != 0);
	(void)trim();
}

/* What a framework does that allocates in another way. */
void otherwise(void)
{
	release(alloc(4 * MIB));
}

/* Without --adopt, with --no-pool, or where the pool cannot be had. */
void reaches_driver(void)
{
	void *stream = stream_new();

	give(take(4 * MIB, stream), stream);
	TRUE(passed_on() == 1);
	TRUE(cu.calls("cuMemFreeAsync") == 1);
}
