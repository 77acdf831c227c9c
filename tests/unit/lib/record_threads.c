/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Recordings of many threads. They hand each other blocks, small and large, so
 * that the same addresses go round: sorted by time no address is ever live
 * twice, nor ends without having begun, in none of the recordings that begin
 * and end meanwhile. Threads that come and go do not use the file up.
 */
#include "fixture.h"
#include "../../recording_judge.h"

enum { THREADS = 8, PLACES = 24, BATCH = 400 };

static char path[64];
static gpumem_pool *pool, *other;
static gpumem_stream stream;
static _Atomic(void *) place[PLACES];
static _Atomic bool stop;
static _Atomic unsigned failures;

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

static void *fresh(uint64_t number)
{
	static const size_t sizes[] = {200, 256, 1000, 16384, 100000, MIB};
	gpumem_status status;
	void *ptr = NULL;

	status = gpumem_alloc(number >> 20 & 1 ? pool : other,
			      sizes[(number >> 8) % 6],
			      number >> 24 & 1 ? stream : NULL, &ptr);
	if (status)
		atomic_fetch_add(&failures, 1);
	return ptr;
}

/* Whoever takes a block out of its place frees it, or gives it another size. */
static void *swap(void *arg)
{
	uint64_t state = 88172645463325252u + (uintptr_t)arg * 977;

	while (!atomic_load(&stop)) {
		uint64_t number = next(&state);
		void *ptr =
			atomic_exchange(&place[number % PLACES], fresh(number));

		if (ptr && number >> 32 & 1)
			(void)GPUMEM_IGNORE(gpumem_resize(
				ptr, 150, number >> 33 & 1 ? stream : NULL,
				NULL));
		if (ptr && gpumem_free(ptr, number >> 40 & 1 ? stream : NULL))
			atomic_fetch_add(&failures, 1);
	}
	return NULL;
}

static void judge(struct recording *recording, size_t *most)
{
	rec_read(path, recording);
	rec_judge(recording);
	if (recording->bad || recording->twice || recording->unknown ||
	    recording->sizes || recording->header.lost_events ||
	    recording->header.overwritten_events) {
		diag("%zu bad, %zu twice, %zu unknown, %zu sizes, %llu lost",
		     recording->bad, recording->twice, recording->unknown,
		     recording->sizes, (ull)recording->header.lost_events);
		atomic_fetch_add(&failures, 1);
	}
	if (recording->count > *most)
		*most = recording->count;
	rec_free(recording);
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

static void test_swaps(void)
{
	const struct timespec pause = {.tv_nsec = 3000000};
	struct recording recording;
	pthread_t thread[THREADS];
	size_t most = 0;

	start(thread, THREADS, swap);
	/* As long as it takes for one that says something. */
	for (unsigned i = 0; i < scaled(60, 15) || most <= 1000; i++) {
		must(gpumem_record_begin(path, 128 * MIB));
		nanosleep(&pause, NULL);
		must(gpumem_record_end());
		judge(&recording, &most);
	}
	atomic_store(&stop, true);
	finish(thread, THREADS);
	ok(!atomic_load(&failures), "every recording is right");
	ok(most > 1000, "one has %zu events", most);
}

/* At the end all that is live is what the pools say. */
static void test_sums(void)
{
	struct recording recording;
	pthread_t thread[THREADS];
	uint64_t live;

	atomic_store(&stop, false);
	must(gpumem_record_begin(path, 256 * MIB));
	start(thread, THREADS, swap);
	sleep(1);
	atomic_store(&stop, true);
	finish(thread, THREADS);
	live = stats_of(pool).requested.current +
	       stats_of(other).requested.current;
	must(gpumem_record_end());
	rec_read(path, &recording);
	rec_judge(&recording);
	is_uint(recording.live_bytes, live, "what is live at the end");
	ok(!recording.twice && !recording.unknown && !recording.bad,
	   "of %zu events", recording.count);
	rec_free(&recording);
	ok(!atomic_load(&failures), "no call failed");
}

static void *few(void *unused)
{
	void *ptr;

	(void)unused;
	for (unsigned i = 0; i < 4; i++)
		if (gpumem_alloc(pool, 1000, NULL, &ptr) ||
		    gpumem_free(ptr, NULL))
			atomic_fetch_add(&failures, 1);
	return NULL;
}

static void test_short_lives(void)
{
	const unsigned lives = scaled(2000, 200);
	struct recording recording;
	pthread_t thread;

	must(gpumem_record_begin(path, 2 * MIB));
	for (unsigned i = 0; i < lives; i++) {
		start(&thread, 1, few);
		finish(&thread, 1);
	}
	must(gpumem_record_end());
	rec_read(path, &recording);
	rec_judge(&recording);
	ok(!recording.header.lost_events &&
		   !recording.header.overwritten_events &&
		   recording.chunks <= 8 && !recording.bad,
	   "%u threads, one after the other, take %zu chunks", lives,
	   recording.chunks);
	ok(recording.count >= 8 * lives && !recording.unknown &&
		   !recording.twice,
	   "and all that they did is there");
	rec_free(&recording);
}

/* More threads that write than there are chunks: they lose events, no more. */
enum { MANY = 24 };

static pthread_barrier_t all;

static void *hold(void *unused)
{
	few(unused);
	pthread_barrier_wait(&all);
	pthread_barrier_wait(&all);
	return NULL;
}

static void test_too_many(void)
{
	struct recording recording;
	pthread_t thread[MANY];

	pthread_barrier_init(&all, NULL, MANY + 1);
	must(gpumem_record_begin(path, MIB));
	start(thread, MANY, hold);
	pthread_barrier_wait(&all);
	must(gpumem_record_end());
	pthread_barrier_wait(&all);
	finish(thread, MANY);
	rec_read(path, &recording);
	rec_judge(&recording);
	ok(recording.header.lost_events > 0 && !recording.bad &&
		   !recording.twice,
	   "%d threads, %zu chunks: %llu events are lost, and counted", MANY,
	   recording.chunks, (ull)recording.header.lost_events);
	ok(!atomic_load(&failures), "no call failed");
	rec_free(&recording);
	pthread_barrier_destroy(&all);
}

int main(void)
{
	alarm(scaled(240, 480));
	snprintf(path, sizeof(path), "/tmp/gpumem-record-threads.%ld",
		 (long)getpid());
	device_start("1GiB", true);
	pool = new_pool(0);
	other = new_pool(0);
	stream = new_stream();
	test_swaps();
	test_sums();
	test_short_lives();
	test_too_many();
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_pool_destroy(other, GPUMEM_DESTROY_FORCE));
	must(gpumem_stream_destroy(device, stream));
	ok(device_end(), "all given back");
	unlink(path);
	return done_testing();
}
