/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 *	own_pool DEVICE
 *
 * A program with a pool of gpumem's has 2 MiB in use and 64 unused, prints its
 * number, and waits until the latter are gone: 0; 1: they stay, or something
 * failed.
 */
#include <gpumem/gpumem.h>

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static uint64_t reserved(gpumem_pool *pool)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);

	return gpumem_pool_stats(pool, &stats) ? UINT64_MAX
					       : stats.reserved.current;
}

int main(int argc, char **argv)
{
	const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
	gpumem_device *device;
	gpumem_pool *pool;
	void *live, *unused;

	if (argc != 2 || gpumem_device_open(argv[1], &device) ||
	    gpumem_device_pool(device, &pool) ||
	    gpumem_alloc(pool, 2 * MIB, NULL, &live) ||
	    gpumem_alloc(pool, 64 * MIB, NULL, &unused) ||
	    gpumem_free(unused, NULL) || gpumem_stream_sync(device, NULL)) {
		fprintf(stderr, "own_pool: %s\n", gpumem_error_text());
		return 1;
	}
	printf("%ld\n", (long)getpid());
	fflush(stdout);
	for (int i = 0; reserved(pool) != 2 * MIB; i++) {
		if (i == 3000)
			return 1;
		(void)nanosleep(&pause, NULL);
	}
	return gpumem_free(live, NULL) || gpumem_device_close(device);
}
