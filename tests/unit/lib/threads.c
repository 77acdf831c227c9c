/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * One pool under everything at once: threads allocate and free on streams of
 * their own and on a common one, resize blocks, and free what others allocated,
 * while others trim, set limits, read statistics, check, visit, query, add and
 * remove callbacks, and make and unmake pools and streams. Each block carries
 * its number at both ends, so that memory given out twice shows. The threads
 * count what went wrong; main tells. Not here: what single calls do.
 */
#include "fixture.h"
#include <pthread.h>
#include <stdatomic.h>

enum { WORKERS = 4, KEPT = 24, QUEUE = 64 };

struct held {
	uint64_t *ptr;
	uint64_t number;
	size_t bytes;
	gpumem_stream stream;
};

struct worker {
	pthread_t thread;
	gpumem_stream stream;
	uint64_t random;
	size_t count;
	struct held held[KEPT];
};

static gpumem_pool *pool;
static struct worker workers[WORKERS];
static _Atomic uint64_t numbers;
static _Atomic bool stop;
static _Atomic unsigned long torn, failed, lawless, corrupt, wrong, pressed;
static _Atomic unsigned long resized;
static const char *_Atomic broken_law;

/* Blocks on their way from thread to thread. */
static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct held queue[QUEUE];
static size_t queued;

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Mostly small, some that a thread's cache keeps, a few that it does not. */
static size_t random_bytes(uint64_t *state)
{
	uint64_t r = next_random(state), kind = r % 16;

	r >>= 8;
	if (kind < 10)
		return 1 + r % (kind < 5 ? 2 * KIB : 64 * KIB);
	if (kind < 15)
		return 64 * KIB + 1 + r % 8 * 96 * KIB;
	return 4 * MIB + r % 5 * 8 * MIB;
}

static void stamp(const struct held *held)
{
	held->ptr[0] = held->number;
	held->ptr[held->bytes / 8 - 1] = held->number;
}

static void release(const struct held *held, gpumem_stream stream)
{
	if (held->ptr[0] != held->number ||
	    held->ptr[held->bytes / 8 - 1] != held->number)
		torn++;
	if (gpumem_free(held->ptr, stream))
		failed++;
}

/* Trades a block for what another thread left; *held.ptr is NULL when the
 * queue only took. */
static void trade(struct worker *me, struct held *held)
{
	struct held other = {0};
	size_t at;

	pthread_mutex_lock(&queue_mutex);
	if (queued < QUEUE) {
		queue[queued++] = *held;
	} else {
		at = next_random(&me->random) % QUEUE;
		other = queue[at];
		queue[at] = *held;
	}
	pthread_mutex_unlock(&queue_mutex);
	*held = other;
}

static void take(struct worker *me)
{
	struct held *held = &me->held[me->count];
	void *ptr = NULL;
	gpumem_status status;

	held->stream = next_random(&me->random) % 3 ? me->stream : NULL;
	held->bytes = (random_bytes(&me->random) + 7) / 8 * 8;
	status = gpumem_alloc(pool, held->bytes, held->stream, &ptr);
	/* The limits that another thread sets may be too tight. */
	if (status == GPUMEM_LIMIT)
		return;
	if (status) {
		failed++;
		return;
	}
	held->ptr = ptr;
	held->number = ++numbers;
	stamp(held);
	me->count++;
}

static void give(struct worker *me)
{
	uint64_t r = next_random(&me->random);
	struct held *slot = &me->held[r % me->count];
	struct held held = *slot;

	*slot = me->held[--me->count];
	r >>= 32;
	if (r % 4 == 0)
		trade(me, &held);
	if (!held.ptr)
		return;
	if (r % 7 == 0 && gpumem_use_on(held.ptr, me->stream))
		failed++;
	/* Where it was allocated, or on a stream that did not know it. */
	release(&held, r % 5 ? held.stream : me->stream);
}

/* What its first and last bytes were is still there. */
static void resize(struct worker *me)
{
	struct held *held = &me->held[next_random(&me->random) % me->count];
	size_t bytes = (random_bytes(&me->random) + 7) / 8 * 8;
	gpumem_status status =
		gpumem_resize(held->ptr, bytes, held->stream, NULL);

	if (status == GPUMEM_BUSY)
		return;
	if (status) {
		failed++;
		return;
	}
	if (held->ptr[0] != held->number ||
	    (bytes >= held->bytes &&
	     held->ptr[held->bytes / 8 - 1] != held->number))
		torn++;
	resized += bytes != held->bytes;
	held->bytes = bytes;
	stamp(held);
}

static void *work(void *arg)
{
	struct worker *me = arg;
	long rounds = scaled(150000, 15000);

	for (long i = 0; i < rounds; i++) {
		if (me->count < KEPT &&
		    (!me->count || next_random(&me->random) % 2))
			take(me);
		else if (next_random(&me->random) % 4)
			give(me);
		else
			resize(me);
	}
	while (me->count)
		give(me);
	return NULL;
}

/* ---- those who look ---- */

struct walk {
	uintptr_t end;
	bool broken;
};

static bool in_order(const struct gpumem_block *at, void *user)
{
	struct walk *walk = user;

	walk->broken |= at->bytes == 0 || (uintptr_t)at->ptr < walk->end;
	walk->end = (uintptr_t)at->ptr + at->bytes;
	return true;
}

