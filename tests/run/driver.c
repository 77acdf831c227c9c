/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A program that knows nothing of gpumem, for tests/tool_run.sh. It uses
 *NVIDIA's driver and nothing else, reached in the way that its first argument
 *names:
 *
 *	link      its symbols, with which the program was linked
 *	handle    dlopen() and dlsym()
 *	default   dlopen() for all and dlsym(RTLD_DEFAULT)
 *	get, get1 cuGetProcAddress() of either ABI, as the CUDA runtime does
 *
 * Its second says what it does; what it prints depends on neither gpumem nor
 * addresses.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned long long address;

static void *library, *global;
static const char *way;
static int flags;

#ifdef LINKED
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void **, int);
int cuDevicePrimaryCtxReset_v2(int);
int cuCtxSetCurrent(void *);
int cuCtxCreate_v2(void **, unsigned, int);
int cuCtxDestroy_v2(void *);
int cuMemAlloc_v2(address *, size_t);
int cuMemFree_v2(address);
int cuMemAllocPitch_v2(address *, size_t *, size_t, size_t, unsigned);
int cuMemAllocManaged(address *, size_t, unsigned);
int cuMemAllocHost_v2(void **, size_t);
int cuMemHostAlloc(void **, size_t, unsigned);
int cuMemFreeHost(void *);
int cuMemHostRegister_v2(void *, size_t, unsigned);
int cuMemHostUnregister(void *);
int cuMemAllocAsync(address *, size_t, void *);
int cuMemFreeAsync(address, void *);
int cuMemCreate(address *, size_t, const void *, unsigned long long);
int cuMemRelease(address);
int cuMemAddressReserve(address *, size_t, size_t, address, unsigned long long);
int cuMemMap(address, size_t, size_t, address, unsigned long long);
int cuMemUnmap(address, size_t);
int cuArrayCreate_v2(void **, const void *);
int cuArray3DCreate_v2(void **, const void *);
int cuArrayDestroy(void *);
int cuMipmappedArrayCreate(void **, const void *, unsigned);
int cuMipmappedArrayDestroy(void *);

static const struct {
	const char *name;
	void *function;
} linked[] = {
#define LINK(name) {#name, (void *)name},
	LINK(cuInit) LINK(cuDevicePrimaryCtxRetain) LINK(cuCtxSetCurrent) LINK(
		cuDevicePrimaryCtxReset_v2) LINK(cuCtxCreate_v2)
		LINK(cuCtxDestroy_v2) LINK(cuMemAlloc_v2) LINK(
			cuMemFree_v2) LINK(cuMemAllocPitch_v2)
			LINK(cuMemAllocManaged) LINK(cuMemAllocHost_v2) LINK(
				cuMemHostAlloc) LINK(cuMemFreeHost)
				LINK(cuMemHostRegister_v2) LINK(
					cuMemHostUnregister)
					LINK(cuMemAllocAsync) LINK(
						cuMemFreeAsync) LINK(cuMemCreate)
						LINK(cuMemRelease) LINK(
							cuMemAddressReserve)
							LINK(cuMemMap) LINK(
								cuMemUnmap)
	LINK(cuArrayCreate_v2) LINK(cuArray3DCreate_v2) LINK(cuArrayDestroy)
		LINK(cuMipmappedArrayCreate) LINK(cuMipmappedArrayDestroy)};
#endif

