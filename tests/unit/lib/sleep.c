/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Sleep and wake: blocks come back at their addresses with what their tags say,
 * from pinned and ordinary memory and from a file; what is freed, allocated,
 * resized and exported meanwhile; several sleeps and wakes by tag.
 */
#include "sleep.h"

enum { PAGE = 256 * KIB };

static const size_t sizes[] = {1 * KIB,	 3 * KIB,  16 * KIB, 40 * KIB,
			       PAGE / 2, PAGE + 1, 5 * PAGE, 33 * PAGE};
enum { SIZES = sizeof(sizes) / sizeof(*sizes), ROUNDS = 9 };

static unsigned char *block[SIZES * ROUNDS];

static size_t size_of(size_t i)
{
	return sizes[i % SIZES];
}

static void make_blocks(gpumem_pool *pool, const uint32_t *tags, size_t count)
{
	for (size_t i = 0; i < SIZES * ROUNDS; i++) {
		block[i] = tagged_block(pool, size_of(i),
					count ? tags[i % count] : 0, NULL);
		mark_block(block[i], size_of(i), (uint32_t)i);
	}
}

static size_t wrong_blocks(void)
{
	size_t wrong = 0;

	for (size_t i = 0; i < SIZES * ROUNDS; i++)
		wrong += block[i] &&
			 !is_marked(block[i], size_of(i), (uint32_t)i);
	return wrong;
}

static void free_blocks(void)
{
	for (size_t i = 0; i < SIZES * ROUNDS; i++)
		if (block[i])
			must(gpumem_free(block[i], NULL));
}

static void lawful(gpumem_pool *pool, const char *when)
{
	struct gpumem_stats stats = stats_of(pool);
	const char *law = unlawful(&stats);

	sound(pool, "%s", when);
	ok(!law, "%s: %s", when, law ? law : "lawful");
}

static void begin(void)
{
	option("page", "256KiB");
	option("host.page", "256KiB");
	device_start("256MiB", true);
}

static void end(gpumem_pool *pool)
{
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "all memory went back");
}

static void test_all(const char *name, uint32_t flags, const char *folder)
{
	struct gpumem_stats stats, before;
	gpumem_pool *pool;
	uint64_t used;

	begin();
	pool = new_pool(0);
	make_blocks(pool, NULL, 0);
	before = stats_of(pool);
	for (int cycle = 0; cycle < 3; cycle++) {
		must(sleep_with(pool, 0, flags, folder));
		stats = stats_of(pool);
		is_uint(stats.reserved.current, 0, "%s: nothing is reserved",
			name);
		is_uint(stats.sleeping.current, before.allocated.current,
			"all that is live sleeps");
		is_uint(slept.kept_bytes, before.allocated.current,
			"only live bytes were copied");
		is_uint(gpumem_host_used_bytes(0), 0, "the driver has all");
		lawful(pool, "asleep");
		must(wake(pool, 0));
		is_uint(slept.kept_bytes, before.allocated.current,
			"all came back");
		is_uint(wrong_blocks(), 0, "as it was");
		is_uint(stats_of(pool).sleeping.current, 0, "nothing sleeps");
		lawful(pool, "awake");
		used = slept.host_bytes;
		ok(flags & GPUMEM_SLEEP_RETAIN ? used > 0 : used == 0,
		   "the host keeps %llu bytes", (ull)used);
	}
	free_blocks();
	end(pool);
}

/* Blocks are addresses, and what was free is not copied. */
static void test_sparse(void)
{
	struct gpumem_block found = GPUMEM_INIT(struct gpumem_block);
	gpumem_pool *pool;
	struct gpumem_stats stats;
	size_t lost = 0;

	begin();
	pool = new_pool(0);
	make_blocks(pool, NULL, 0);
	for (size_t i = 0; i < SIZES * ROUNDS; i++)
		if (i % 3) {
			must(gpumem_free(block[i], NULL));
			block[i] = NULL;
		}
	stats = stats_of(pool);
	must(sleep_all(pool));
	is_uint(slept.kept_bytes, stats.allocated.current,
		"a pool with much free memory copies what lives");
	is_uint(reserved_of(pool), 0, "and has nothing");
	for (size_t i = 0; i < SIZES * ROUNDS; i += 3)
		lost += gpumem_query(block[i] + size_of(i) - 1, &found) !=
				GPUMEM_OK ||
			found.ptr != block[i];
	is_uint(lost, 0, "what sleeps is found by its addresses");
	must(wake(pool, 0));
	is_uint(wrong_blocks(), 0, "it is as it was");
	ok(reserved_of(pool) < stats.reserved.current,
	   "what was free has not come back");
	lawful(pool, "awake");
	free_blocks();
	end(pool);
}

