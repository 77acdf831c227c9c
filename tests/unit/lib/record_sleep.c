/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What a recording has of a sleep and a wake, and that addresses lose their
 * memory and have it again. */
#include "record.h"

enum { BLOCK = 6 * MIB };

/* Of the number at that place. */
static uint64_t sum_of(const struct recording *recording, unsigned kind,
		       unsigned place)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < recording->count; i++)
		if (recording->event[i].kind == kind)
			bytes += recording->event[i].value[place];
	return bytes;
}

static size_t count_of(const struct recording *recording, unsigned kind)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->count; i++)
		count += recording->event[i].kind == kind;
	return count;
}

int main(void)
{
	struct recording recording;
	gpumem_pool *pool;
	void *ptr;

	alarm(60);
	folder_make();
	device_start("64MiB", true);
	pool = new_pool(0);
	begin();
	ptr = new_block(pool, BLOCK, NULL);
	must(gpumem_pool_sleep(pool, NULL, NULL));
	must(gpumem_pool_wake(pool, 0, NULL));
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_destroy(pool, 0));
	recording = end();
	whole(&recording, "a sleep and a wake");
	is_uint(count_of(&recording, GPUMEM_RECORD_SLEEP), 1, "one sleep");
	is_uint(sum_of(&recording, GPUMEM_RECORD_SLEEP, 0), BLOCK,
		"gave so much back");
	is_uint(count_of(&recording, GPUMEM_RECORD_WAKE), 1, "one wake");
	is_uint(sum_of(&recording, GPUMEM_RECORD_WAKE, 0), BLOCK, "took it");
	is_uint(sum_of(&recording, GPUMEM_RECORD_MAP, 1), 2 * BLOCK,
		"each page was mapped twice");
	ok(count_of(&recording, GPUMEM_RECORD_UNMAP) > 0, "and unmapped");
	rec_free(&recording);
	ok(device_end(), "all memory went back");
	folder_remove();
	return done_testing();
}
