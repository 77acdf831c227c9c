/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A program that knows nothing of gpumem, for tests/tool_run_hip.sh. It uses
 * AMD's runtime, reached in the way that its first argument names:
 *
 *	link      its symbols, with which the program was linked
 *	handle    dlopen() and dlsym()
 *	default   dlopen() for all and dlsym(RTLD_DEFAULT)
 *	get       hipGetProcAddress(); get_spt: the one of threads' streams
 *	entry     hipGetDriverEntryPoint(); entry_spt
 *	absent    not at all: whether there is one
 *
 * Its second says what it does; what it prints depends on neither gpumem nor
 * addresses. A third is the number of the runtime's release.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *library;
static int (*last_error)(void);
static const char *way;
static uint64_t flags;

struct pitched {
	void *address;
	size_t pitch, width, height;
};

struct extent {
	size_t width, height, depth;
};

#define NAMES(X)                                                                  \
	X(hipInit)                                                                \
	X(hipSetDevice)                                                           \
	X(hipGetLastError) X(hipMemGetInfo) X(hipDeviceReset) X(hipMalloc) X(     \
		hipExtMallocWithFlags) X(hipMallocPitch) X(hipMemAllocPitch)      \
		X(hipMalloc3D) X(hipMallocManaged) X(hipFree) X(                  \
			hipHostMalloc) X(hipHostAlloc) X(hipExtHostAlloc)         \
			X(hipMallocHost) X(hipMemAllocHost) X(hipHostFree) X(     \
				hipFreeHost) X(hipHostRegister)                   \
				X(hipHostUnregister) X(hipMallocAsync) X(         \
					hipMallocFromPoolAsync) X(hipFreeAsync)   \
					X(hipMemCreate) X(hipMemRelease) X(       \
						hipMemAddressReserve)             \
						X(hipMemAddressFree) X(           \
							hipMemMap) X(hipMemUnmap) \
							X(hipMemRetainAllocationHandle)

#ifdef LINKED
#define DECLARE(name) int name();
NAMES(DECLARE)
static const struct {
	const char *name;
	void *function;
} linked[] = {
#define LINK(name) {#name, (void *)name},
	NAMES(LINK)};
#endif

static void *find(const char *name)
{
	void *found = NULL;

#ifdef LINKED
	for (size_t i = 0; i < sizeof(linked) / sizeof(*linked); i++)
		if (!strcmp(linked[i].name, name))
			found = linked[i].function;
#else
	if (!strncmp(way, "get", 3))
		((int (*)(const char *, void **, int, uint64_t, int *))dlsym(
			library, way[3] ? "hipGetProcAddress_spt"
					: "hipGetProcAddress"))(
			name, &found, 60443484, flags, NULL);
	else if (!strncmp(way, "entry", 5))
		((int (*)(const char *, void **, unsigned long long, int *))
			 dlsym(library, way[5] ? "hipGetDriverEntryPoint_spt"
					       : "hipGetDriverEntryPoint"))(
			name, &found, flags, NULL);
	else
		found = dlsym(!strcmp(way, "default") ? RTLD_DEFAULT : library,
			      name);
#endif
	if (!found) {
		printf("%s is not there\n", name);
		exit(3);
	}
	return found;
}