static void test_fates(void)
{
	const uint32_t tags[] = {tag_of("stays", GPUMEM_SLEEP_STAY),
				 tag_of("keeps", GPUMEM_SLEEP_KEEP),
				 tag_of("drops", GPUMEM_SLEEP_DROP),
				 tag_of("zeros", GPUMEM_SLEEP_ZERO), 0};
	size_t wrong = 0, read = 0;
	uint32_t inside;
	gpumem_pool *pool;

	must(gpumem_tag_intern("drops/inside", &inside));
	begin();
	pool = new_pool(0);
	make_blocks(pool, tags, 5);
	must(sleep_all(pool));
	for (size_t i = 0; i < SIZES * ROUNDS; i++)
		if (i % 5 == 0)
			wrong += !is_marked(block[i], size_of(i), (uint32_t)i);
	is_uint(wrong, 0, "what stays can be read");
	ok(slept.dropped_bytes > 0, "some is not copied");
	lawful(pool, "asleep");
	must(wake(pool, 0));
	for (size_t i = 0; i < SIZES * ROUNDS; i++) {
		if (i % 5 != 2 && i % 5 != 3)
			wrong += !is_marked(block[i], size_of(i), (uint32_t)i);
		/* On a page on which something stays it is as it was. */
		if (i % 5 == 3 && size_of(i) == 33 * PAGE)
			wrong += !is_zero(block[i] + PAGE, 31 * PAGE);
		read += block[i][size_of(i) - 1];
	}
	is_uint(wrong, 0, "each has what its tag says");
	ok(read + 1, "what was dropped can be read");
	lawful(pool, "awake");
	free_blocks();
	end(pool);
	(void)inside;
}

static void test_frees(bool all)
{
	gpumem_pool *pool;
	void *young[SIZES];

	begin();
	pool = new_pool(0);
	make_blocks(pool, NULL, 0);
	must(sleep_all(pool));
	for (size_t i = 0; i < SIZES * ROUNDS; i++)
		if (all || i % 2) {
			must(gpumem_free(block[i], NULL));
			block[i] = NULL;
		}
	lawful(pool, "freed while asleep");
	is_uint(stats_of(pool).sleeping.current,
		stats_of(pool).allocated.current, "what is left sleeps");
	for (size_t i = 0; i < SIZES; i++) {
		young[i] = new_block(pool, sizes[i], NULL);
		mark_block(young[i], sizes[i], 1000 + (uint32_t)i);
	}
	lawful(pool, "allocated while asleep");
	must(wake(pool, 0));
	is_uint(wrong_blocks(), 0, "the others are as they were");
	for (size_t i = 0; i < SIZES; i++) {
		ok(is_marked(young[i], sizes[i], 1000 + (uint32_t)i),
		   "and so are those made meanwhile");
		must(gpumem_free(young[i], NULL));
	}
	lawful(pool, "awake");
	(void)trim(pool);
	if (all)
		is_uint(reserved_of(pool), 0, "nothing is left");
	free_blocks();
	end(pool);
}

