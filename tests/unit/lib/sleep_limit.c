/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How much of the host's memory sleeps hold, and a limit for it: what a sleep
 * asks for counts, what is held and retained counts, what can be used again
 * does not, and a sleep that is refused has done nothing. Then 300 sleeps of
 * any kind within any limit.
 */
#include "sleep.h"

enum { BLOCKS = 20, CHUNK = 8 * MIB, BUFFERS = 16, BUFFER = MIB / 2 };

static gpumem_pool *pool;
static uint32_t first, second;
static void *block[BLOCKS];

static gpumem_status sleep_within(uint32_t tag, uint32_t flags,
				  const char *folder, uint64_t limit_bytes)
{
	struct gpumem_sleep_options options =
		GPUMEM_INIT(struct gpumem_sleep_options);

	options.tag = tag;
	options.flags = flags;
	options.folder = folder;
	options.host_limit_bytes = limit_bytes;
	slept = GPUMEM_INIT(struct gpumem_slept);
	return gpumem_pool_sleep(pool, &options, &slept);
}

/* 12 MiB of the first tag, 8 of the second. */
static void begin(void)
{
	pool = small_pool();
	for (unsigned i = 0; i < BLOCKS; i++) {
		block[i] =
			tagged_block(pool, MIB, i < 12 ? first : second, NULL);
		mark_block(block[i], MIB, i);
	}
}

static void end(void)
{
	ok(are_marked(block, BLOCKS), "all is as it was");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	ok(device_end(), "nothing is left");
}

static void holds(uint64_t bytes, const char *when)
{
	is_uint(stats_of(pool).sleep_host_bytes, bytes, "%s: it holds", when);
}

/* Besides so much. Each thread of a move has one, which may be that of another
 * that has ended by then. */
static void holds_buffers(uint64_t others, const char *when)
{
	uint64_t bytes = stats_of(pool).sleep_host_bytes - others;

	ok(bytes && bytes <= BUFFERS * BUFFER && bytes % BUFFER == 0,
	   "%s: it holds %llu bytes of buffers", when,
	   (unsigned long long)bytes);
}

/* One byte less than it needs is too little. */
static void needs(uint32_t tag, uint32_t flags, const char *folder,
		  uint64_t limit_bytes, const char *sentence)
{
	uint64_t before = stats_of(pool).sleep_host_bytes;
	uint64_t sleeping = stats_of(pool).sleeping.current;

	is_status(sleep_within(tag, flags, folder, limit_bytes - 1),
		  GPUMEM_LIMIT, "%llu bytes less one", (ull)limit_bytes);
	ok(strstr(last_text(), sentence), "%s", last_text());
	holds(before, "as before");
	is_uint(stats_of(pool).sleeping.current, sleeping,
		"nothing fell asleep");
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "sound");
	is_status(sleep_within(tag, flags, folder, limit_bytes), GPUMEM_OK,
		  "%llu bytes", (ull)limit_bytes);
	is_uint(slept.host_bytes, stats_of(pool).sleep_host_bytes,
		"statistics and sleep agree");
}

static void test_pinned(void)
{
	begin();
	holds(0, "before");
	needs(0, 0, NULL, 20 * MIB, "asks for 20971520 bytes");
	holds(20 * MIB, "asleep");
	must(wake(pool, 0));
	holds(0, "awake");
	needs(first, 0, NULL, 12 * MIB, "asks for 12582912 bytes");
	needs(second, 0, NULL, 20 * MIB,
	      "asks for 8388608 bytes of host memory, and 8388607 are left of "
	      "the 20971519 that");
	must(wake(pool, 0));
	needs(0, GPUMEM_SLEEP_RETAIN, NULL, 20 * MIB, "and 20971519 are left");
	must(wake(pool, 0));
	holds(20 * MIB, "retained");
	must(sleep_within(0, 0, NULL, 20 * MIB));
	holds(20 * MIB, "used again");
	must(wake(pool, 0));
	holds(0, "and given back");
	end();
}