static void *find(const char *name)
{
	void *found = NULL;

#ifdef LINKED
	for (size_t i = 0; i < sizeof(linked) / sizeof(*linked); i++)
		if (!strcmp(linked[i].name, name))
			found = linked[i].function;
#else
	char base[64];
	size_t length = strlen(name);
	void *get = dlsym(library, "cuGetProcAddress_v2");
	void *get1 = dlsym(library, "cuGetProcAddress");

	snprintf(base, sizeof(base), "%s", name);
	if (length > 3 && !strcmp(name + length - 3, "_v2"))
		base[length - 3] = 0;
	if (!strcmp(way, "get"))
		((int (*)(const char *, void **, int, unsigned long long,
			  int *))get)(base, &found, 13000, flags, NULL);
	else if (!strcmp(way, "get1"))
		((int (*)(const char *, void **, int, unsigned long long))get1)(
			base, &found, 11030, flags);
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

#define CALL(name, types, ...)                                                 \
	report(#name, ((int(*) types)find(#name))__VA_ARGS__)

static void report(const char *name, int result)
{
	if (result)
		printf("%s: %d\n", name, result);
}

/* ---- what it does
 * ------------------------------------------------------------
 */

static address alloc(size_t bytes)
{
	address block = 0;

	CALL(cuMemAlloc_v2, (address *, size_t), (&block, bytes));
	return block;
}

static void release(address block)
{
	CALL(cuMemFree_v2, (address), (block));
}

static void use_memory(void)
{
	address a = alloc(1 << 20), b = alloc(3 << 20), c = 0;
	size_t pitch;

	release(a);
	CALL(cuMemAllocPitch_v2,
	     (address *, size_t *, size_t, size_t, unsigned),
	     (&c, &pitch, 100, 8, 4));
	release(b);
	release(c);
	release(0);
	CALL(cuMemFree_v2, (address), (12345));
	CALL(cuMemAlloc_v2, (address *, size_t), (&a, (size_t)1 << 50));
}

static void use_host(void)
{
	static char own[8192] __attribute__((aligned(4096)));
	address managed = 0;
	void *a = NULL, *b = NULL;

	CALL(cuMemAllocHost_v2, (void **, size_t), (&a, 1000));
	CALL(cuMemHostAlloc, (void **, size_t, unsigned), (&b, 2000, 0));
	CALL(cuMemHostRegister_v2, (void *, size_t, unsigned), (own, 8192, 0));
	CALL(cuMemAllocManaged, (address *, size_t, unsigned),
	     (&managed, 5000, 1));
	CALL(cuMemFreeHost, (void *), (a));
	CALL(cuMemHostUnregister, (void *), (own));
	CALL(cuMemFreeHost, (void *), (b));
	release(managed);
}

static void use_async(void)
{
	address a = 0, b = 0;

	CALL(cuMemAllocAsync, (address *, size_t, void *), (&a, 4096, NULL));
	CALL(cuMemAllocAsync, (address *, size_t, void *), (&b, 8192, NULL));
	CALL(cuMemFreeAsync, (address, void *), (a, NULL));
	release(b);
}

/* A handle that is released while it is mapped, as llama.cpp does. */
static void use_virtual(void)
{
	struct {
		int type, handles, location, id;
		void *windows;
		unsigned char flags[16];
	} prop = {1, 0, 1, 0, NULL, {0}};
	address handle = 0, range = 0;
	size_t bytes = 2 << 20;

	CALL(cuMemCreate, (address *, size_t, const void *, unsigned long long),
	     (&handle, bytes, &prop, 0));
	CALL(cuMemAddressReserve,
	     (address *, size_t, size_t, address, unsigned long long),
	     (&range, bytes, 0, 0, 0));
	CALL(cuMemMap, (address, size_t, size_t, address, unsigned long long),
	     (range, bytes, 0, handle, 0));
	CALL(cuMemRelease, (address), (handle));
	CALL(cuMemUnmap, (address, size_t), (range, bytes));
}

/* 1000, 2000 and 3000 bytes at once. */
static void use_arrays(void)
{
	const struct {
		size_t width, height;
		unsigned format, channels;
	} flat = {1000, 0, 1, 1};
	struct {
		size_t width, height, depth;
		unsigned format, channels, flags;
	} about = {100, 20, 0, 1, 1, 0};
	void *a = NULL, *b = NULL, *c = NULL;

	CALL(cuArrayCreate_v2, (void **, const void *), (&a, &flat));
	CALL(cuArray3DCreate_v2, (void **, const void *), (&b, &about));
	about.height = 30;
	CALL(cuMipmappedArrayCreate, (void **, const void *, unsigned),
	     (&c, &about, 1));
	CALL(cuArrayDestroy, (void *), (a));
	CALL(cuArrayDestroy, (void *), (b));
	CALL(cuMipmappedArrayDestroy, (void *), (c));
}

static void begin(void)
{
	void *context;

	CALL(cuInit, (unsigned), (0));
	CALL(cuDevicePrimaryCtxRetain, (void **, int), (&context, 0));
	CALL(cuCtxSetCurrent, (void *), (context));
}

/* What a context had goes with it. */
static void end_contexts(void)
{
	void *context;

	CALL(cuCtxCreate_v2, (void **, unsigned, int), (&context, 0, 0));
	alloc(1 << 20);
	CALL(cuCtxDestroy_v2, (void *), (context));
	begin();
	alloc(2 << 20);
	CALL(cuDevicePrimaryCtxReset_v2, (int), (0));
}

/* A child that uses a GPU of its own accord, before the parent does. */
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

static void fork_last(void)
{
	address block;
	int status;

	begin();
	block = alloc(4 << 20);
	if (!fork())
		exit(((int (*)(address *, size_t))find("cuMemAlloc_v2"))(&block,
									 100));
	wait(&status);
	release(block);
	printf("child %d\n", WEXITSTATUS(status));
}

/* A child exits as it should, and its parent does not. */
static void fork_kill(void)
{
	int status;

	begin();
	alloc(4 << 20);
	if (!fork())
		exit(0);
	wait(&status);
	raise(SIGKILL);
}

static void run(const char *what)
{
	if (!strcmp(what, "fork_first")) {
		fork_first();
		return;
	}
	if (!strcmp(what, "fork_last")) {
		fork_last();
		return;
	}
	if (!strcmp(what, "fork_kill")) {
		fork_kill();
		return;
	}
	begin();
	if (!strcmp(what, "all")) {
		use_memory();
		use_host();
		use_async();
		use_virtual();
		use_arrays();
	} else if (!strcmp(what, "contexts")) {
		end_contexts();
	} else if (!strcmp(what, "leave")) {
		alloc(6 << 20);
	} else if (!strcmp(what, "quit")) {
		alloc(6 << 20);
		fflush(stdout);
		_exit(5);
	} else if (!strcmp(what, "crash")) {
		alloc(6 << 20);
		fflush(stdout);
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
	} else if (!strcmp(what, "kill")) {
		alloc(6 << 20);
		fflush(stdout);
		raise(SIGKILL);
	}
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	way = argv[1];
	flags = argc > 3 ? atoi(argv[3]) : 0;
#ifndef LINKED
	library = dlopen("libcuda.so.1", !strcmp(way, "default")
						 ? RTLD_NOW | RTLD_GLOBAL
						 : RTLD_NOW);
	global = dlopen(NULL, RTLD_NOW);
	if (!library) {
		printf("no driver\n");
		return 4;
	}
#endif
	(void)global;
	run(argv[2]);
	puts("done"); /* which tests/run/next.c wraps */
	return 0;
}