static void test_by_tag(void)
{
	const uint32_t tags[] = {
		tag_of("weights", GPUMEM_SLEEP_KEEP),
		tag_of("cache", GPUMEM_SLEEP_DROP),
		tag_of("weights/inside", GPUMEM_SLEEP_INHERIT)};
	gpumem_pool *pool;
	uint64_t first;
	size_t wrong = 0;

	begin();
	pool = new_pool(0);
	for (size_t i = 0; i < SIZES * ROUNDS; i++) {
		/* Side by side, so that there are pages of one tag. */
		block[i] = tagged_block(pool, size_of(i),
					tags[i / SIZES * 3 / ROUNDS], NULL);
		mark_block(block[i], size_of(i), (uint32_t)i);
	}
	must(sleep_with(pool, tags[1], 0, NULL));
	first = stats_of(pool).sleeping.current;
	is_uint(slept.kept_bytes, 0, "a cache is not copied");
	ok(first > 0, "but sleeps");
	for (size_t i = 0; i < SIZES * ROUNDS; i++)
		if (i / SIZES * 3 / ROUNDS != 1)
			wrong += !is_marked(block[i], size_of(i), (uint32_t)i);
	is_uint(wrong, 0, "weights are awake");
	lawful(pool, "one tag sleeps");
	must(sleep_with(pool, tags[0], 0, NULL));
	ok(stats_of(pool).sleeping.current > first, "now weights sleep too");
	ok(slept.kept_bytes > 0, "and were copied");
	lawful(pool, "two tags sleep");
	must(wake(pool, tags[2]));
	lawful(pool, "what is inside one of them is awake");
	must(wake(pool, tags[0]));
	for (size_t i = 0; i < SIZES * ROUNDS; i++)
		if (i / SIZES * 3 / ROUNDS != 1)
			wrong += !is_marked(block[i], size_of(i), (uint32_t)i);
	is_uint(wrong, 0, "weights are as they were");
	ok(stats_of(pool).sleeping.current > 0, "and the cache still sleeps");
	lawful(pool, "one is awake");
	must(wake(pool, tags[1]));
	is_uint(stats_of(pool).sleeping.current, 0, "nothing sleeps");
	free_blocks();
	end(pool);
}

static void test_refused(void)
{
	struct gpumem_shared shared = GPUMEM_INIT(struct gpumem_shared);
	gpumem_pool *pool;
	uint64_t usable;
	void *ptr, *small;

	begin();
	pool = new_pool(0);
	ptr = new_block(pool, 3 * PAGE, NULL);
	small = new_block(pool, 100, NULL);
	must(wake(pool, 0));
	is_uint(slept.device_bytes, 0, "there is nothing to wake");
	must(sleep_all(pool));
	said(gpumem_resize(ptr, PAGE, NULL, &usable), GPUMEM_BUSY,
	     "a block that sleeps is not resized");
	said(gpumem_resize(small, 50, NULL, &usable), GPUMEM_BUSY,
	     "nor a small one");
	said(gpumem_export(ptr, &shared, NULL, 0), GPUMEM_BUSY, "nor exported");
	said(gpumem_pool_destroy(pool, 0), GPUMEM_BUSY,
	     "a pool whose blocks sleep has live blocks");
	must(sleep_all(pool));
	is_uint(slept.device_bytes, 0, "what sleeps does not fall asleep");
	must(wake(pool, 0));
	must(gpumem_resize(ptr, PAGE, NULL, &usable));
	must(gpumem_free(ptr, NULL));
	must(gpumem_free(small, NULL));
	end(pool);

	begin();
	pool = new_pool(0);
	(void)new_block(pool, 3 * PAGE, NULL);
	(void)new_block(pool, 100, NULL);
	must(sleep_with(pool, 0, 0, NULL));
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	ok(device_end(), "a pool ends in its sleep");

	begin();
	pool = new_pool(0);
	(void)new_block(pool, 3 * PAGE, NULL);
	said(sleep_with(pool, 0, 0, "/nonexistent"), GPUMEM_INVALID,
	     "there is no such folder");
	lawful(pool, "nothing has happened");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	ok(device_end(), "nothing is left");

	device_start("256MiB", false);
	pool = new_pool(0);
	said(sleep_all(pool), GPUMEM_UNSUPPORTED, "at other addresses");
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "nothing is left");

	option("host.objects", "on");
	device_start("256MiB", false);
	pool = new_pool(0);
	said(sleep_all(pool), GPUMEM_UNSUPPORTED, "would keep their memory");
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "nothing is left");
	option("host.objects", "off");
}

int main(void)
{
	alarm(120);
	test_all("pinned", 0, NULL);
	test_all("retained", GPUMEM_SLEEP_RETAIN, NULL);
	test_all("pageable", GPUMEM_SLEEP_PAGEABLE, NULL);
	test_all("a file", 0, ".");
	option("host.pinned", "0");
	test_all("without pinned memory", 0, NULL);
	option("host.pinned", NULL);
	test_sparse();
	test_fates();
	test_frees(false);
	test_frees(true);
	test_by_tag();
	test_refused();
	return done_testing();
}
