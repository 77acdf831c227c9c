/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Frees that know less or more than gpumem_free(): on the block's own stream,
 * whichever that is, and with a size that is checked.
 */
#include "fixture.h"

static gpumem_pool *pool;
static gpumem_stream stream, other;

static const size_t sizes[] = {1000, 3 * MIB, 40 * MIB};

/* ---- on its own stream ---- */

/* From the cache of its stream and back, though another was used since. */
static void test_cached(size_t bytes)
{
	void *ptr = new_block(pool, bytes, stream), *again;
	uint64_t hits;

	must(gpumem_free(new_block(pool, 300, other), other));
	must(gpumem_free_own(ptr));
	again = new_block(pool, bytes, stream);
	is_ptr(again, ptr, "%zu bytes: its stream uses it again at once",
	       bytes);
	hits = stats_of(pool).hits;
	for (int i = 0; i < 200; i++) {
		must(gpumem_free_own(again));
		again = new_block(pool, bytes, stream);
	}
	is_uint(stats_of(pool).hits, hits + 200, "and always again");
	is_uint(stats_of(pool).pending_bytes, 0, "without waiting");
	must(gpumem_free_own(again));
	is_uint(stats_of(pool).blocks.current, 0, "nothing is live");
	sound(pool, "sound");
}

/* More than a thread keeps: the cache is flushed. */
static void test_many(void)
{
	enum { MANY = 3000 };
	static void *ptr[MANY];

	for (int i = 0; i < MANY; i++)
		ptr[i] = new_block(pool, i % 3 ? 400 : 5000,
				   i % 2 ? stream : other);
	for (int i = 0; i < MANY; i++)
		must(gpumem_free_own(ptr[i]));
	is_uint(stats_of(pool).blocks.current, 0, "%d blocks of two streams",
		(int)MANY);
	sound(pool, "sound");
}

static void *free_there(void *ptr)
{
	must(gpumem_free_own(ptr));
	return NULL;
}

/* By a thread that has never used the stream. */
static void test_thread(size_t bytes)
{
	struct gate gate = {0};
	void *ptr = new_block(pool, bytes, stream);
	pthread_t thread;

	gate_launch(&gate, stream, NULL, 0);
	if (pthread_create(&thread, NULL, free_there, ptr))
		bail("no thread");
	pthread_join(thread, NULL);
	is_uint(stats_of(pool).pending_bytes, 0,
		"%zu bytes: by another thread it is not pending", bytes);
	is_uint(stats_of(pool).blocks.current, 0, "and not live");
	gate_finish(&gate, stream);
}

/* The streams that it was used on are waited for. */
static void test_used(size_t bytes)
{
	struct gate gate = {0};
	void *ptr = new_block(pool, bytes, stream), *next;

	must(gpumem_use_on(ptr, other));
	gate_launch(&gate, other, ptr, bytes);
	must(gpumem_free_own(ptr));
	ok(stats_of(pool).pending_bytes >= bytes,
	   "%zu bytes: pending while another stream uses it", bytes);
	next = new_block(pool, bytes, stream);
	ok(next != ptr, "and not used again");
	gate_finish(&gate, other);
	must(gpumem_free_own(next));
	(void)trim(pool);
	is_uint(stats_of(pool).pending_bytes, 0, "till that is over");
}

/* Whose stream is gone: its last work is waited for, and no other. */
static void test_dropped(size_t bytes)
{
	struct gate gate = {0};
	gpumem_stream brief = new_stream();
	void *ptr = new_block(pool, bytes, brief), *next;

	gate_launch(&gate, brief, ptr, bytes);
	must(gpumem_pool_drop_stream(pool, brief));
	must(gpumem_free_own(ptr));
	is_uint(stats_of(pool).blocks.current, 0,
		"%zu bytes: freed without a stream", bytes);
	next = new_block(pool, bytes, stream);
	ok(next != ptr, "not used again while its stream's work runs");
	gate_finish(&gate, brief);
	must(gpumem_free_own(next));
	(void)trim(pool);
	(void)trim(pool);
	is_uint(reserved_of(pool), 0, "which ends");
	must(gpumem_stream_destroy(device, brief));
	sound(pool, "sound");
}

