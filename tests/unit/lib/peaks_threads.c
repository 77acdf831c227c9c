/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The peaks of several threads are never below the true ones, which are kept
 * under a lock, and at most cache_bound_bytes above them. Those of one thread
 * are in peaks.c.
 */
#include "peaks.h"
#include <pthread.h>

enum { THREADS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the model */

/* True: the peaks are not below the true ones, and at most so far above. */
static bool bounded(const struct gpumem_stats *s, const char *what)
{
	const struct {
		const char *name;
		uint64_t peak, truth;
	} of[] = {
		{"requested", s->requested.peak, model.requested.peak},
		{"allocated", s->allocated.peak, model.allocated.peak},
		{"active", s->active.peak, model.active.peak},
		{"blocks", s->blocks.peak, model.blocks.peak},
	};
	bool good = true;

	for (size_t i = 0; i < 4; i++) {
		uint64_t most = of[i].truth + s->cache_bound_bytes;

		if (of[i].peak >= of[i].truth && (i == 3 || of[i].peak <= most))
			continue;
		good = false;
		diag("%s: %s: peak %" PRIu64 ", true %" PRIu64
		     ", bound %" PRIu64,
		     what, of[i].name, of[i].peak, of[i].truth,
		     s->cache_bound_bytes);
	}
	return good;
}

static void release_last(struct live *live, unsigned *count)
{
	struct live *last = &live[--*count];

	release(last, last->stream, false);
}

static unsigned used_streams;
static bool good; /* so far; under the lock */

/* Now and then; and once all begins anew. */
static void look(bool reset)
{
	struct gpumem_stats stats = stats_of(pool);

	good = bounded(&stats, "meanwhile") && good;
	if (!reset)
		return;
	must(gpumem_pool_reset_stats(pool, 0));
	model_reset();
}

/* Every call is made under the lock, so that there is one order, and a true
 * peak; which thread is next is the scheduler's choice. */
static void *crowd(void *arg)
{
	const uint64_t number = (uint64_t)(uintptr_t)arg;
	const long steps = scaled(20000, 4000);
	struct live live[LIVE];
	uint64_t state = number;
	unsigned count = 0;

	for (long i = 0; i < steps || count; i++) {
		/* Now more and more, now less and less. */
		bool more = i < steps && (uint64_t)(i / 150) % 3 != number % 3;

		pthread_mutex_lock(&lock);
		if (count && roll(&state, 8) == 0)
			(void)resize(&live[roll(&state, count)],
				     random_bytes(&state));
		else if (count &&
			 (count == LIVE || roll(&state, 4) >= (more ? 3 : 1)))
			release_last(live, &count);
		else if (i < steps)
			allocate(&live[count++], random_bytes(&state),
				 (unsigned)roll(&state, used_streams));
		if (i % 1000 == 999)
			look(number == 1 && i == steps / 2 - 1);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void crowded(unsigned used)
{
	pthread_t thread[THREADS];
	struct gpumem_stats s;

	memset(&model, 0, sizeof(model));
	pool = new_pool(0);
	used_streams = used;
	good = true;
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, crowd, (void *)(i + 1)))
			bail("no thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	s = stats_of(pool);
	ok(bounded(&s, "in the end") && good,
	   "%u threads on %u streams: no peak is too low, nor too high",
	   THREADS, used);
	diag("peak %" PRIu64 " KiB, true %" PRIu64 ", bound %" PRIu64,
	     s.active.peak / KIB, model.active.peak / KIB,
	     s.cache_bound_bytes / KIB);
	ok(s.cache_bound_bytes <= model.active.peak / 32,
	   "and the bound says something");
	must(gpumem_pool_destroy(pool, 0));
}

/* ---- a forward pass on one thread, the backward pass on another ---- */

enum { LAYERS = 40, PASSES = 6 };

static struct live layer[LAYERS];

/* Its own small blocks go round in its cache meanwhile. */
static void scratch(uint64_t *state)
{
	struct live own;

	allocate(&own, random_bytes(state), 0);
	release(&own, 0, false);
}

static void *forward(void *arg)
{
	uint64_t *state = arg;

	for (unsigned i = 0; i < LAYERS; i++) {
		allocate(&layer[i], 1 + roll(state, 4 * MIB), 0);
		scratch(state);
	}
	return NULL;
}

static void *backward(void *arg)
{
	uint64_t *state = arg;
	struct live spike;

	allocate(&spike, 1 + roll(state, 60 * MIB), 0);
	for (unsigned i = LAYERS; i-- > 0;) {
		release(&layer[i], 0, false);
		scratch(state);
	}
	release(&spike, 0, false);
	return NULL;
}

/* Two threads that stay, one at work at a time. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned turn, turns;
	uint64_t state;
} passes = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 7};

static void *in_turn(void *arg)
{
	const unsigned own = (unsigned)(uintptr_t)arg;

	pthread_mutex_lock(&passes.lock);
	while (passes.turns < 2 * PASSES) {
		if (passes.turn != own) {
			pthread_cond_wait(&passes.changed, &passes.lock);
			continue;
		}
		(void)(own ? backward : forward)(&passes.state);
		passes.turn = !own;
		passes.turns++;
		pthread_cond_broadcast(&passes.changed);
	}
	pthread_mutex_unlock(&passes.lock);
	return NULL;
}

static void trained(void)
{
	pthread_t thread[2];
	struct gpumem_stats s;

	memset(&model, 0, sizeof(model));
	pool = new_pool(0);
	for (uintptr_t i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, in_turn, (void *)i))
			bail("no thread");
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	s = stats_of(pool);
	ok(bounded(&s, "training"),
	   "threads that take turns: no peak is too low, nor too high");
	ok(s.cache_bound_bytes <= model.active.peak / 128 &&
		   s.active.peak <= model.active.peak / 128 * 129,
	   "and they are nearly exact: peak %" PRIu64 " KiB, true %" PRIu64
	   ", bound %" PRIu64,
	   s.active.peak / KIB, model.active.peak / KIB,
	   s.cache_bound_bytes / KIB);
	must(gpumem_pool_destroy(pool, 0));
}

/* ---- what is pending is active, and not allocated ---- */

enum { HUGE_BYTES = 200 * MIB };

/* A block that another stream still uses: `active` stays as it is, until that
 * stream is done, since no other block may wait for it. */
static void leave_pending(size_t bytes)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	struct live live;
	void *ptr;

	options.flags = GPUMEM_ALLOC_NO_WAIT;
	must(gpumem_alloc_with(pool, bytes, streams[0], &options, &ptr, NULL));
	count(&live, ptr, bytes, 0);
	must(gpumem_use_on(live.ptr, streams[1]));
	release(&live, 0, true);
}

static void *large_one(void *unused)
{
	struct live live;

	(void)unused;
	allocate(&live, HUGE_BYTES + HUGE_BYTES / 4, 0);
	release(&live, 0, false);
	return NULL;
}

/* `active` has been twice as high as what was allocated. Then a huge block
 * comes out of this thread's cache, goes back there, and another thread
 * allocates as much: the two never were live together. */
static void pending(void)
{
	struct gate gate;
	struct gpumem_stats s;
	struct live huge;
	pthread_t thread;

	memset(&model, 0, sizeof(model));
	pool = new_pool(0);
	gate_launch(&gate, streams[1], NULL, 0);
	leave_pending(HUGE_BYTES + HUGE_BYTES / 2);
	leave_pending(HUGE_BYTES + HUGE_BYTES / 2);
	gate_open(&gate);
	must(gpumem_stream_sync(device, streams[1]));
	must(gpumem_pool_trim(pool, 0, NULL));
	model.active.now = 0;
	for (int i = 0; i < 2; i++) {
		allocate(&huge, HUGE_BYTES, 0);
		release(&huge, 0, false);
	}
	if (pthread_create(&thread, NULL, large_one, NULL))
		bail("no thread");
	pthread_join(thread, NULL);
	s = stats_of(pool);
	ok(bounded(&s, "pending"),
	   "after what was pending: no peak is too low, nor too high");
	ok(s.allocated.peak <= model.allocated.peak / 128 * 129,
	   "and that of what is allocated is nearly exact: %" PRIu64
	   " KiB, true %" PRIu64,
	   s.allocated.peak / KIB, model.allocated.peak / KIB);
	must(gpumem_pool_destroy(pool, 0));
}

int main(void)
{
	open_device(300);
	for (int i = 1; i < STREAMS; i++)
		streams[i] = new_stream();
	crowded(1);
	crowded(3);
	trained();
	pending();
	for (int i = 1; i < STREAMS; i++)
		must(gpumem_stream_destroy(device, streams[i]));
	must(gpumem_device_close(device));
	return done_testing();
}
