/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A runtime that calls itself AMD's, for tests/tool_run_hip.sh: two devices of
 * 1 GiB whose memory is the host's. It is no double of what AMD's runtime does
 * with memory (that is tests/fake/hip/), but has each function that the
 * preloaded library wraps, and each way to them. Some call others by their
 * exported names, which must not be counted twice. It is of release 6.4, or
 * what BELOW_VERSION in the environment says: before 7 each call overwrites the
 * last error, then only one that fails.
 *
 * With BELOW_SLOW in the environment a free takes long. below_used() and
 * below_peak() say what has been given out, with which the report and the limit
 * are compared. Here is what has been given out; the functions are in
 * hip_below_device.c, hip_below_memory.c, hip_below_array.c, hip_below_graph.c,
 * hip_below_asked.c, hip_below_stream.c and hip_below_ways.c. The mutex guards
 * the blocks and both figures.
 */
#define _GNU_SOURCE
#include "hip_below.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCKS 65536

static struct block {
	void *address;
	size_t bytes;
	int device, refs;
	enum kind kind;
} blocks[BLOCKS];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static size_t used[DEVICES], peak[DEVICES];
__thread int current;
static __thread int last;

int below_version(void)
{
	const char *version = getenv("BELOW_VERSION");

	return version ? atoi(version) : 60443484;
}

int leave(int result)
{
	if (result != OK || below_version() < 70000000)
		last = result;
	return result;
}

int take_last(void)
{
	int result = last;

	last = OK;
	return result;
}

size_t below_used(int device)
{
	return used[device];
}

size_t below_peak(int device)
{
	return peak[device];
}

static struct block *find(const void *address, enum kind kind)
{
	for (int i = 0; address && i < BLOCKS; i++)
		if (blocks[i].address == address && blocks[i].kind == kind)
			return &blocks[i];
	return NULL;
}

static struct block *add(void *address, size_t bytes, int device,
			 enum kind kind)
{
	for (int i = 0; i < BLOCKS; i++)
		if (!blocks[i].kind) {
			blocks[i] =
				(struct block){address, bytes, device, 1, kind};
			return &blocks[i];
		}
	abort();
}

int take(void **out, size_t bytes, int device, enum kind kind)
{
	int result = NO_MEMORY;

	if (!out)
		return INVALID;
	*out = NULL;
	if (!bytes)
		return OK;
	pthread_mutex_lock(&mutex);
	if (kind == HOST || bytes <= TOTAL - used[device]) {
		*out = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		add(*out, bytes, device, kind);
		used[device] += kind == HOST ? 0 : bytes;
		if (used[device] > peak[device])
			peak[device] = used[device];
		result = OK;
	}
	pthread_mutex_unlock(&mutex);
	return result;
}

/* With the mutex. */
static void end(struct block *block)
{
	if (block->kind == DEVICE || block->kind == HANDLE)
		used[block->device] -= block->bytes;
	if (block->kind != REGISTERED)
		munmap(block->address, block->bytes);
	block->kind = NOTHING;
}

int charge(int device, long bytes)
{
	int ok;

	pthread_mutex_lock(&mutex);
	ok = bytes <= 0 || (size_t)bytes <= TOTAL - used[device];
	if (ok)
		used[device] += (size_t)bytes;
	if (used[device] > peak[device])
		peak[device] = used[device];
	pthread_mutex_unlock(&mutex);
	return ok ? OK : NO_MEMORY;
}

int give(void *address, enum kind kind)
{
	struct block *block;

	if (!address)
		return OK;
	if (getenv("BELOW_SLOW"))
		usleep(200);
	pthread_mutex_lock(&mutex);
	block = find(address, kind);
	if (block)
		end(block);
	pthread_mutex_unlock(&mutex);
	return block ? OK : INVALID;
}

void know(void *address, size_t bytes)
{
	pthread_mutex_lock(&mutex);
	add(address, bytes, current, REGISTERED);
	pthread_mutex_unlock(&mutex);
}

int refer(void *handle, int change)
{
	struct block *block;

	pthread_mutex_lock(&mutex);
	block = find(handle, HANDLE);
	if (block && !(block->refs += change))
		end(block);
	pthread_mutex_unlock(&mutex);
	return block ? OK : INVALID;
}

void end_all(int device)
{
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < BLOCKS; i++)
		if (blocks[i].kind == DEVICE && blocks[i].device == device)
			end(&blocks[i]);
	pthread_mutex_unlock(&mutex);
}
