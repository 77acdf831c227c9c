/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* How long allocations waited for the device, in a recording: in need, and
 * without virtual memory before more is reserved than ever. */
#include "record.h"

static gpumem_stream stream;

static size_t waits(const struct recording *recording)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->count; i++)
		count += recording->event[i].kind == GPUMEM_RECORD_WAIT;
	return count;
}

static void nothing(void *arg)
{
	(void)arg;
}

/* A block of the pool is freed with work behind it, and one of so many bytes is
 * wanted. */
static void one(uint64_t limit, size_t bytes, size_t count, const char *what)
{
	gpumem_pool *pool = new_pool(limit);
	struct recording recording;
	void *live, *freed, *ptr;

	begin();
	live = new_block(pool, 40 * MIB, stream);
	freed = new_block(pool, 20 * MIB, stream);
	must(gpumem_host_launch(0, stream, nothing, NULL));
	must(gpumem_free(freed, stream));
	ptr = new_block(pool, bytes, stream);
	must(gpumem_free(ptr, stream));
	must(gpumem_free(live, stream));
	recording = end();
	whole(&recording, what);
	is_uint(waits(&recording), count, "%s: %zu waits", what, count);
	rec_free(&recording);
	must(gpumem_pool_destroy(pool, 0));
}

int main(void)
{
	alarm(60);
	folder_make();
	device_start("1GiB", false);
	stream = new_stream();
	must(gpumem_host_hold(0, stream, true));
	one(0, 50 * MIB, 1, "before more is reserved than ever");
	one(0, 20 * MIB, 0, "where what is free will do");
	option("segment_wait_ms", "0");
	one(0, 50 * MIB, 0, "where the pool does not wait for segments");
	one(100 * MIB, 50 * MIB, 1, "and in need");
	option("segment_wait_ms", NULL);
	must(gpumem_host_hold(0, stream, false));
	must(gpumem_stream_destroy(device, stream));
	device_end();
	folder_remove();
	return done_testing();
}
