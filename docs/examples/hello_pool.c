/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The first program: takes memory of a device, gives it back, and shows what a
 * pool keeps meanwhile.
 *
 *	cc hello_pool.c $(pkg-config --cflags --libs gpumem) && ./a.out
 *
 * Without a GPU, or with GPUMEM_BACKEND=host, the device is a simulated one.
 */
#include <gpumem/gpumem.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB (1u << 20)

static void must(gpumem_status status)
{
	if (status == GPUMEM_OK)
		return;
	fprintf(stderr, "%s\n", gpumem_error_text());
	exit(1);
}

static void show(gpumem_pool *pool, const char *when)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);

	must(gpumem_pool_stats(pool, &stats));
	printf("%-20s %3llu MiB requested, %3llu MiB reserved\n", when,
	       (unsigned long long)stats.requested.current / MIB,
	       (unsigned long long)stats.reserved.current / MIB);
}

int main(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	gpumem_device *device;
	gpumem_pool *pool;
	void *blocks[4];
	uint64_t released;

	must(gpumem_device_open(NULL, &device));
	must(gpumem_device_get_info(device, &info));
	must(gpumem_device_pool(device, &pool));
	printf("%s: %s\n", info.name, info.product);

	/* NULL is the default stream; yours can be a CUstream or the like. */
	for (int i = 0; i < 4; i++)
		must(gpumem_alloc(pool, 16 * MIB, NULL, &blocks[i]));
	show(pool, "4 blocks of 16 MiB:");

	/* What is freed stays in the pool, for the next one who asks. */
	for (int i = 0; i < 4; i++)
		must(gpumem_free(blocks[i], NULL));
	show(pool, "freed:");

	/* Other programs have it only after a trim. */
	must(gpumem_pool_trim(pool, 0, &released));
	show(pool, "trimmed:");
	printf("%llu MiB went back to the driver\n",
	       (unsigned long long)released / MIB);
	must(gpumem_device_close(device));
	return 0;
}
