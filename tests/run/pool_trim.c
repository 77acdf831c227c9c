/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A program that asks for what is kept of it to go back to the driver.
 */
#define _GNU_SOURCE
#include "pool_cases.h"

#include <dlfcn.h>
#include <pthread.h>

typedef uint64_t trim_function(void);

static uint64_t trim(void)
{
	trim_function *function;

	*(void **)&function = dlsym(RTLD_DEFAULT, "gpumem_run_trim");
	TRUE(function);
	return function();
}

/* Of every device; what lives stays. */
void trim_all(void)
{
	address live = alloc(MIB), kept = alloc(8 * MIB);
	uint64_t frees = driver_frees();

	TRUE(trim() == 0);
	release(kept);
	enter(context_new(1));
	kept = alloc(2 * MIB);
	release(kept);
	TRUE(driver_frees() == frees);
	TRUE(trim() == 10 * MIB);
	TRUE(driver_frees() == frees + 2);
	TRUE(trim() == 0);
	stays(live);
}

/* By a thread without a context, while work uses what was freed. */
static void *without_context(void *bytes)
{
	*(uint64_t *)bytes = trim();
	return NULL;
}

void trim_elsewhere(void)
{
	uint64_t bytes = 0;
	pthread_t thread;
	address kept = alloc(8 * MIB);

	release(kept);
	TRUE(!pthread_create(&thread, NULL, without_context, &bytes));
	TRUE(!pthread_join(thread, NULL));
	TRUE(bytes == 8 * MIB);
	/* The pool goes on. */
	kept = alloc(8 * MIB);
	stays(kept);
	TRUE(alloc(8 * MIB) == kept);
}

/* A capture of the program's goes on. */
void trim_in_capture(void)
{
	void *stream = stream_new(NON_BLOCKING), *graph;
	address kept = alloc(8 * MIB);

	release(kept);
	OK(cu.cuStreamBeginCapture_v2(stream, 0));
	TRUE(trim() == 8 * MIB);
	OK(cu.cuStreamEndCapture(stream, &graph));
	OK(cu.cuGraphDestroy(graph));
}
