/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Words of many threads' blocks. Each block has one owner at a time, who checks
 * and sets its word; another thread names a stream that uses it meanwhile, and
 * the pool is walked. No word is lost, none is another block's, and a new block
 * has none.
 */
#include "fixture.h"

enum { THREADS = 4, PLACES = 24 };

static gpumem_pool *pool;
static gpumem_stream stream, other;
static _Atomic(char *) place[PLACES];
static _Atomic bool stop;
static _Atomic unsigned failures;

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

static void need(bool holds)
{
	if (!holds)
		atomic_fetch_add(&failures, 1);
}

/* The word of a block is where it lies, or a little behind. */
static void change(char *ptr, uint64_t number)
{
	void *user = NULL;

	need(!gpumem_block_get_user(ptr, &user) && (char *)user >= ptr &&
	     (char *)user < ptr + 16);
	need(!gpumem_block_set_user(ptr, ptr + number % 16));
}

static char *fresh(uint64_t number)
{
	static const size_t sizes[] = {200, 256, 1000, 16384, 100000, MIB};
	void *ptr = NULL, *user = &user;

	need(!gpumem_alloc(pool, sizes[(number >> 8) % 6],
			   number >> 24 & 1 ? stream : NULL, &ptr));
	need(!gpumem_block_get_user(ptr, &user) && !user);
	need(!gpumem_block_set_user(ptr, ptr));
	return ptr;
}

static void step(uint64_t number)
{
	char *ptr = atomic_exchange(&place[number % PLACES], NULL);

	if (!ptr)
		ptr = fresh(number);
	change(ptr, number >> 16);
	if (!(number >> 28 & 3))
		need(!gpumem_use_on(ptr, other));
	change(ptr, number >> 12);
	if (!(number >> 30 & 3)) {
		need(!gpumem_free(ptr, number >> 40 & 1 ? stream : NULL));
		return;
	}
	ptr = atomic_exchange(&place[number % PLACES], ptr);
	if (ptr)
		need(!gpumem_free_own(ptr));
}

static void *swap(void *arg)
{
	uint64_t state = 88172645463325252u + (uintptr_t)arg * 977;

	while (!atomic_load(&stop))
		step(next(&state));
	return NULL;
}

static void test_owners(void)
{
	pthread_t thread[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, swap, (void *)(i + 1)))
			bail("no thread");
	for (unsigned i = 0; i < scaled(400, 60); i++) {
		if (gpumem_pool_check(pool)) {
			diag("%s", last_text());
			atomic_fetch_add(&failures, 1);
		}
		gate_sleep();
	}
	atomic_store(&stop, true);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < PLACES; i++)
		need(!gpumem_free_own(atomic_exchange(&place[i], NULL)));
	is_uint(atomic_load(&failures), 0, "each block keeps its owner's word");
}

/* ---- a word and a use, noted at one time ---- */

enum { BLOCKS = 64 };

static char *block[BLOCKS];
static pthread_barrier_t barrier;

static void *use_all(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < BLOCKS; i++)
		need(!gpumem_use_on(block[i], other));
	return NULL;
}

static void round_of_both(size_t bytes)
{
	pthread_t thread;

	for (unsigned i = 0; i < BLOCKS; i++)
		must(gpumem_alloc(pool, bytes, stream, (void **)&block[i]));
	if (pthread_create(&thread, NULL, use_all, NULL))
		bail("no thread");
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < BLOCKS; i++)
		need(!gpumem_block_set_user(block[i], block[i]));
	pthread_join(thread, NULL);
	for (unsigned i = 0; i < BLOCKS; i++) {
		void *user = NULL;

		need(!gpumem_block_get_user(block[i], &user) &&
		     user == block[i]);
		need(!gpumem_free(block[i], stream));
	}
}

static void test_both(size_t bytes)
{
	struct gate gate = {0};

	atomic_store(&failures, 0);
	for (unsigned i = 0; i < scaled(300, 40); i++) {
		gate_launch(&gate, other, NULL, 0);
		round_of_both(bytes);
		if (stats_of(pool).pending_bytes < BLOCKS * bytes)
			atomic_fetch_add(&failures, 1);
		gate_finish(&gate, other);
		(void)trim(pool);
	}
	is_uint(atomic_load(&failures), 0,
		"%zu bytes: neither a word nor a use is lost", bytes);
}

int main(void)
{
	alarm(120);
	device_start("4GiB", true);
	pool = new_pool(0);
	stream = new_stream();
	other = new_stream();
	if (pthread_barrier_init(&barrier, NULL, 2))
		bail("no barrier");
	test_owners();
	test_both(1000);
	test_both(100000);
	sound(pool, "sound");
	is_uint(stats_of(pool).blocks.current, 0, "no block is live");
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_stream_destroy(device, other));
	ok(device_end(), "nothing is left behind");
	return done_testing();
}
