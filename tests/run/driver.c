/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A program that knows nothing of gpumem, for tests/tool_run.sh. It uses
 * NVIDIA's driver and nothing else, reached in the way that its first argument
 * names (driver_ways.c):
 *
 *	link      its symbols, with which the program was linked
 *	handle    dlopen() and dlsym()
 *	default   dlopen() for all and dlsym(RTLD_DEFAULT)
 *	get, get1 cuGetProcAddress() of either ABI, as the CUDA runtime does
 *
 * Its second says what it does; what it prints depends on neither gpumem nor
 * addresses. A third is the flags for cuGetProcAddress(). Here are its
 * contexts, its children and its end; memory is in driver_memory.c.
 */
#include "driver.h"
#include "cases.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* ---- how it ends -----------------------------------------------------------
 */

static void leave(void)
{
	alloc(6 << 20);
	fflush(stdout);
}

static void quit(void)
{
	leave();
	_exit(5);
}

static void crash(void)
{
	leave();
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
}

static void killed(void)
{
	leave();
	raise(SIGKILL);
}

/* Those in which a child, or the parent, begins of its own accord. */
static const struct run_case children[] = {{"fork_first", fork_first},
					   {"fork_last", fork_last},
					   {"fork_kill", fork_kill}};
static const struct run_case cases[] = {
	{"all", use_all}, {"contexts", end_contexts}, {"leave", leave},
	{"quit", quit},	  {"crash", crash},	      {"kill", killed}};

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (!open_driver(argv[1], argc > 3 ? atoi(argv[3]) : 0)) {
		printf("no driver\n");
		return 4;
	}
	if (!RUN_CASE(children, argv[2])) {
		begin();
		if (!RUN_CASE(cases, argv[2]))
			return 2;
	}
	puts("done"); /* which tests/run/next.c wraps */
	return 0;
}
