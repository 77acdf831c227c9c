/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Threads that share events: each records them again and again, on streams that
 * work, frees blocks after them, imports and asks them, while the others do the
 * same. Whatever an event stood for at a free, nobody writes the memory before:
 * the work on a stream fills a block with its number, and whoever gets the
 * block next looks at it once its own work is over.
 */
#include "fixture.h"

enum { THREADS = 4, EVENTS = 3, BYTES = 4096 };

static gpumem_pool *pool;
static gpumem_event *event[EVENTS];
static gpumem_stream user; /* that blocks are allocated on */
static _Atomic unsigned wrong, freed;

static void want(bool right, const char *what)
{
	if (right)
		return;
	atomic_fetch_add(&wrong, 1);
	diag("%s: %s", what, last_text());
}

struct look {
	const unsigned char *ptr;
	unsigned char value;
};

/* On the stream, after the fill: nobody else has written there. */
static void look(void *arg)
{
	const struct look *look = arg;

	for (int i = 0; i < BYTES; i += 512)
		if (look->ptr[i] != look->value)
			atomic_fetch_add(&wrong, 1);
}

/* A block of `user` may be memory that only `user` waits for. */
static void order_behind_user(gpumem_stream stream)
{
	gpumem_event *allocated = NULL;

	want(!gpumem_event_create(device, &allocated), "create");
	want(!gpumem_event_record(allocated, user), "record");
	want(!gpumem_stream_wait(device, stream, allocated), "wait");
	want(!gpumem_event_destroy(allocated), "destroy");
}

static void one_block(gpumem_stream stream, struct look *at, uint64_t number)
{
	gpumem_event *shared = event[number % EVENTS], *own = NULL;
	void *ptr = NULL;

	if (gpumem_alloc(pool, BYTES, user, &ptr))
		return;
	at->ptr = ptr;
	at->value = (unsigned char)number;
	order_behind_user(stream);
	want(!gpumem_fill(device, ptr, at->value, BYTES, stream), "fill");
	want(!gpumem_host_launch(0, stream, look, at), "launch");
	/* The shared one may stand for another thread's work by the time. */
	want(!gpumem_event_record(shared, stream), "record");
	want(!gpumem_event_create(device, &own), "create");
	want(!gpumem_event_record(own, stream), "record");
	want(!gpumem_free_after(ptr, own), "free");
	if (number % 3 == 0) {
		want(!gpumem_event_record(own, NULL), "record again");
		(void)!gpumem_event_query(shared);
		want(!gpumem_stream_wait(device, stream, shared), "wait");
	}
	want(!gpumem_event_destroy(own), "destroy");
	atomic_fetch_add(&freed, 1);
}

/* Blocks without work, after whatever the shared event stands for. */
static void shared_block(uint64_t number)
{
	void *ptr = NULL;

	if (gpumem_alloc(pool, number % 2 ? 300 : 3 * MIB, user, &ptr))
		return;
	want(!gpumem_free_after(ptr, event[number % EVENTS]), "free");
	if (number % 8 == 0)
		(void)!gpumem_event_sync(event[number % EVENTS]);
	if (number % 16 == 0)
		(void)!gpumem_pool_trim(pool, 0, NULL);
}

static void *work(void *unused)
{
	unsigned long rounds = (unsigned long)scaled(2000, 100);
	struct look *looks = calloc(rounds, sizeof(*looks));
	gpumem_stream stream = NULL;

	(void)unused;
	if (!looks || gpumem_stream_create(device, &stream))
		bail("a stream");
	for (unsigned long i = 0; i < rounds; i++) {
		one_block(stream, &looks[i], i);
		shared_block(i);
	}
	want(!gpumem_stream_sync(device, stream), "sync");
	want(!gpumem_stream_destroy(device, stream), "destroy");
	free(looks);
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];

	alarm(300);
	device_start("256MiB", true);
	pool = new_pool(128 * MIB);
	user = new_stream();
	for (int i = 0; i < EVENTS; i++)
		must(gpumem_event_create(device, &event[i]));
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, NULL))
			bail("no thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	is_uint(atomic_load(&wrong), 0, "%u blocks hold what was written",
		atomic_load(&freed));
	sound(pool, "the pool is sound");
	for (int i = 0; i < EVENTS; i++)
		must(gpumem_event_destroy(event[i]));
	must(gpumem_stream_destroy(device, user));
	trim(pool);
	is_uint(stats_of(pool).pending_bytes, 0, "nothing is pending");
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "the device is empty");
	return done_testing();
}