static void test_others(void)
{
	uint64_t pinned;

	begin();
	needs(0, GPUMEM_SLEEP_PAGEABLE, NULL, 20 * MIB + BUFFERS * BUFFER,
	      "asks for 29360128 bytes");
	holds(20 * MIB, "asleep in ordinary memory");
	must(wake(pool, 0));
	holds(0, "awake");
	needs(0, GPUMEM_SLEEP_PAGEABLE | GPUMEM_SLEEP_RETAIN, NULL,
	      20 * MIB + BUFFERS * BUFFER, "asks for 29360128 bytes");
	holds_buffers(20 * MIB, "asleep");
	must(wake(pool, 0));
	holds_buffers(20 * MIB, "which is retained");
	pinned = gpumem_host_kind_bytes(0, GPUMEM_KIND_PINNED);
	must(sleep_within(0, 0, NULL, 0));
	is_uint(gpumem_host_kind_bytes(0, GPUMEM_KIND_PINNED) - pinned,
		20 * MIB, "and not taken for pinned memory");
	must(wake(pool, 0));
	must(sleep_within(0, GPUMEM_SLEEP_PAGEABLE, NULL,
			  20 * MIB + BUFFERS * BUFFER));
	must(wake(pool, 0));
	holds(0, "and not");
	needs(0, 0, ".", BUFFERS * BUFFER, "asks for 8388608 bytes");
	holds(0, "asleep in a file");
	must(wake(pool, 0));
	must(gpumem_tag_set_sleep(first, GPUMEM_SLEEP_DROP));
	must(sleep_within(first, 0, NULL, 1));
	holds(0, "dropped");
	must(wake(pool, 0));
	must(gpumem_tag_set_sleep(first, GPUMEM_SLEEP_KEEP));
	for (unsigned i = 0; i < 12; i++)
		mark_block(block[i], MIB, i);
	end();
}

static void test_retained(void)
{
	begin();
	must(sleep_within(0, GPUMEM_SLEEP_RETAIN, NULL, 0));
	must(wake(pool, 0));
	holds(20 * MIB, "two chunks and a half");
	must(sleep_within(0, GPUMEM_SLEEP_RETAIN, NULL, 1));
	holds(20 * MIB, "what is there is used within any limit");
	must(wake(pool, 0));
	is_status(sleep_within(0, GPUMEM_SLEEP_PAGEABLE, NULL,
			       20 * MIB + BUFFERS * BUFFER - 1),
		  GPUMEM_LIMIT, "not enough, were it gone");
	holds(20 * MIB, "so it is still there");
	must(sleep_within(second, GPUMEM_SLEEP_PAGEABLE, NULL,
			  8 * MIB + BUFFERS * BUFFER));
	must(wake(pool, 0));
	holds(0, "what is of no use has gone");
	end();
}

static void test_random(void)
{
	unsigned within = 0, refused = 0, beyond = 0;

	begin();
	for (int i = 0; i < 300; i++) {
		uint64_t limit = 1 + random_below(32 * MIB);
		uint64_t before = stats_of(pool).sleep_host_bytes, host;
		uint32_t flags = (uint32_t)random_below(4);
		uint32_t tag = one_in(2) ? 0 : one_in(2) ? first : second;
		const char *folder = one_in(5) ? "." : NULL;
		gpumem_status status = sleep_within(tag, flags, folder, limit);

		within += status == GPUMEM_OK;
		refused += status == GPUMEM_LIMIT;
		host = stats_of(pool).sleep_host_bytes;
		beyond += host > before && host > limit;
		if (status != GPUMEM_OK && status != GPUMEM_LIMIT)
			bail("%s", last_text());
		if (!one_in(3))
			must(wake(pool, one_in(2) ? 0 : tag));
	}
	must(wake(pool, 0));
	ok(within > 50 && refused > 50, "%u slept, %u were refused", within,
	   refused);
	is_uint(beyond, 0, "none went beyond its limit");
	end();
}

int main(void)
{
	alarm(300);
	first = tag_of("first", GPUMEM_SLEEP_KEEP);
	second = tag_of("second", GPUMEM_SLEEP_KEEP);
	test_pinned();
	test_others();
	test_retained();
	test_random();
	return done_testing();
}
