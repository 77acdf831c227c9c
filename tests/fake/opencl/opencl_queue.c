/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Of the OpenCL layer: how often a thread put a command into a queue while
 * another thread did so. OpenCL allows it, and not every implementation bears
 * it. All of it under the mutex.
 */
#include "opencl_layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define INSIDE_MAX 64

static cl_command_queue inside[INSIDE_MAX];
static size_t inside_count;
static unsigned long long crossed;

void layer_into(cl_command_queue queue)
{
	const struct timespec moment = {.tv_nsec = 1000};

	if (!getenv("FAKECL_CROSSED"))
		return;
	fake_lock();
	for (size_t i = 0; i < inside_count; i++)
		crossed += inside[i] == queue;
	if (inside_count == INSIDE_MAX)
		abort();
	inside[inside_count++] = queue;
	fake_unlock();
	nanosleep(&moment, NULL);
}

void layer_out_of(cl_command_queue queue)
{
	size_t i = 0;

	if (!getenv("FAKECL_CROSSED"))
		return;
	fake_lock();
	while (inside[i] != queue)
		i++;
	inside[i] = inside[--inside_count];
	fake_unlock();
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAKECL_CROSSED");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "%llu\n", crossed);
	fclose(file);
}
