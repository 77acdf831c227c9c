/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Views under everything at once: threads allocate, make views, hold some of
 * them beyond the block's end, and free what others allocated, on several
 * streams, while one trims and one checks. Each view carries its number at both
 * ends as long as anybody holds it, so that memory given out under a held view
 * shows. The threads count what went wrong; main tells.
 */
#include "fixture.h"

enum { WORKERS = 4, KEPT = 16, STREAMS = 3 };

struct held {
	void *ptr, *view; /* ptr NULL: freed, and the view is held */
	size_t bytes;
	uint64_t number;
	bool retained;
};

struct worker {
	pthread_t thread;
	uint64_t random;
	struct held held[KEPT];
};

static gpumem_pool *pool;
static gpumem_stream streams[STREAMS];
static struct worker workers[WORKERS];
static pthread_mutex_t swap_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct held swapped;
static _Atomic uint64_t numbers, quarantines;
static _Atomic unsigned long torn, failed, corrupt;
static _Atomic bool stop;

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t *ends(const struct held *held, uint64_t **last)
{
	char *memory = gpumem_host_object_memory(held->view);

	if (memory)
		*last = (void *)(memory + held->bytes - sizeof(uint64_t));
	return (void *)memory;
}

static void look(const struct held *held)
{
	uint64_t *last = NULL, *first;

	if (!held->view)
		return;
	first = ends(held, &last);
	if (!first || *first != held->number || *last != held->number)
		torn++;
}

static void take(struct worker *me, struct held *held)
{
	uint64_t r = next_random(&me->random), *last = NULL, *first;

	held->bytes = 16 + (r >> 8) % (r % 4 ? 4 * KIB : 2 * MIB) / 8 * 8;
	if (gpumem_alloc(pool, held->bytes, streams[r % STREAMS], &held->ptr)) {
		failed++;
		held->ptr = NULL;
		return;
	}
	if (r >> 40 & 1)
		return;
	if (gpumem_view(held->ptr, &held->view)) {
		failed++;
		return;
	}
	held->number = ++numbers;
	first = ends(held, &last);
	*first = *last = held->number;
	if (r >> 41 & 1) {
		gpumem_host_object_retain(held->view);
		held->retained = true;
	}
}

static void drop(struct worker *me, struct held *held)
{
	uint64_t r = next_random(&me->random);

	look(held);
	if (held->ptr && r % 8 == 0 &&
	    gpumem_use_on(held->ptr, streams[r >> 8 & 1]))
		failed++;
	if (held->ptr && gpumem_free(held->ptr, streams[(r >> 16) % STREAMS]))
		failed++;
	held->ptr = NULL;
	if (held->retained && r >> 20 & 1) {
		quarantines++; /* held on */
		return;
	}
	if (held->retained)
		gpumem_host_object_release(held->view);
	*held = (struct held){0};
}

static void swap(struct held *held)
{
	struct held mine = *held;

	pthread_mutex_lock(&swap_mutex);
	*held = swapped;
	swapped = mine;
	pthread_mutex_unlock(&swap_mutex);
}

static void *work(void *arg)
{
	struct worker *me = arg;

	for (long i = scaled(60000, 4000); i > 0; i--) {
		struct held *held = &me->held[next_random(&me->random) % KEPT];

		if (!held->ptr && !held->view)
			take(me, held);
		else if (next_random(&me->random) % 8 == 0)
			swap(held);
		else
			drop(me, held);
	}
	for (size_t i = 0; i < KEPT; i++)
		while (me->held[i].ptr || me->held[i].view)
			drop(me, &me->held[i]);
	return NULL;
}

static void *disturb(void *arg)
{
	while (!atomic_load(&stop)) {
		struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
		const char *broken;

		if (gpumem_pool_trim(pool, 0, NULL) ||
		    gpumem_pool_stats(pool, &stats))
			failed++;
		broken = unlawful(&stats);
		if (broken || stats.quarantined_bytes > stats.pending_bytes ||
		    gpumem_pool_check(pool))
			corrupt++;
		gate_sleep();
	}
	return arg;
}

int main(void)
{
	struct worker end = {.random = 5};
	pthread_t disturber;

	alarm(120);
	option("host.objects", "on");
	device_start("4GiB", true);
	pool = new_pool(0);
	for (int i = 1; i < STREAMS; i++)
		streams[i] = new_stream();
	if (pthread_create(&disturber, NULL, disturb, NULL))
		bail("no thread");
	for (int i = 0; i < WORKERS; i++) {
		workers[i].random = (uint64_t)i + 1;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			bail("no thread");
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
	atomic_store(&stop, true);
	pthread_join(disturber, NULL);
	while (swapped.ptr || swapped.view)
		drop(&end, &swapped);
	is_uint(torn, 0, "no view lost its bytes of %llu", (ull)numbers);
	is_uint(failed, 0, "no call failed");
	is_uint(corrupt, 0, "the pool was sound");
	ok(numbers > 1000 && quarantines, "views, and quarantines, there were");
	for (int i = 0; i < STREAMS; i++)
		must(gpumem_stream_sync(device, streams[i]));
	sound(pool, "sound in the end");
	trim(pool);
	trim(pool);
	is_uint(stats_of(pool).quarantined_bytes, 0, "no quarantine is left");
	is_uint(reserved_of(pool), 0, "nor memory");
	is_uint(gpumem_host_views(0), 0, "nor a view");
	must(gpumem_pool_destroy(pool, 0));
	for (int i = 1; i < STREAMS; i++)
		must(gpumem_stream_destroy(device, streams[i]));
	ok(device_end(), "the device is empty");
	return done_testing();
}
