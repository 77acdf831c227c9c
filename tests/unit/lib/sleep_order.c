/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Free memory of one fate in a sleep for blocks of another, while streams are
 * at work on it: whole pages go over, on their own stream at once, to another
 * behind the work, and nothing is reserved for the turn. What a stream writes
 * comes after what was there; no handle is of two fates.
 */
#include "sleep_held.h"

enum { BYTES = 32 * MIB };

static void fill(void *ptr, int value, gpumem_stream stream)
{
	must(gpumem_fill(device, ptr, (uint8_t)value, BYTES, stream));
}

static bool holds(const void *ptr, int value)
{
	const unsigned char *byte = ptr;
	size_t i = 0;

	while (i < BYTES && byte[i] == value)
		i++;
	return i == BYTES;
}

/* A freed block on which stream A is at work. */
static void *freed(uint32_t tag)
{
	void *ptr = tagged_block(pool, BYTES, tag, a);

	fill(ptr, OLD, a);
	must(gpumem_free(ptr, a));
	return ptr;
}

/* A block of the tag on the stream takes nothing new, and no wait. */
static void *turn(uint32_t tag, gpumem_stream stream, const char *what)
{
	uint64_t before = reserved_of(pool);
	void *ptr = tagged_block(pool, BYTES, tag, stream);

	is_uint(reserved_of(pool), before, "%s: nothing more is reserved",
		what);
	is_uint(calls_of(pool, GPUMEM_CALL_EVENT_SYNC).count, 0,
		"and the host waits for nothing");
	sound(pool, "%s", what);
	return ptr;
}

/* What the stream writes is there when it is over, and when all is. */
static void comes_after(void *ptr, gpumem_stream stream, const char *what)
{
	fill(ptr, NEW, stream);
	(void)trim(pool);
	must(gpumem_stream_sync(device, stream));
	ok(holds(ptr, NEW), "%s: what it writes is there", what);
	must(gpumem_stream_sync(device, a));
	must(gpumem_stream_sync(device, b));
	ok(holds(ptr, NEW), "and stays");
	sound(pool, "%s, over", what);
}

static void all_sleeps(uint32_t tag)
{
	must(sleep_with(pool, tag, 0, NULL));
	is_uint(stats_of(pool).sleeping.current, BYTES,
		"a sleep gets all that the tag has");
	must(wake(pool, 0));
}

static void test_turns(void)
{
	void *ptr;

	begin();
	(void)freed(x);
	for (int i = 0; i < 6; i++) {
		ptr = turn(i % 2 ? x : y, a, "a turn on one stream");
		fill(ptr, OLD, a);
		must(gpumem_free(ptr, a));
	}
	ptr = turn(y, a, "the last turn");
	comes_after(ptr, a, "the last turn");
	all_sleeps(y);
	must(gpumem_free(ptr, a));
	end();
}

/* One stream needs no wait, another one does. */
static void test_no_wait(void)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	void *mine, *other;
	uint64_t before;

	begin();
	(void)freed(x);
	before = reserved_of(pool);
	options.flags = GPUMEM_ALLOC_NO_WAIT;
	options.tag = y;
	must(gpumem_alloc_with(pool, BYTES, b, &options, &other, NULL));
	is_uint(reserved_of(pool), before + BYTES, "none for another stream");
	must(gpumem_alloc_with(pool, BYTES, a, &options, &mine, NULL));
	is_uint(reserved_of(pool), before + BYTES, "but for its own");
	comes_after(mine, a, "without a wait");
	must(gpumem_free(mine, a));
	must(gpumem_free(other, b));
	end();
}

static void test_streams(void)
{
	void *ptr;

	begin();
	(void)freed(x);
	ptr = turn(y, b, "another stream's");
	comes_after(ptr, b, "another stream's");
	all_sleeps(y);
	must(gpumem_free(ptr, b));
	end();
}

/* On which another stream is still at work. */
static void test_pending(void)
{
	void *ptr;

	begin();
	ptr = tagged_block(pool, BYTES, x, a);
	must(gpumem_use_on(ptr, b));
	fill(ptr, OLD, b);
	must(gpumem_free(ptr, a));
	ptr = turn(y, a, "a pending block");
	comes_after(ptr, a, "a pending block");
	all_sleeps(y);
	must(gpumem_free(ptr, a));
	end();
}

