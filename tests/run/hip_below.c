/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A runtime that calls itself AMD's, for tests/tool_run_hip.sh: two devices of
 * 1 GiB whose memory is the host's. It is no double of what AMD's runtime does
 * with memory (that is tests/fake/hip/), but has each function that the
 * preloaded library wraps, and each way to them. Some call others by their
 * exported names, which must not be counted twice. The last error is as
 * releases before 7 have it: each call overwrites it.
 *
 * With BELOW_SLOW in the environment a free takes long. below_used() and
 * below_peak() say what has been given out, with which the report and the limit
 * are compared.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEVICES 2
#define TOTAL ((size_t)1 << 30)
#define ROW 256 /* bytes */
#define BLOCKS 65536

enum { OK, INVALID = 1, NO_MEMORY = 2, NOT_FOUND = 500 };
enum kind { NOTHING, DEVICE, HOST, REGISTERED, HANDLE };

static struct block {
	void *address;
	size_t bytes;
	int device, refs;
	enum kind kind;
} blocks[BLOCKS];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static size_t used[DEVICES], peak[DEVICES];
static __thread int current, last;

static int leave(int result)
{
	last = result;
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

/* ---- blocks ----------------------------------------------------------------
 */

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

static int take(void **out, size_t bytes, int device, enum kind kind)
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

static int give(void *address, enum kind kind)
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

/* ---- the device ------------------------------------------------------------
 */

int hipInit(unsigned flags)
{
	return leave(OK);
}

int hipGetLastError(void)
{
	int result = last;

	last = OK;
	return result;
}

int hipGetDevice(int *out)
{
	*out = current;
	return leave(OK);
}

int hipSetDevice(int device)
{
	if (device < 0 || device >= DEVICES)
		return leave(101);
	current = device;
	return leave(OK);
}

int hipRuntimeGetVersion(int *out)
{
	*out = 60443484;
	return leave(OK);
}

int hipMemGetInfo(size_t *free_out, size_t *total_out)
{
	if (free_out)
		*free_out = TOTAL - used[current];
	if (total_out)
		*total_out = TOTAL;
	return leave(OK);
}

int hipDeviceTotalMem(size_t *out, int device)
{
	*out = TOTAL;
	return leave(OK);
}

static int properties(char *out, int device, size_t at, size_t bytes)
{
	size_t total = TOTAL;

	memset(out, 0x55, bytes);
	memcpy(out + at, &total, sizeof(total));
	return leave(OK);
}

int hipGetDevicePropertiesR0000(void *out, int device)
{
	return properties(out, device, 256, 792);
}

int hipGetDeviceProperties(void *out, int device)
{
	return hipGetDevicePropertiesR0000(out, device);
}

int hipGetDevicePropertiesR0600(void *out, int device)
{
	return properties(out, device, 288, 1472);
}

int hipDeviceReset(void)
{
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < BLOCKS; i++)
		if (blocks[i].kind == DEVICE && blocks[i].device == current)
			end(&blocks[i]);
	pthread_mutex_unlock(&mutex);
	return leave(OK);
}

/* ---- memory ----------------------------------------------------------------
 */

int hipMalloc(void **out, size_t bytes)
{
	return leave(take(out, bytes, current, DEVICE));
}

int hipExtMallocWithFlags(void **out, size_t bytes, unsigned flags)
{
	return hipMalloc(out, bytes);
}

int hipFree(void *address)
{
	int result = give(address, DEVICE);

	return leave(result == OK ? OK : give(address, HOST));
}

int hipMemAllocPitch(void **out, size_t *pitch_out, size_t width, size_t height,
		     unsigned element)
{
	if (!out || !pitch_out)
		return leave(INVALID);
	*pitch_out = (width + ROW - 1) / ROW * ROW;
	return hipMalloc(out, *pitch_out * height);
}

int hipMallocPitch(void **out, size_t *pitch_out, size_t width, size_t height)
{
	return hipMemAllocPitch(out, pitch_out, width, height, 4);
}

struct pitched {
	void *address;
	size_t pitch, width, height;
};

struct extent {
	size_t width, height, depth;
};

int hipMalloc3D(struct pitched *out, struct extent extent)
{
	if (!out)
		return leave(INVALID);
	out->width = extent.width;
	out->height = extent.height;
	return hipMallocPitch(&out->address, &out->pitch, extent.width,
			      extent.height * extent.depth);
}

