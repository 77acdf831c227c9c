/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a program meets under `gpumem-run --limit=64MiB` by AMD's runtime, for
 * tests/tool_run_hip.sh: its argument says which case. It is linked with
 * hip_below, which says how much it has given.
 */
#include "cases.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define LIMIT (64 * MIB)

enum { NO_MEMORY = 2, INVALID = 1, THREADS = 8, ROUNDS = 2000 };

struct pitched {
	void *address;
	size_t pitch, width, height;
};

struct extent {
	size_t width, height, depth;
};

size_t below_used(int device);
size_t below_peak(int device);
int hipGetLastError(void);
int hipSetDevice(int device);
int hipDeviceReset(void);
int hipMemGetInfo(size_t *free_out, size_t *total_out);
int hipDeviceTotalMem(size_t *out, int device);
int hipGetDeviceProperties(void *out, int device);
int hipGetDevicePropertiesR0000(void *out, int device);
int hipGetDevicePropertiesR0600(void *out, int device);
int hipMalloc(void **out, size_t bytes);
int hipExtMallocWithFlags(void **out, size_t bytes, unsigned flags);
int hipMallocPitch(void **out, size_t *pitch, size_t width, size_t height);
int hipMemAllocPitch(void **out, size_t *pitch, size_t width, size_t height,
		     unsigned element);
int hipMalloc3D(struct pitched *out, struct extent extent);
int hipMallocManaged(void **out, size_t bytes, unsigned flags);
int hipHostMalloc(void **out, size_t bytes, unsigned flags);
int hipMallocAsync(void **out, size_t bytes, void *stream);
int hipMallocFromPoolAsync(void **out, size_t bytes, void *pool, void *stream);
int hipMemCreate(void **out, size_t bytes, const int *prop,
		 unsigned long long flags);
int hipMemRelease(void *handle);
int hipFree(void *address);
int hipFreeAsync(void *address, void *stream);
int hipHostFree(void *address);