/* At an address where nothing is mapped yet. */
static void *far(uint32_t tag, gpumem_stream stream)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	void *ptr;

	options.alignment = 1024 * MIB;
	options.tag = tag;
	must(gpumem_alloc_with(pool, BYTES, stream, &options, &ptr, NULL));
	return ptr;
}

/* Mapped at three places, of two streams and two fates: when the last of them
 * is known to be over, so are the others, and its pages move on. */
static void test_chain(void)
{
	static const size_t bytes[] = {BYTES / 8 * 3, BYTES / 4, BYTES / 8 * 3};
	void *part[3], *next, *first;

	begin();
	first = tagged_block(pool, 2 * MIB, x, a);
	(void)freed(x);
	must(gpumem_free(far(x, a), a));
	must(gpumem_free(turn(x, b, "another stream's"), b));
	for (int i = 0; i < 3; i++)
		part[i] = tagged_block(pool, bytes[i], y, b);
	is_uint(reserved_of(pool), BYTES + 2 * MIB, "of another fate");
	sound(pool, "of another fate");
	must(gpumem_free(part[0], b));
	must(gpumem_free(part[2], b));
	must(gpumem_stream_sync(device, b));
	next = tagged_block(pool, BYTES / 4 * 3, y, c);
	is_uint(reserved_of(pool), BYTES + 2 * MIB, "a third stream's");
	sound(pool, "a third stream's");
	must(gpumem_free(next, c));
	must(gpumem_free(part[1], b));
	must(gpumem_free(first, a));
	end();
}

/* What is over stays so, also what is left of a page. */
static void test_over(void)
{
	struct gpumem_capacity room = GPUMEM_INIT(struct gpumem_capacity);
	void *ptr;

	begin();
	(void)freed(x);
	must(gpumem_stream_sync(device, a));
	must(gpumem_pool_capacity(pool, a, &room));
	ptr = tagged_block(pool, BYTES - MIB, y, a);
	is_uint(reserved_of(pool), BYTES, "what is over");
	sound(pool, "what is over");
	must(gpumem_free(ptr, a));
	end();
}

/* What its stream, which is gone, has yet to do there. */
static void test_dropped(void)
{
	void *ptr;

	begin();
	(void)freed(x);
	ptr = turn(y, a, "before its stream goes");
	fill(ptr, NEW, a);
	must(gpumem_pool_drop_stream(pool, a));
	sound(pool, "gone");
	(void)trim(pool);
	must(gpumem_stream_sync(device, a));
	ok(holds(ptr, NEW), "what a dropped stream writes is there");
	must(gpumem_free_own(ptr));
	end();
}

/* ---- what it promises ---- */

/* A new stream may be where another was: what that left is not in its order. */
static void test_capacity_of_dropped(void)
{
	struct gpumem_capacity room = GPUMEM_INIT(struct gpumem_capacity);
	void *ptr;

	begin();
	(void)freed(x);
	must(gpumem_pool_drop_stream(pool, a));
	ptr = tagged_block(pool, MIB, y, a);
	must(gpumem_free(tagged_block(pool, MIB, y, a), a));
	must(gpumem_pool_set_limit(pool, reserved_of(pool)));
	must(gpumem_pool_capacity(pool, a, &room));
	ok(room.now_bytes <= 2 * MIB, "only the rest of a page: %llu KiB",
	   (ull)(room.now_bytes / KIB));
	must(gpumem_free(ptr, a));
	end();
}

static void test_capacity(void)
{
	struct gpumem_capacity room = GPUMEM_INIT(struct gpumem_capacity);
	uint64_t trims;
	void *ptr;

	begin();
	(void)freed(x);
	must(gpumem_pool_set_limit(pool, reserved_of(pool)));
	must(gpumem_tag_set(y));
	must(gpumem_pool_capacity(pool, a, &room));
	is_uint(room.now_bytes, BYTES, "so much can be had on its stream");
	trims = stats_of(pool).trims;
	must(gpumem_alloc(pool, BYTES, a, &ptr));
	must(gpumem_pool_capacity(pool, b, &room));
	must(gpumem_tag_set(0));
	is_uint(room.now_bytes, 0, "then no more");
	is_uint(stats_of(pool).trims, trims, "without a trim");
	comes_after(ptr, a, "at a limit");
	must(gpumem_free(ptr, a));
	end();
}

int main(void)
{
	alarm(600);
	test_turns();
	test_no_wait();
	test_streams();
	test_pending();
	test_chain();
	test_over();
	test_dropped();
	test_capacity();
	test_capacity_of_dropped();
	return done_testing();
}
