/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How much of a tag's memory goes back when it sleeps: all of it, however small
 * the tag is and whatever was allocated between its blocks, if it had its word
 * before; and what that costs. Where memory is short, what is free serves any.
 * Which parts of handles are whose, gpumem_pool_check() says.
 */
#include "sleep.h"

enum { TAGS = 5, MOST = 4096 };

static const char *const names[TAGS] = {"kv_cache", "weights", "graphs",
					"optimizer", "buffers"};
static uint32_t tags[TAGS];
static uint64_t live[TAGS];
static void *block[MOST];

static void begin(void)
{
	random_seed(11);
	device_start("16GiB", true);
	for (int i = 0; i < TAGS; i++)
		tags[i] = tag_of(names[i], GPUMEM_SLEEP_DROP);
}

static void end(gpumem_pool *pool)
{
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	ok(device_end(), "all memory went back");
}

/* 128 KiB to 32 MiB, and no more than a quarter of the tag. */
static size_t random_size(uint64_t left, uint64_t most)
{
	uint64_t bytes = (128 * KIB + random_below(4) * 32 * KIB)
			 << random_below(8);

	if (bytes > most / 4)
		bytes = most / 4;
	return bytes > left ? left : bytes;
}

/* Tags of so many bytes each, with their blocks mixed in time. */
static void fill(gpumem_pool *pool, unsigned count, uint64_t bytes)
{
	unsigned full = 0;

	for (unsigned i = 0; i < count; i++)
		live[i] = 0;
	while (full < count) {
		unsigned i = (unsigned)random_below(count);
		size_t size = random_size(bytes - live[i], bytes);

		if (!size)
			continue;
		(void)tagged_block(pool, size, tags[i], NULL);
		live[i] += size;
		full += live[i] == bytes;
	}
}

/* Each of them goes back whole, by itself. */
static void each_sleeps(gpumem_pool *pool, unsigned count, const char *when)
{
	uint64_t least = 100;

	for (unsigned i = 0; i < count; i++) {
		uint64_t gone;

		must(sleep_with(pool, tags[i], 0, NULL));
		gone = stats_of(pool).sleeping.current * 100 / live[i];
		least = gone < least ? gone : least;
		must(wake(pool, tags[i]));
	}
	is_uint(least, 100, "%s: per cent of each of %u tags of %llu MiB", when,
		count, (ull)(live[0] / MIB));
}

static uint64_t unused_in(gpumem_pool *pool)
{
	struct gpumem_stats stats = stats_of(pool);

	return stats.reserved.current - stats.allocated.current;
}

static void test_mixed(unsigned count, uint64_t bytes, uint64_t others)
{
	gpumem_pool *pool;
	uint64_t unused;

	begin();
	pool = new_pool(0);
	for (uint64_t had = 0; had < others; had += 24 * MIB)
		(void)new_block(pool, 24 * MIB, NULL);
	unused = unused_in(pool);
	fill(pool, count, bytes);
	unused = unused_in(pool) - unused;
	ok(unused <= count * (bytes / 4 + 2 * MIB),
	   "no more is unused than a quarter of each, or a page: %llu MiB",
	   (ull)(unused / MIB));
	each_sleeps(pool, count, others ? "beside others" : "alone");
	for (unsigned i = 0; i < count; i++)
		must(sleep_with(pool, tags[i], 0, NULL));
	must(wake(pool, 0));
	each_sleeps(pool, count, "after all woke up at once");
	sound(pool, "afterwards");
	end(pool);
}

/* A tag inside one with a word is of its fate, until it has a word itself. */
static void test_inside(void)
{
	gpumem_pool *pool;
	uint32_t outer, a, b;

	must(gpumem_tag_intern("outer/a", &a));
	must(gpumem_tag_intern("outer/b/c", &b));
	outer = tag_of("outer", GPUMEM_SLEEP_DROP);
	begin();
	pool = new_pool(0);
	for (int i = 0; i < 8; i++) {
		(void)tagged_block(pool, 512 * KIB, i % 2 ? a : b, NULL);
		(void)new_block(pool, 512 * KIB, NULL);
	}
	is_uint(reserved_of(pool), 8 * MIB, "they share pages");
	must(sleep_with(pool, outer, 0, NULL));
	is_uint(stats_of(pool).sleeping.current, 4 * MIB, "all of it goes");
	must(wake(pool, 0));
	must(sleep_with(pool, a, 0, NULL));
	is_uint(stats_of(pool).sleeping.current, 0, "a part alone does not");
	must(gpumem_tag_set_sleep(a, GPUMEM_SLEEP_DROP));
	for (int i = 0; i < 8; i++)
		(void)tagged_block(pool, 512 * KIB, i % 2 ? a : b, NULL);
	must(sleep_with(pool, a, 0, NULL));
	is_uint(stats_of(pool).sleeping.current, 2 * MIB,
		"what came after its word does");
	must(gpumem_tag_set_sleep(a, GPUMEM_SLEEP_INHERIT));
	must(wake(pool, 0));
	block[0] = tagged_block(pool, 512 * KIB, a, NULL);
	block[1] = tagged_block(pool, 512 * KIB, b, NULL);
	is_uint((uintptr_t)block[0] ^ (uintptr_t)block[1], 512 * KIB,
		"without it they are of one fate again");
	sound(pool, "inside");
	end(pool);
}

