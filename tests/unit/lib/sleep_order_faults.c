/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Each driver call fails while free memory of one fate in a sleep, on which
 * streams are at work, goes to a block of another: the pool is sound, what was
 * lent in vain is free again, and once nothing fails the block can be had.
 */
#include "sweep.h"
#include "sleep_held.h"

enum { BYTES = 8 * MIB };

static bool is_expected(gpumem_status status)
{
	return status == GPUMEM_DRIVER || status == GPUMEM_NO_MEMORY ||
	       status == GPUMEM_LIMIT || status == GPUMEM_BUSY ||
	       status == GPUMEM_LOST;
}

/* Free, of stream A and B, and pending: a block needs all three. */
static void make(void)
{
	void *mine = tagged_block(pool, BYTES, x, a);
	void *other = tagged_block(pool, BYTES, x, b);
	void *used = tagged_block(pool, BYTES, x, a);

	must(gpumem_fill(device, mine, OLD, BYTES, a));
	must(gpumem_fill(device, other, OLD, BYTES, b));
	must(gpumem_use_on(used, b));
	must(gpumem_fill(device, used, OLD, BYTES, b));
	must(gpumem_free(mine, a));
	must(gpumem_free(other, b));
	must(gpumem_free(used, a));
	must(gpumem_pool_set_limit(pool, reserved_of(pool)));
}

static gpumem_status take(void **ptr)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);

	options.tag = y;
	return gpumem_alloc_with(pool, 3 * BYTES, a, &options, ptr, NULL);
}

static void finish(void *ptr)
{
	const gpumem_stream streams[] = {a, b, c};

	must(gpumem_fill(device, ptr, NEW, 3 * BYTES, a));
	must(gpumem_stream_sync(device, a));
	must(gpumem_stream_sync(device, b));
	for (size_t i = 0; i < 3 * BYTES; i += KIB)
		want(((unsigned char *)ptr)[i] == NEW, "another content");
	must(gpumem_free(ptr, a));
	want(trim_all(pool, streams, 3) == 0, "something stays");
	for (int i = 0; i < 3; i++)
		must(gpumem_stream_destroy(device, streams[i]));
	must(gpumem_pool_destroy(pool, 0));
	if (!device_end())
		bail("the device keeps memory");
}

static void run(void)
{
	gpumem_status status;
	void *ptr = NULL;
	uint64_t trims;

	begin();
	make();
	trims = stats_of(pool).trims;
	faults_begin();
	status = take(&ptr);
	faults_end();
	want(!status || is_expected(status), gpumem_status_name(status));
	want(gpumem_pool_check(pool) == GPUMEM_OK, "not sound");
	if (sweep.lost) {
		must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
		must(gpumem_device_close(device));
		return;
	}
	want(sweep.fired || stats_of(pool).trims == trims, "it took a trim");
	if (status)
		want(!take(&ptr), "it cannot be had later");
	want(gpumem_pool_check(pool) == GPUMEM_OK, "not sound later");
	finish(ptr);
}

int main(void)
{
	alarm(600);
	option("page", "256KiB");
	option("host.page", "256KiB");
	sweep_scene("another fate's memory", run, 5);
	return done_testing();
}