/* Each call is followed by what the runtime says of it. */
#define CALL(name, types, ...)                                                 \
	report(#name, ((int(*) types)find(#name))__VA_ARGS__)

static int report(const char *name, int result)
{
	int last = last_error();

	if (result || last)
		printf("%s: %d, last %d\n", name, result, last);
	return result;
}

/* ---- what it does ----------------------------------------------------------
 */

static void *alloc(size_t bytes)
{
	void *block = NULL;

	CALL(hipMalloc, (void **, size_t), (&block, bytes));
	return block;
}

static void release(void *block)
{
	CALL(hipFree, (void *), (block));
}

/* 5000 bytes, and rows of a multiple of 256: 2048 + 1024 + 1536. */
static void make_rows(void *blocks_out[4])
{
	struct pitched rows = {NULL};
	size_t pitch;

	CALL(hipExtMallocWithFlags, (void **, size_t, unsigned),
	     (&blocks_out[0], 5000, 1));
	CALL(hipMallocPitch, (void **, size_t *, size_t, size_t),
	     (&blocks_out[1], &pitch, 100, 8));
	CALL(hipMemAllocPitch, (void **, size_t *, size_t, size_t, unsigned),
	     (&blocks_out[2], &pitch, 300, 2, 4));
	CALL(hipMalloc3D, (struct pitched *, struct extent),
	     (&rows, (struct extent){100, 3, 2}));
	blocks_out[3] = rows.address;
}

static void use_rows(void)
{
	void *blocks[4];

	make_rows(blocks);
}

static void use_memory(void)
{
	void *a = alloc(1 << 20), *b = alloc(3 << 20), *rows[4];

	release(a);
	release(b);
	make_rows(rows);
	for (int i = 0; i < 4; i++)
		release(rows[i]);
	release(NULL);
	CALL(hipFree, (void *), ((void *)12345));
	CALL(hipMalloc, (void **, size_t), (&a, (size_t)1 << 50));
	CALL(hipMalloc, (void **, size_t), (&a, 0));
	CALL(hipMalloc, (void **, size_t), (NULL, 100));
}

static void use_host(void)
{
	static char own[8192] __attribute__((aligned(4096)));
	void *a, *b, *c, *d, *e, *managed;

	CALL(hipHostMalloc, (void **, size_t, unsigned), (&a, 1000, 0));
	CALL(hipHostAlloc, (void **, size_t, unsigned), (&b, 2000, 0));
	CALL(hipExtHostAlloc, (void **, size_t, unsigned), (&c, 4000, 0));
	CALL(hipMallocHost, (void **, size_t), (&d, 8000));
	CALL(hipMemAllocHost, (void **, size_t), (&e, 16000));
	CALL(hipHostRegister, (void *, size_t, unsigned), (own, 8192, 0));
	CALL(hipMallocManaged, (void **, size_t, unsigned),
	     (&managed, 5000, 1));
	CALL(hipHostFree, (void *), (a));
	CALL(hipFreeHost, (void *), (b));
	CALL(hipHostFree, (void *), (c));
	CALL(hipHostFree, (void *), (d));
	CALL(hipFree, (void *), (e));
	CALL(hipHostUnregister, (void *), (own));
	release(managed);
}

static void use_async(void)
{
	void *a = NULL, *b = NULL;

	CALL(hipMallocAsync, (void **, size_t, void *), (&a, 4096, NULL));
	CALL(hipMallocFromPoolAsync, (void **, size_t, void *, void *),
	     (&b, 8192, NULL, NULL));
	CALL(hipFreeAsync, (void *, void *), (a, NULL));
	release(b);
}

/* Numbers for streams: 0 and 1 are the legacy one, 2 is each thread's. */
static void use_streams(void)
{
	void *blocks[4],
		*streams[4] = {(void *)2, NULL, (void *)4096, (void *)1};

	for (size_t i = 0; i < 4; i++)
		CALL(hipMallocAsync, (void **, size_t, void *),
		     (&blocks[i], (i + 1) * 4096, streams[i]));
	for (size_t i = 0; i < 3; i++)
		CALL(hipFreeAsync, (void *, void *),
		     (blocks[i], streams[i + 1]));
	release(blocks[3]);
}

/* A handle that is released while it is mapped, and asked for once more: the
 * last release is its end. */
static void use_virtual(void)
{
	int prop[8] = {1, 0, 1, 0};
	void *handle = NULL, *again = NULL, *range = NULL;
	size_t bytes = 2 << 20;

	CALL(hipMemCreate, (void **, size_t, const int *, unsigned long long),
	     (&handle, bytes, prop, 0));
	CALL(hipMemAddressReserve,
	     (void **, size_t, size_t, void *, unsigned long long),
	     (&range, bytes, 0, NULL, 0));
	CALL(hipMemMap, (void *, size_t, size_t, void *, unsigned long long),
	     (range, bytes, 0, handle, 0));
	CALL(hipMemRetainAllocationHandle, (void **, void *), (&again, range));
	CALL(hipMemRelease, (void *), (handle));
	CALL(hipMemUnmap, (void *, size_t), (range, bytes));
	/* It is there as long as this is not: a sum that shows it. */
	release(alloc(1 << 20));
	CALL(hipMemRelease, (void *), (again));
	CALL(hipMemAddressFree, (void *, size_t), (range, bytes));
}

/* What AMD's runtime over NVIDIA's driver has, too. */
static void use_plain(void)
{
	void *a = alloc(1 << 20), *b = alloc(3 << 20), *host = NULL;
	void *managed = NULL;
	size_t free_bytes = 0, total_bytes = 0;

	CALL(hipHostMalloc, (void **, size_t, unsigned), (&host, 1000, 0));
	CALL(hipMallocManaged, (void **, size_t, unsigned),
	     (&managed, 5000, 1));
	CALL(hipMalloc, (void **, size_t), (&a, (size_t)1 << 50));
	CALL(hipMemGetInfo, (size_t *, size_t *), (&free_bytes, &total_bytes));
	printf("%zu of %zu\n", free_bytes >> 20, total_bytes >> 20);
	release(b);
	release(managed);
	CALL(hipHostFree, (void *), (host));
}

/* A reset leaves memory of the host, and handles. */
static void use_devices(void)
{
	int prop[8] = {1, 0, 1, 1};
	void *a, *b;

	a = alloc(1 << 20);
	CALL(hipSetDevice, (int), (1));
	alloc(2 << 20);
	alloc(4 << 20);
	CALL(hipHostMalloc, (void **, size_t, unsigned), (&b, 1000, 0));
	CALL(hipMemCreate, (void **, size_t, const int *, unsigned long long),
	     (&b, 1 << 20, prop, 0));
	release(a);
	CALL(hipDeviceReset, (void), ());
	CALL(hipSetDevice, (int), (0));
	alloc(8 << 20);
}

static void begin(void)
{
	CALL(hipInit, (unsigned), (0));
}

static void fork_first(void)
{
	int status;

	if (!fork()) {
		begin();
		alloc(1 << 20);
		exit(7);
	}
	wait(&status);
	begin();
	release(alloc(2 << 20));
	printf("child %d\n", WEXITSTATUS(status));
}

/* A child that has its parent's memory, as it thinks. */
static void fork_last(void)
{
	void *block;
	int status;

	begin();
	block = alloc(4 << 20);
	if (!fork())
		exit(((int (*)(void *))find("hipFree"))(block));
	wait(&status);
	release(block);
	printf("child %d\n", WEXITSTATUS(status));
}

/* NVIDIA's driver beside it. */
static void use_both(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
	unsigned long long block;

	if (!driver) {
		printf("no driver\n");
		exit(4);
	}
	((int (*)(unsigned))dlsym(driver, "cuInit"))(0);
	((int (*)(void **, int))dlsym(driver, "cuDevicePrimaryCtxRetain"))(
		&context, 0);
	((int (*)(void *))dlsym(driver, "cuCtxSetCurrent"))(context);
	((int (*)(unsigned long long *, size_t))dlsym(driver, "cuMemAlloc_v2"))(
		&block, 5 << 20);
	release(alloc(3 << 20));
	((int (*)(unsigned long long))dlsym(driver, "cuMemFree_v2"))(block);
}

static void end(const char *what)
{
	if (strcmp(what, "leave") && strcmp(what, "quit") &&
	    strcmp(what, "crash") && strcmp(what, "kill"))
		return;
	alloc(6 << 20);
	fflush(stdout);
	if (!strcmp(what, "quit"))
		_exit(5);
	if (!strcmp(what, "crash"))
		raise(SIGSEGV);
	if (!strcmp(what, "kill"))
		raise(SIGKILL);
}

static void run(const char *what)
{
	static const struct {
		const char *name;
		void (*does)(void);
	} cases[] = {{"memory", use_memory},  {"host", use_host},
		     {"async", use_async},    {"virtual", use_virtual},
		     {"plain", use_plain},    {"devices", use_devices},
		     {"both", use_both},      {"rows", use_rows},
		     {"streams", use_streams}};

	if (!strcmp(what, "fork_first")) {
		fork_first();
		return;
	}
	if (!strcmp(what, "fork_last")) {
		fork_last();
		return;
	}
	begin();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(what, cases[i].name) ||
		    (!strcmp(what, "all") && i < 4))
			cases[i].does();
	end(what);
}

int main(int argc, char **argv)
{
	char name[64];

	if (argc < 3)
		return 2;
	way = argv[1];
	if (!strcmp(way, "absent")) {
		printf("%s\n",
		       dlsym(RTLD_DEFAULT, "hipMalloc") ? "there" : "none");
		return 6;
	}
#ifndef LINKED
	snprintf(name, sizeof(name), "libamdhip64.so.%s",
		 argc > 3 ? argv[3] : "6");
	flags = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
	library = dlopen(name, !strcmp(way, "default") ? RTLD_NOW | RTLD_GLOBAL
						       : RTLD_NOW);
	if (!library) {
		printf("no runtime\n");
		return 4;
	}
#endif
	last_error = (int (*)(void))find("hipGetLastError");
	run(argv[2]);
	printf("done\n");
	return 0;
}