#define TRUE(is)                                                               \
	do {                                                                   \
		if (!(is)) {                                                   \
			fprintf(stderr, "line %d: %s\n", __LINE__, #is);       \
			exit(1);                                               \
		}                                                              \
	} while (0)
#define OK(call) TRUE((call) == 0)
/* The runtime knows it, too. */
#define REFUSED(call)                                                          \
	TRUE((call) == NO_MEMORY && hipGetLastError() == NO_MEMORY &&          \
	     hipGetLastError() == 0)

static void see(size_t free_bytes)
{
	size_t left = 0, all = 0;

	OK(hipMemGetInfo(&left, &all));
	TRUE(left == free_bytes && all == LIMIT);
	left = all = 0;
	OK(hipMemGetInfo(&left, NULL));
	OK(hipMemGetInfo(NULL, &all));
	TRUE(left == free_bytes && all == LIMIT);
}

/* Each function that allocates, at the limit and one byte above it. */
static void kinds(void)
{
	int prop[8] = {1, 0, 1, 0};
	struct extent extent = {1, 1, 1}, long_rows = {1000, 16384, 2};
	struct pitched rows;
	void *a, *b, *c, *d;
	size_t pitch;

	see(LIMIT);
	REFUSED(hipMalloc(&a, LIMIT + 1));
	REFUSED(hipMalloc(&a, SIZE_MAX));
	TRUE(hipMalloc(NULL, LIMIT + 1) == INVALID);
	TRUE(below_used(0) == 0);
	OK(hipMalloc(&a, LIMIT));
	REFUSED(hipMalloc(&b, 1));
	REFUSED(hipExtMallocWithFlags(&b, 1, 1));
	REFUSED(hipMallocManaged(&b, 1, 1));
	REFUSED(hipMallocAsync(&b, 1, NULL));
	REFUSED(hipMallocFromPoolAsync(&b, 1, NULL, NULL));
	REFUSED(hipMallocPitch(&b, &pitch, 1, 1));
	REFUSED(hipMemAllocPitch(&b, &pitch, 1, 1, 4));
	REFUSED(hipMalloc3D(&rows, extent));
	REFUSED(hipMemCreate(&b, 2 * MIB, prop, 0));
	OK(hipHostMalloc(&b, LIMIT, 0));
	see(0);
	OK(hipFree(a));
	see(LIMIT);
	OK(hipHostFree(b));
	OK(hipMallocManaged(&a, 16 * MIB, 1));
	OK(hipMallocAsync(&b, 16 * MIB, NULL));
	OK(hipMallocPitch(&c, &pitch, 1000, 16384));
	OK(hipMemCreate(&d, 16 * MIB, prop, 0));
	see(0);
	TRUE(below_used(0) == LIMIT);
	OK(hipFree(c));
	OK(hipFree(a));
	OK(hipMalloc3D(&rows, long_rows));
	see(0);
	OK(hipFree(rows.address));
	REFUSED(hipMallocPitch(&a, &pitch, SIZE_MAX, 2));
	REFUSED(hipMalloc3D(&rows, (struct extent){512, SIZE_MAX, 2}));
	OK(hipFreeAsync(b, NULL));
	OK(hipMemRelease(d));
	see(LIMIT);
	OK(hipMalloc(&a, LIMIT));
}

static size_t total_of(int (*get)(void *, int), size_t at)
{
	unsigned char properties[2048] = {0};
	size_t total;

	OK(get(properties, 0));
	memcpy(&total, properties + at, sizeof(total));
	for (size_t i = 0; i < 700; i++)
		TRUE(i - at < sizeof(total) || properties[i] == 0x55);
	return total;
}

/* What the device has, by each way to ask. */
static void properties(void)
{
	size_t total;

	OK(hipDeviceTotalMem(&total, 1));
	TRUE(total == LIMIT);
	TRUE(total_of(hipGetDeviceProperties, 256) == LIMIT);
	TRUE(total_of(hipGetDevicePropertiesR0000, 256) == LIMIT);
	TRUE(total_of(hipGetDevicePropertiesR0600, 288) == LIMIT);
	OK(hipMalloc((void **)&total, 1));
}

/* What is refused otherwise, or ends otherwise, is not counted for ever. */
static void failures(void)
{
	void *a, *b;

	for (int i = 0; i < 100; i++)
		TRUE(hipMalloc(NULL, MIB) == INVALID);
	OK(hipMalloc(&a, 0));
	TRUE(hipFree((void *)12345) == INVALID);
	see(LIMIT);
	OK(hipMalloc(&a, LIMIT / 2));
	OK(hipMallocAsync(&b, LIMIT / 2, NULL));
	see(0);
	OK(hipDeviceReset());
	see(LIMIT);
	TRUE(hipFree(a) == INVALID);
	OK(hipMalloc(&a, LIMIT));
	REFUSED(hipMalloc(&b, 1));
}

/* Each has as much; a block is of the device on which it was allocated. */
static void devices(void)
{
	void *a, *b;
	int prop[8] = {1, 0, 1, 1};

	OK(hipMalloc(&a, LIMIT));
	OK(hipMemCreate(&b, LIMIT, prop, 0));
	OK(hipSetDevice(1));
	see(0);
	OK(hipFree(a));
	see(0);
	OK(hipMemRelease(b));
	see(LIMIT);
	OK(hipSetDevice(0));
	see(LIMIT);
}

static void *worker(void *context)
{
	unsigned seed = (unsigned)(uintptr_t)context * 2654435761u;
	void *held[16] = {NULL};

	for (int i = 0; i < ROUNDS; i++) {
		void **at = &held[seed % 16];

		seed = seed * 1664525u + 1013904223u;
		if (*at) {
			OK(hipFree(*at));
			*at = NULL;
		} else if (seed >> 31) {
			(void)hipMalloc(at, 1 + (seed >> 4) % (8 * MIB));
		} else {
			(void)hipMallocAsync(at, 1 + (seed >> 4) % (8 * MIB),
					     NULL);
		}
	}
	for (int i = 0; i < 16; i++)
		OK(hipFree(held[i]));
	return NULL;
}

static void threads(void)
{
	pthread_t workers[THREADS];
	void *a;

	alarm(300);
	for (uintptr_t i = 0; i < THREADS; i++)
		OK(pthread_create(&workers[i], NULL, worker, (void *)(i + 1)));
	for (int i = 0; i < THREADS; i++)
		OK(pthread_join(workers[i], NULL));
	TRUE(below_used(0) == 0 && below_peak(0) <= LIMIT);
	TRUE(below_peak(0) > LIMIT / 2);
	see(LIMIT);
	OK(hipMalloc(&a, LIMIT));
}

/* A child has all of it again. */
static void child(void)
{
	void *a;
	int status;

	if (!fork()) {
		OK(hipMalloc(&a, LIMIT));
		REFUSED(hipMalloc(&a, 1));
		exit(0);
	}
	wait(&status);
	OK(status);
	OK(hipMalloc(&a, LIMIT));
	REFUSED(hipMalloc(&a, 1));
}

int main(int argc, char **argv)
{
	static const struct run_case cases[] = {
		{"kinds", kinds},	{"properties", properties},
		{"failures", failures}, {"devices", devices},
		{"threads", threads},	{"child", child}};

	if (!RUN_CASE(cases, argv[1]))
		return 2;
	if (argc > 2)
		raise(SIGKILL);
	return 0;
}