/* What a thread keeps ready is of no fate. */
static void test_reuse(void)
{
	gpumem_pool *pool;
	void *ptr, *young;

	begin();
	pool = new_pool(0);
	/* From now on the thread has a cache, and counts by tag. */
	must(gpumem_free(new_block(pool, 600 * KIB, NULL), NULL));
	must(gpumem_free(tagged_block(pool, 700 * KIB, tags[0], NULL), NULL));
	ptr = new_block(pool, MIB, NULL);
	(void)new_block(pool, MIB, NULL);
	must(gpumem_free(ptr, NULL));
	young = tagged_block(pool, MIB, tags[0], NULL);
	ok(young != ptr, "a block that was freed without a tag is not used");
	live[0] = MIB;
	each_sleeps(pool, 1, "reused");
	must(gpumem_free(young, NULL));
	young = tagged_block(pool, MIB, tags[0], NULL);
	each_sleeps(pool, 1, "its own again");
	end(pool);
}

/* What lies behind a block of one is not for another. */
static void test_behind(void)
{
	gpumem_pool *pool;
	void *ptr, *next;
	size_t usable;

	begin();
	pool = new_pool(0);
	ptr = new_block(pool, 2 * MIB, NULL);
	next = tagged_block(pool, MIB, tags[1], NULL);
	(void)tagged_block(pool, MIB, tags[1], NULL);
	is_uint((uintptr_t)next - (uintptr_t)ptr, 2 * MIB,
		"one behind another");
	must(gpumem_free(next, NULL));
	said(gpumem_resize(ptr, 2 * MIB + 512 * KIB, NULL, &usable),
	     GPUMEM_BUSY, "free");
	sound(pool, "a block has not grown over another fate's");
	end(pool);
}

static void test_short(void)
{
	gpumem_pool *pool;
	unsigned count = 0;

	begin();
	pool = new_pool(64 * MIB);
	for (unsigned i = 0; i < 64; i++)
		block[i] = tagged_block(pool, MIB, tags[i % 2], NULL);
	for (unsigned i = 0; i < 64; i++)
		if (i % 4 < 2)
			must(gpumem_free(block[i], NULL));
	while (count < MOST &&
	       gpumem_alloc(pool, MIB, NULL, &block[count]) == GPUMEM_OK)
		count++;
	is_uint(count, 32, "at a limit others get what is free of a tag");
	sound(pool, "mixed");
	must(sleep_with(pool, tags[0], 0, NULL));
	must(wake(pool, 0));
	sound(pool, "mixed, and woken");
	end(pool);
}

static void test_apart_again(void)
{
	gpumem_pool *pool;
	unsigned count = 0;

	begin();
	pool = new_pool(64 * MIB);
	block[0] = tagged_block(pool, MIB, tags[0], NULL);
	block[1] = tagged_block(pool, 512 * KIB, tags[0], NULL);
	must(gpumem_free(block[1], NULL));
	for (count = 1;
	     gpumem_alloc(pool, MIB, NULL, &block[count]) == GPUMEM_OK;)
		count++;
	is_uint(count, 64, "mixed");
	for (unsigned i = 0; i < count; i++)
		must(gpumem_free(block[i], NULL));
	(void)trim(pool);
	is_uint(reserved_of(pool), 0, "a trim gets all of it");
	fill(pool, 2, 16 * MIB);
	each_sleeps(pool, 2, "then they are apart again");
	end(pool);
}

/* A page in two parts of two streams, of one fate, that were busy when it was
 * freed. */
static void test_parts(void)
{
	static struct gate gate[2];
	gpumem_stream stream[2];
	gpumem_pool *pool;

	begin();
	pool = new_pool(0);
	for (int i = 0; i < 2; i++) {
		stream[i] = new_stream();
		block[i] = tagged_block(pool, MIB, tags[0], stream[i]);
	}
	is_uint(reserved_of(pool), 2 * MIB, "two streams share a page");
	for (int i = 0; i < 2; i++) {
		gate_launch(&gate[i], stream[i], NULL, 0);
		must(gpumem_free(block[i], stream[i]));
	}
	for (int i = 0; i < 2; i++)
		gate_finish(&gate[i], stream[i]);
	(void)trim(pool);
	is_uint(reserved_of(pool), 0, "a trim gets it");
	for (int i = 0; i < 2; i++)
		must(gpumem_stream_destroy(device, stream[i]));
	end(pool);
}

static void test_streams(void)
{
	gpumem_stream stream[3];
	gpumem_pool *pool;
	unsigned blocks = 0;

	begin();
	pool = new_pool(0);
	live[0] = live[1] = 0;
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 3; i++)
			stream[i] = new_stream();
		for (int i = 0; i < 24; i++) {
			block[blocks++] = tagged_block(
				pool, 768 * KIB, tags[i % 2], stream[i % 3]);
			block[blocks++] =
				new_block(pool, 300 * KIB, stream[i % 3]);
			live[i % 2] += 768 * KIB;
		}
		for (int i = 0; i < 3; i++)
			must(gpumem_stream_destroy(device, stream[i]));
		sound(pool, "streams have gone");
		each_sleeps(pool, 2, "of streams that are gone");
	}
	while (blocks)
		must(gpumem_free_own(block[--blocks]));
	sound(pool, "all is free");
	(void)trim(pool);
	is_uint(reserved_of(pool), 0, "a trim gets what they had");
	end(pool);
}

int main(void)
{
	static const uint64_t sizes[] = {1, 4, 16, 64, 256, 1024};
	const unsigned few = (unsigned)scaled(6, 4);

	alarm(600);
	for (unsigned i = 0; i < few; i++) {
		test_mixed(2, sizes[i] * MIB, 0);
		test_mixed(5, sizes[i] * MIB, 0);
		test_mixed(2, sizes[i] * MIB, 4096 * MIB);
		test_mixed(5, sizes[i] * MIB, 4096 * MIB);
	}
	test_inside();
	test_reuse();
	test_behind();
	test_short();
	test_apart_again();
	test_parts();
	test_streams();
	return done_testing();
}
