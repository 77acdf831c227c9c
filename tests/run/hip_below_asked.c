/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the runtime hip_below says that graphs have (hip_below_graph.c), and
 * what may happen meanwhile. With BELOW_DEAF in the environment it does not say
 * it; with BELOW_CALLS_BACK a thread of its own calls a function before it has
 * said so, which with the value "trim" changes it. One thread at a time, so no
 * lock.
 */
#include "hip_below_graph.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RESERVED_NOW = 2 };

static unsigned long asked;

int hipMemGetInfo(size_t *free_out, size_t *total_out);
int hipDeviceGraphMemTrim(int device);

/* As a thread of the runtime's own does it, for which the caller waits. */
static void *call_back(void *what)
{
	size_t free_bytes, total_bytes;

	if (!strcmp(what, "trim"))
		(void)hipDeviceGraphMemTrim(0);
	else
		(void)hipMemGetInfo(&free_bytes, &total_bytes);
	return NULL;
}

static void let_call_back(void)
{
	static int calling;
	char *what = getenv("BELOW_CALLS_BACK");
	pthread_t thread;

	if (calling || !what)
		return;
	calling = 1;
	pthread_create(&thread, NULL, call_back, what);
	pthread_join(thread, NULL);
	calling = 0;
}

int hipDeviceGetGraphMemAttribute(int device, int which, uint64_t *out)
{
	asked++;
	if (getenv("BELOW_DEAF") || which != RESERVED_NOW)
		return leave(INVALID);
	*out = reserved(device);
	let_call_back();
	return leave(OK);
}

unsigned long below_asked(void)
{
	return asked;
}