int hipMallocManaged(void **out, size_t bytes, unsigned flags)
{
	return leave(take(out, bytes, current, DEVICE));
}

int hipHostMalloc(void **out, size_t bytes, unsigned flags)
{
	return leave(take(out, bytes, current, HOST));
}

int hipHostAlloc(void **out, size_t bytes, unsigned flags)
{
	return hipHostMalloc(out, bytes, flags);
}

int hipExtHostAlloc(void **out, size_t bytes, unsigned flags)
{
	return hipHostMalloc(out, bytes, flags);
}

int hipMallocHost(void **out, size_t bytes)
{
	return hipHostMalloc(out, bytes, 0);
}

int hipMemAllocHost(void **out, size_t bytes)
{
	return hipHostMalloc(out, bytes, 0);
}

int hipHostFree(void *address)
{
	return leave(give(address, HOST));
}

int hipFreeHost(void *address)
{
	return hipHostFree(address);
}

int hipHostRegister(void *address, size_t bytes, unsigned flags)
{
	if (!address)
		return leave(INVALID);
	pthread_mutex_lock(&mutex);
	add(address, bytes, current, REGISTERED);
	pthread_mutex_unlock(&mutex);
	return leave(OK);
}

int hipHostUnregister(void *address)
{
	return leave(give(address, REGISTERED));
}

int hipMallocFromPoolAsync(void **out, size_t bytes, void *pool, void *stream)
{
	return leave(take(out, bytes, current, DEVICE));
}

int hipMallocAsync(void **out, size_t bytes, void *stream)
{
	return hipMallocFromPoolAsync(out, bytes, NULL, stream);
}

/* A variant that nobody knows. */
int hipMallocAsync_spt(void **out, size_t bytes, void *stream)
{
	return leave(take(out, bytes, current, DEVICE));
}

int hipFreeAsync(void *address, void *stream)
{
	return leave(give(address, DEVICE));
}

/* ---- handles ---------------------------------------------------------------
 */

int hipMemCreate(void **out, size_t bytes, const int *prop,
		 unsigned long long flags)
{
	return leave(take(out, bytes, prop[3], HANDLE));
}

static int unref(void *handle, int change)
{
	struct block *block;

	pthread_mutex_lock(&mutex);
	block = find(handle, HANDLE);
	if (block && !(block->refs += change))
		end(block);
	pthread_mutex_unlock(&mutex);
	return block ? OK : INVALID;
}

int hipMemRelease(void *handle)
{
	return leave(unref(handle, -1));
}

/* One mapping of a range, which is where its handle is. */
int hipMemAddressReserve(void **out, size_t bytes, size_t alignment,
			 void *wanted, unsigned long long flags)
{
	*out = calloc(1, 4096);
	return leave(OK);
}

int hipMemAddressFree(void *address, size_t bytes)
{
	free(address);
	return leave(OK);
}

int hipMemMap(void *address, size_t bytes, size_t offset, void *handle,
	      unsigned long long flags)
{
	*(void **)address = handle;
	return leave(unref(handle, 1));
}

int hipMemUnmap(void *address, size_t bytes)
{
	return leave(unref(*(void **)address, -1));
}

int hipMemRetainAllocationHandle(void **out, void *address)
{
	*out = *(void **)address;
	return leave(unref(*out, 1));
}

/* ---- the ways to it --------------------------------------------------------
 */

/* As AMD's does it: a variant for the default stream of each thread, if there
 * is one. */
static int look_up(const char *symbol, void **out, int threads)
{
	void *own = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD);
	char name[128];

	if (!symbol || !out)
		return leave(INVALID);
	snprintf(name, sizeof(name), "%s_spt", symbol);
	*out = threads ? dlsym(own, name) : NULL;
	if (!*out)
		*out = dlsym(own, symbol);
	return leave(*out ? OK : NOT_FOUND);
}

int hipGetProcAddress(const char *symbol, void **out, int version,
		      uint64_t flags, int *status)
{
	return look_up(symbol, out, flags == 2);
}

int hipGetProcAddress_spt(const char *symbol, void **out, int version,
			  uint64_t flags, int *status)
{
	return look_up(symbol, out, 1);
}

int hipGetDriverEntryPoint(const char *symbol, void **out,
			   unsigned long long flags, int *status)
{
	return look_up(symbol, out, flags == 2);
}

int hipGetDriverEntryPoint_spt(const char *symbol, void **out,
			       unsigned long long flags, int *status)
{
	return look_up(symbol, out, 1);
}
