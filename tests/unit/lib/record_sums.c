/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a whole recording of one thread says: sums and peaks are those of the
 * statistics; pools come and go; a file that is full keeps the newest; blocks
 * of 4 GiB and more.
 */
#include "record.h"

enum { LIVE = 300, STEPS = 20000 };

static size_t any_bytes(void)
{
	return one_in(10) ? 1 + random_below(4 * MIB)
			  : 1 + random_below(one_in(3) ? 64 * KIB : 2000);
}

static void churn(gpumem_pool *pool, void **ptr, unsigned steps)
{
	for (unsigned i = 0; i < steps; i++) {
		void **one = &ptr[random_below(LIVE)];

		if (*one)
			must(gpumem_free(*one, NULL));
		*one = one_in(3) ? NULL : new_block(pool, any_bytes(), NULL);
		if (*one && one_in(20))
			(void)GPUMEM_IGNORE(
				gpumem_resize(*one, any_bytes(), NULL, NULL));
		if (one_in(2000))
			trim(pool);
	}
}

static void test_sums(void)
{
	gpumem_pool *pool = new_pool(0);
	void *ptr[LIVE] = {NULL};
	struct recording recording;
	struct gpumem_stats stats;

	random_seed(17);
	churn(pool, ptr, STEPS / 10);
	must(gpumem_pool_reset_stats(pool, 0));
	begin();
	churn(pool, ptr, STEPS);
	stats = stats_of(pool);
	recording = end();
	whole(&recording, "a random program");
	is_uint(recording.peak_bytes, stats.requested.peak, "its peak");
	is_uint(recording.live_bytes, stats.requested.current, "live");
	is_uint(recording.live, stats.blocks.current, "blocks");
	is_uint(recording.reserved_bytes, stats.reserved.current, "reserved");
	rec_free(&recording);
	churn(pool, ptr, STEPS / 10);
	rec_read(path, &recording);
	rec_judge(&recording);
	is_uint(recording.live_bytes, stats.requested.current,
		"what comes after the end is not in it");
	rec_free(&recording);
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

/* ---- pools, and what is no block ---- */

static size_t count_of(const struct recording *recording, uint8_t kind)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->count; i++)
		count += recording->event[i].kind == kind;
	return count;
}

static void test_pools(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *old = new_pool(0), *pool;
	gpumem_stream stream = new_stream();
	const struct gpumem_record_definition *one;
	struct recording recording;
	void *ptr;

	config.name = "of the test";
	config.limit_bytes = 8 * MIB;
	begin();
	must(gpumem_pool_create(device, &config, &pool));
	ptr = new_block(pool, 6 * MIB, stream);
	is_status(gpumem_alloc(pool, 6 * MIB, NULL, &ptr), GPUMEM_LIMIT,
		  "too much");
	must(gpumem_pool_drop_stream(pool, stream));
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	recording = end();
	is_uint(count_of(&recording, GPUMEM_RECORD_POOL), 2, "two pools");
	is_uint(count_of(&recording, GPUMEM_RECORD_POOL_END), 1, "one ends");
	is_uint(count_of(&recording, GPUMEM_RECORD_OOM), 1, "one failure");
	is_uint(count_of(&recording, GPUMEM_RECORD_DROP), 1, "a stream goes");
	for (size_t i = 0; i < recording.count; i++)
		if (recording.event[i].kind == GPUMEM_RECORD_OOM)
			ok(recording.event[i].values == 4 &&
				   recording.event[i].value[0] == 6 * MIB &&
				   (int64_t)recording.event[i].value[1] ==
					   GPUMEM_LIMIT &&
				   recording.event[i].value[2] <= 8 * MIB &&
				   recording.event[i].value[3] ==
					   GPUMEM_ADVICE_LIMIT &&
				   recording.event[i].pool == 2,
			   "which says how much, and why");
	one = rec_definition(&recording, GPUMEM_RECORD_DEFINITION_POOL, 2);
	ok(one && !strcmp((const char *)(one + 1), "of the test") &&
		   !strcmp((const char *)(one + 1) + 12, "host:0"),
	   "the pool has its name and device");
	is_str(recording.header.library, GPUMEM_VERSION_STRING, "the library");
	is_uint(recording.header.pid, (uint64_t)getpid(), "the process");
	rec_free(&recording);
	must(gpumem_pool_destroy(old, 0));
	must(gpumem_stream_destroy(device, stream));
}

/* ---- a full file ---- */

static void test_full(void)
{
	gpumem_pool *pool = new_pool(0);
	struct recording recording;
	struct stat about;
	void *last = NULL;

	must(gpumem_record_begin(path, MIB));
	for (unsigned i = 0; i < 200000; i++) {
		last = new_block(pool, 256 + i % 7, NULL);
		must(gpumem_free(last, NULL));
	}
	last = new_block(pool, 777, NULL);
	recording = end();
	ok(!stat(path, &about) && about.st_size <= (off_t)MIB,
	   "the file has its size");
	ok(recording.header.overwritten_events > 50000 &&
		   !recording.header.lost_events && !recording.bad &&
		   !recording.twice && recording.unknown <= 1 &&
		   recording.count > 40000,
	   "the oldest went: %llu, %zu are left",
	   (ull)recording.header.overwritten_events, recording.count);
	ok(recording.count &&
		   recording.event[recording.count - 1].address ==
			   (uintptr_t)last &&
		   recording.event[recording.count - 1].bytes == 777,
	   "the newest is there");
	rec_free(&recording);
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

/* Blocks of 4 GiB and more, which have an event more. */
static void test_huge(void)
{
	gpumem_pool *pool;
	struct recording recording;
	void *ptr[2];

	device_start("64GiB", true);
	pool = new_pool(0);
	ptr[0] = new_block(pool, ((size_t)4 << 30) - 1, NULL);
	begin();
	ptr[1] = new_block(pool, ((size_t)5 << 30) + 3, NULL);
	must(gpumem_free(ptr[0], NULL));
	must(gpumem_free(ptr[1], NULL));
	recording = end();
	whole(&recording, "huge blocks");
	is_uint(recording.peak_bytes,
		((size_t)4 << 30) - 1 + ((size_t)5 << 30) + 3, "their sizes");
	rec_free(&recording);
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "all given back");
}

int main(void)
{
	folder_make();
	device_start("1GiB", true);
	test_sums();
	test_pools();
	test_full();
	ok(device_end(), "all given back");
	device_start("1GiB", false);
	test_sums();
	ok(device_end(), "all given back");
	test_huge();
	folder_remove();
	return done_testing();
}