static void query_own(void)
{
	struct gpumem_block found = GPUMEM_INIT(struct gpumem_block);
	void *ptr = NULL;

	if (gpumem_alloc(pool, 3000, NULL, &ptr))
		return;
	if (gpumem_query((char *)ptr + 2999, &found) || found.ptr != ptr ||
	    found.requested_bytes != 3000 || found.pool != pool)
		wrong++;
	if (gpumem_free(ptr, NULL))
		failed++;
}

static void *look(void *unused)
{
	(void)unused;
	while (!stop) {
		struct gpumem_stats stats = stats_of(pool);
		struct walk walk = {0};
		const char *law = unlawful(&stats);

		if (law) {
			broken_law = law;
			lawless++;
		}
		corrupt += gpumem_pool_check(pool) != GPUMEM_OK;
		wrong += gpumem_block_visit(pool, in_order, &walk) != GPUMEM_OK;
		wrong += walk.broken;
		query_own();
	}
	return NULL;
}

/* ---- those who meddle ---- */

static bool press(gpumem_pool *pressed_pool,
		  const struct gpumem_pressure *pressure, void *user)
{
	(void)user;
	pressed++;
	if (!pressure->needed_bytes || gpumem_pool_trim(pressed_pool, 0, NULL))
		failed++;
	return false;
}

static void *meddle(void *unused)
{
	uint64_t random = 88172645463325252u;

	(void)unused;
	while (!stop) {
		uint64_t r = next_random(&random), limit = r % 3 * 100 * MIB;
		gpumem_status status;

		failed += gpumem_pool_trim(pool, r % 5 * 40 * MIB, NULL) !=
			  GPUMEM_OK;
		failed += gpumem_pool_pressure_add(pool, press, &random) !=
			  GPUMEM_OK;
		status = gpumem_pool_set_limit(pool, limit);
		failed += status && status != GPUMEM_BUSY;
		failed += gpumem_pool_set_soft_limit(pool, limit / 2) !=
			  GPUMEM_OK;
		if (r % 2)
			failed += gpumem_pool_reset_stats(
					  pool, r % 4 == 1 ? GPUMEM_RESET_TOTALS
							   : 0) != GPUMEM_OK;
		usleep(100);
		failed += gpumem_pool_set_limit(pool, 0) != GPUMEM_OK;
		failed += gpumem_pool_set_soft_limit(pool, 0) != GPUMEM_OK;
		failed += gpumem_pool_pressure_remove(pool, press, &random) !=
			  GPUMEM_OK;
	}
	return NULL;
}

/* A stream and a pool that come and go, with blocks in both pools. */
static void *come_and_go(void *unused)
{
	(void)unused;
	while (!stop) {
		gpumem_stream stream = new_stream();
		gpumem_pool *other = new_pool(0);
		void *here = NULL, *there = new_block(other, 100 * KIB, stream);

		if (!gpumem_alloc(pool, 5 * KIB, stream, &here))
			must(gpumem_free(here, stream));
		must(gpumem_free(there, NULL));
		failed += gpumem_stream_destroy(device, stream) != GPUMEM_OK;
		failed += gpumem_pool_destroy(other, 0) != GPUMEM_OK;
	}
	return NULL;
}

static void run(void)
{
	void *(*const others[])(void *) = {look, meddle, come_and_go};
	pthread_t thread[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread[i], NULL, others[i], NULL))
			bail("no thread");
	for (unsigned i = 0; i < WORKERS; i++) {
		workers[i].stream = new_stream();
		workers[i].random = 0x9e3779b97f4a7c15u * (i + 1);
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			bail("no thread");
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
	stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
}

static void nothing_is_left(void)
{
	gpumem_stream streams[WORKERS];
	struct gpumem_stats stats;

	while (queued) {
		const struct held *held = &queue[--queued];

		release(held, held->stream);
	}
	is_uint(torn, 0, "no block was given out twice");
	for (int i = 0; i < WORKERS; i++)
		streams[i] = workers[i].stream;
	is_uint(trim_all(pool, streams, WORKERS), 0, "a trim gives all back");
	stats = stats_of(pool);
	is_uint(stats.blocks.current, 0, "no block is live");
	is_uint(stats.requested.current + stats.active.current, 0,
		"no byte is requested or active");
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "the pool is sound");
	for (int i = 0; i < WORKERS; i++)
		must(gpumem_stream_destroy(device, streams[i]));
	is_status(gpumem_pool_destroy(pool, 0), GPUMEM_OK, "destroy");
	is_uint(gpumem_host_used_bytes(0), 0, "the device holds nothing");
	is_status(gpumem_device_close(device), GPUMEM_OK, "close");
}

int main(void)
{
	open_device(120);
	pool = new_pool(0);
	run();
	is_uint(failed, 0, "no call failed that may not");
	ok(resized > 0, "%lu blocks were resized", (unsigned long)resized);
	is_uint(lawless, 0, "the law holds at every look: %s",
		broken_law ? broken_law : "never broken");
	is_uint(corrupt, 0, "the pool was sound at every look");
	is_uint(wrong, 0, "visits were in order and queries right");
	diag("%lu calls for help", (unsigned long)pressed);
	nothing_is_left();
	return done_testing();
}
