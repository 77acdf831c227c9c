/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Tags of many threads, which hand each other blocks, so that most are freed by
 * another thread than the one whose tag they have, with or without a tag of its
 * own. Meanwhile the pools are walked: what is counted by tag is what the live
 * blocks have, at every moment at which all threads are stopped. Threads that
 * come and go leave nothing behind.
 */
#include "tags.h"

enum { THREADS = 6, PLACES = 32, TAGS = 24 };

static gpumem_pool *pools[2];
static gpumem_stream stream;
static _Atomic(void *) place[PLACES];
static _Atomic bool stop;
static _Atomic unsigned failures;
static uint32_t tag[TAGS];

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

static void *fresh(uint64_t number)
{
	static const size_t sizes[] = {200, 256, 1000, 16384, 100000, MIB};
	void *ptr = NULL;

	if (gpumem_alloc(pools[number >> 20 & 1], sizes[(number >> 8) % 6],
			 number >> 24 & 1 ? stream : NULL, &ptr))
		atomic_fetch_add(&failures, 1);
	return ptr;
}

static void step(uint64_t number)
{
	void *ptr;

	/* Now and then another tag, or none. */
	if (!(number >> 48 & 7) &&
	    gpumem_tag_set(number >> 52 & 1 ? tag[(number >> 53) % TAGS] : 0))
		atomic_fetch_add(&failures, 1);
	ptr = atomic_exchange(&place[number % PLACES], fresh(number));
	if (ptr && number >> 32 & 1)
		(void)GPUMEM_IGNORE(gpumem_resize(
			ptr, 150, number >> 33 & 1 ? stream : NULL, NULL));
	if (ptr && gpumem_free(ptr, number >> 40 & 1 ? stream : NULL))
		atomic_fetch_add(&failures, 1);
}

static void *swap(void *arg)
{
	uint64_t state = 88172645463325252u + (uintptr_t)arg * 977;

	while (!atomic_load(&stop))
		step(next(&state));
	return NULL;
}

static void *swap_a_little(void *arg)
{
	uint64_t state = 362436069u + (uintptr_t)arg * 1237;

	for (unsigned i = 0; i < 40; i++)
		step(next(&state));
	return NULL;
}

static void start(pthread_t *thread, unsigned count, void *(*fn)(void *))
{
	for (uintptr_t i = 0; i < count; i++)
		if (pthread_create(&thread[i], NULL, fn, (void *)(i + 1)))
			bail("no thread");
}

static void finish(const pthread_t *thread, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
}

/* Of one moment: what has no tag is what is left, and never less than none. */
static bool judge_row(const struct gpumem_tag *row, void *user)
{
	unsigned *rows = user;

	if ((int64_t)row->bytes.current < 0 ||
	    row->bytes.current > row->bytes.peak ||
	    (int64_t)row->blocks.current < 0 ||
	    row->blocks.current > row->blocks.peak)
		atomic_fetch_add(&failures, 1);
	*rows += 1;
	return true;
}

static void test_walks(void)
{
	pthread_t thread[THREADS];
	unsigned rows = 0;

	start(thread, THREADS, swap);
	for (unsigned i = 0; i < scaled(400, 60); i++) {
		if (gpumem_pool_check(pools[i % 2])) {
			diag("%s", last_text());
			atomic_fetch_add(&failures, 1);
		}
		must(gpumem_tag_visit(pools[i % 2], judge_row, &rows));
		if (i % 16 == 0)
			must(gpumem_pool_reset_stats(pools[i % 2], 0));
		gate_sleep();
	}
	atomic_store(&stop, true);
	finish(thread, THREADS);
	ok(!atomic_load(&failures), "every walk agrees, no call fails");
	ok(rows > 40, "%u rows", rows);
	tags_agree(pools[0]);
	tags_agree(pools[1]);
}

static void test_short_lives(void)
{
	pthread_t thread[2];

	for (unsigned i = 0; i < scaled(300, 40); i++) {
		start(thread, 2, swap_a_little);
		finish(thread, 2);
	}
	ok(!atomic_load(&failures), "threads that end");
	tags_agree(pools[0]);
	tags_agree(pools[1]);
}

/* Two threads: one's blocks are freed by the other. The peak is not below what
 * there was at once, nor above by more than what caches hide. */
enum { BLOCKS = 200, ROUNDS = 300, BYTES = 4000 };

static void *blocks[BLOCKS];
static pthread_barrier_t turn;

static void *free_all(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&turn);
		for (unsigned k = 0; k < BLOCKS; k++)
			if (gpumem_free(blocks[k], stream))
				atomic_fetch_add(&failures, 1);
		pthread_barrier_wait(&turn);
	}
	return NULL;
}

static void test_peak(void)
{
	const uint64_t most = (uint64_t)BLOCKS * BYTES;
	pthread_t thread;
	struct gpumem_tag row;

	pthread_barrier_init(&turn, NULL, 2);
	start(&thread, 1, free_all);
	must(gpumem_tag_push("peak"));
	for (unsigned i = 0; i < ROUNDS; i++) {
		for (unsigned k = 0; k < BLOCKS; k++)
			blocks[k] = new_block(pools[0], BYTES, stream);
		pthread_barrier_wait(&turn);
		pthread_barrier_wait(&turn);
	}
	finish(&thread, 1);
	pthread_barrier_destroy(&turn);
	row = tag_row(pools[0], gpumem_tag_get());
	must(gpumem_tag_pop());
	is_uint(row.bytes.total, most * ROUNDS, "the total is exact");
	is_uint(row.blocks.current, 0, "nothing is left");
	ok(row.bytes.peak >= most && row.blocks.peak >= BLOCKS,
	   "no peak is too low: %llu", (ull)row.bytes.peak);
	ok(row.bytes.peak <= most + 64 * MIB, "nor far too high, of %llu",
	   (ull)row.bytes.total);
}

int main(void)
{
	alarm(scaled(240, 480));
	device_start("1GiB", true);
	for (unsigned i = 0; i < 2; i++)
		pools[i] = new_pool(0);
	stream = new_stream();
	for (unsigned i = 0; i < TAGS; i++) {
		char path[32];

		snprintf(path, sizeof(path), "part%u/piece%u", i / 4, i);
		must(gpumem_tag_intern(path, &tag[i]));
	}
	test_walks();
	test_short_lives();
	test_peak();
	for (unsigned i = 0; i < PLACES; i++)
		must(gpumem_free(atomic_load(&place[i]), NULL));
	for (unsigned i = 0; i < 2; i++) {
		tags_agree(pools[i]);
		must(gpumem_pool_destroy(pools[i], 0));
	}
	must(gpumem_stream_destroy(device, stream));
	ok(device_end(), "all given back");
	return done_testing();
}