/* In a capture it goes back to the graph that it came from. */
static void test_graph(size_t bytes)
{
	gpumem_graph *graph = NULL;
	void *before = new_block(pool, bytes, stream), *ptr, *again;

	must(gpumem_graph_create(pool, &graph));
	must(gpumem_graph_begin(graph, stream));
	must(gpumem_host_capture(0, stream, true));
	ptr = new_block(pool, bytes, stream);
	must(gpumem_free_own(ptr));
	again = new_block(pool, bytes, stream);
	is_ptr(again, ptr, "%zu bytes: a graph's block goes back to it", bytes);
	must(gpumem_free_own(before));
	must(gpumem_host_capture(0, stream, false));
	must(gpumem_graph_end(graph, stream));
	must(gpumem_free_own(again));
	sound(pool, "sound");
	must(gpumem_graph_destroy(graph, stream));
	is_uint(gpumem_host_capture_violations(), 0, "no capture is disturbed");
	is_uint(stats_of(pool).blocks.current, 0, "nothing is live");
}

/* ---- with a size ---- */

static void sized(void *ptr, uint64_t bytes, const char *what)
{
	struct gpumem_stats before = stats_of(pool), now;

	is_status(gpumem_free_sized(ptr, (size_t)bytes, stream), GPUMEM_INVALID,
		  "%s is refused", what);
	ok(strstr(last_text(), "were requested"), "says: %s", last_text());
	now = stats_of(pool);
	ok(!memcmp(&now, &before, sizeof(now)), "nothing is changed");
}

static void test_sized(size_t bytes)
{
	void *ptr = new_block(pool, bytes, stream), *again;
	uint64_t usable = 0;

	must(gpumem_usable_bytes(ptr, &usable));
	sized(ptr, bytes - 1, "less than was requested");
	sized(ptr, usable + 1, "more than it holds");
	sized(ptr, 0, "nothing");
	sized(ptr, SIZE_MAX, "everything");
	must(gpumem_free_sized(ptr, bytes, stream));
	again = new_block(pool, bytes, stream);
	is_ptr(again, ptr, "%zu bytes: with what was requested", bytes);
	must(gpumem_use_on(again, other));
	sized(again, usable + 1, "more than it holds, used elsewhere");
	must(gpumem_free_sized(again, (size_t)usable, stream));
	is_uint(stats_of(pool).blocks.current, 0, "or with what it holds");
	is_status(gpumem_free_sized(again, bytes, stream), GPUMEM_BAD_POINTER,
		  "but not twice");
	must(gpumem_stream_sync(device, other));
	(void)trim(pool);
}

/* ---- what is no block ---- */

static void bad(void *ptr, const char *what)
{
	is_status(gpumem_free_own(ptr), GPUMEM_BAD_POINTER, "%s: %s", what,
		  last_text());
	is_status(gpumem_free_sized(ptr, 1000, stream), GPUMEM_BAD_POINTER,
		  "with a size too");
}

static void test_bad(size_t bytes)
{
	char *ptr = new_block(pool, bytes, stream);

	bad(ptr + 1, "inside a block");
	bad(&ptr, "not on the device");
	must(gpumem_free_own(ptr));
	bad(ptr, "freed already");
	must(gpumem_free_own(NULL));
	must(gpumem_free_sized(NULL, 77, stream));
	sound(pool, "sound");
}

static void run(bool vm)
{
	device_start("1GiB", vm);
	pool = new_pool(0);
	stream = new_stream();
	other = new_stream();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		test_cached(sizes[i]);
		test_thread(sizes[i]);
		test_used(sizes[i]);
		test_dropped(sizes[i]);
		test_graph(sizes[i]);
		test_sized(sizes[i]);
		test_bad(sizes[i]);
	}
	test_many();
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_stream_destroy(device, other));
	ok(device_end(), "nothing is left");
}

int main(void)
{
	alarm(120);
	/* No stream gets what another is at work on by waiting for it. */
	must(gpumem_option_set("stream_waste", "1000%"));
	run(true);
	run(false);
	return done_testing();
}
