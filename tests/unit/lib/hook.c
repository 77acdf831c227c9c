/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The hook: told of each block that is allocated, freed or used, small and
 * large, cached or not, in order, and of nothing else; while other threads come
 * and go through their caches, and while it is set and removed. Once it is
 * removed it is called no more.
 */
#include "fixture.h"

enum { THREADS = 4, LIVE = 4096 };

/* What the hook keeps. The pool's lock guards it. */
static struct log {
	struct gpumem_hook_event last;
	gpumem_pool *pool;
	uint64_t allocs, frees, uses, wrong;
	bool sequential; /* every live block was reported */
	void *live[LIVE];
	size_t live_count;
} log_of;

static _Atomic bool is_set; /* the hook may be called */

static void add_live(struct log *log, void *ptr)
{
	for (size_t i = 0; i < log->live_count; i++)
		log->wrong += log->live[i] == ptr;
	if (log->live_count == LIVE)
		log->wrong++;
	else
		log->live[log->live_count++] = ptr;
}

static void remove_live(struct log *log, const void *ptr)
{
	for (size_t i = 0; i < log->live_count; i++) {
		if (log->live[i] != ptr)
			continue;
		log->live[i] = log->live[--log->live_count];
		return;
	}
	log->wrong += log->sequential;
}

static void hook(gpumem_pool *pool, const struct gpumem_hook_event *event,
		 void *user)
{
	struct log *log = user;

	log->last = *event;
	log->pool = pool;
	log->wrong += !atomic_load(&is_set) || event->size != sizeof(*event) ||
		      !event->requested_bytes ||
		      event->requested_bytes > event->bytes;
	if (event->kind == GPUMEM_HOOK_ALLOC) {
		log->allocs++;
		add_live(log, event->ptr);
	} else if (event->kind == GPUMEM_HOOK_FREE) {
		log->frees++;
		remove_live(log, event->ptr);
	} else if (event->kind == GPUMEM_HOOK_USE_ON) {
		log->uses++;
	} else {
		log->wrong += event->kind != GPUMEM_HOOK_RESIZE;
	}
}

static void set(gpumem_pool *pool)
{
	log_of = (struct log){0};
	atomic_store(&is_set, true);
	must(gpumem_pool_hook_set(pool, hook, &log_of));
}

static void unset(gpumem_pool *pool)
{
	must(gpumem_pool_hook_set(pool, NULL, NULL));
	atomic_store(&is_set, false);
}

static void told(gpumem_hook_kind kind, const void *ptr, uint64_t requested,
		 gpumem_stream stream, const char *what)
{
	const struct gpumem_hook_event *last = &log_of.last;
	struct gpumem_block block = GPUMEM_INIT(struct gpumem_block);

	ok(last->kind == kind && last->ptr == ptr &&
		   last->requested_bytes == requested && last->stream == stream,
	   "%s is told of: kind %d, %llu bytes", what, (int)last->kind,
	   (ull)last->requested_bytes);
	if (kind == GPUMEM_HOOK_FREE)
		return;
	must(gpumem_query(ptr, &block));
	is_uint(last->bytes, block.bytes, "with what it holds");
}

static void one_block(gpumem_pool *pool, gpumem_stream stream, size_t bytes)
{
	void *ptr = new_block(pool, bytes, NULL);

	told(GPUMEM_HOOK_ALLOC, ptr, bytes, NULL, "an allocation");
	must(gpumem_resize(ptr, bytes - 1, NULL, NULL));
	told(GPUMEM_HOOK_RESIZE, ptr, bytes - 1, NULL, "a smaller size");
	must(gpumem_resize(ptr, bytes, NULL, NULL));
	told(GPUMEM_HOOK_RESIZE, ptr, bytes, NULL, "a larger one");
	must(gpumem_use_on(ptr, stream));
	told(GPUMEM_HOOK_USE_ON, ptr, bytes, stream, "a use");
	must(gpumem_free(ptr, NULL));
	told(GPUMEM_HOOK_FREE, ptr, bytes, NULL, "a free with a use");
	ptr = new_block(pool, bytes, stream);
	must(gpumem_free(ptr, stream));
	told(GPUMEM_HOOK_FREE, ptr, bytes, stream, "a free into the cache");
	ptr = new_block(pool, bytes, stream);
	told(GPUMEM_HOOK_ALLOC, ptr, bytes, stream, "one from what was freed");
	must(gpumem_free(ptr, NULL));
	told(GPUMEM_HOOK_FREE, ptr, bytes, NULL, "a free on another stream");
}

/* Blocks that the thread has cached before are no exception. */
static void test_kinds(void)
{
	gpumem_pool *pool = new_pool(0);
	gpumem_stream stream = new_stream();
	void *before = new_block(pool, 100, NULL), *ptr = NULL;

	must(gpumem_free(new_block(pool, 1000, NULL), NULL));
	must(gpumem_free(new_block(pool, 3 * MIB, stream), stream));
	set(pool);
	one_block(pool, stream, 1000);
	one_block(pool, stream, 3 * MIB);
	must(gpumem_alloc_aligned(pool, 100, 4096, NULL, &ptr));
	told(GPUMEM_HOOK_ALLOC, ptr, 100, NULL, "an aligned one");
	must(gpumem_free(ptr, NULL));
	is_ptr(log_of.pool, pool, "with the pool");
	is_uint(log_of.allocs, log_of.frees, "as many frees as allocations");
	must(gpumem_free(before, NULL));
	told(GPUMEM_HOOK_FREE, before, 100, NULL, "one from before");
	is_uint(log_of.live_count, 0, "none is live");
	is_uint(log_of.wrong, 0, "nothing was wrong");
	unset(pool);
	log_of.last.ptr = NULL;
	must(gpumem_free(new_block(pool, 1000, NULL), NULL));
	must(gpumem_free(new_block(pool, 3 * MIB, NULL), NULL));
	is_ptr(log_of.last.ptr, NULL, "removed, it is called no more");
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_pool_destroy(pool, 0));
}

/* What fails or is nothing is not told of. */
static void test_failures(void)
{
	gpumem_pool *pool = new_pool(8 * MIB), *other = new_pool(0);
	char *ptr = new_block(pool, 1000, NULL);
	void *none = NULL;

	set(pool);
	(void)!gpumem_alloc(pool, 9 * MIB, NULL, &none);
	(void)!gpumem_alloc(pool, SIZE_MAX, NULL, &none);
	(void)!gpumem_free(ptr + 1, NULL);
	(void)!gpumem_use_on(ptr + 1, NULL);
	must(gpumem_free(NULL, NULL));
	must(gpumem_alloc(pool, 0, NULL, &none));
	must(gpumem_free(new_block(other, 1000, NULL), NULL));
	is_uint(log_of.allocs + log_of.frees + log_of.uses, 0, "nothing");
	must(gpumem_free(ptr, NULL));
	(void)!gpumem_free(ptr, NULL);
	is_uint(log_of.frees, 1, "a double free is told of once");
	must(gpumem_pool_destroy(other, 0));
	(void)new_block(pool, 1000, NULL);
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	is_uint(log_of.frees, 1, "nor what goes by force");
	is_uint(log_of.wrong, 0, "nothing was wrong");
}

/* ---- while other threads use the pool ---- */

static gpumem_pool *shared;
static _Atomic bool stop;
static _Atomic long failed;

static void *churn(void *number)
{
	uint64_t state = (uint64_t)(uintptr_t)number * 7919 + 1;
	void *ptr[32] = {NULL};

	while (!stop) {
		size_t at, bytes;

		state = state * 6364136223846793005u + 1442695040888963407u;
		at = state >> 59;
		bytes = state >> 40 & 1 ? 100 + (state >> 50) % 9000
					: 70000 + (state >> 50) % 90000;
		failed += gpumem_free(ptr[at], NULL) != GPUMEM_OK;
		ptr[at] = NULL;
		failed += gpumem_alloc(shared, bytes, NULL, &ptr[at]) !=
			  GPUMEM_OK;
	}
	for (size_t i = 0; i < 32; i++)
		failed += gpumem_free(ptr[i], NULL) != GPUMEM_OK;
	return NULL;
}

static void run_threads(void (*meanwhile)(void))
{
	pthread_t thread[THREADS];

	stop = false;
	for (intptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, churn, (void *)(i + 1)))
			bail("no thread");
	meanwhile();
	stop = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	is_int(failed, 0, "nothing has failed");
}

static void wait_for_calls(void)
{
	struct gpumem_stats stats;

	do {
		gate_sleep();
		stats = stats_of(shared);
	} while (stats.blocks.total < (uint64_t)scaled(20000, 2000));
}

/* Set before the first block: what it is told is the whole truth. */
static void test_threads(void)
{
	shared = new_pool(0);
	set(shared);
	log_of.sequential = true;
	run_threads(wait_for_calls);
	is_uint(log_of.wrong, 0, "each block was free before, and live after");
	is_uint(log_of.live_count, 0, "none is left");
	is_uint(log_of.allocs, stats_of(shared).blocks.total,
		"as many as the pool has counted");
	unset(shared);
	sound(shared, "the pool is sound");
	must(gpumem_pool_destroy(shared, 0));
}

static void set_and_remove(void)
{
	long rounds = scaled(300, 30), idle = 0;

	for (long i = 0; i < rounds; i++) {
		uint64_t before, wrong;

		set(shared);
		while (!stats_of(shared).host_bytes)
			continue;
		unset(shared);
		/* No thread is in it any more: this may be looked at. */
		before = log_of.allocs + log_of.frees;
		for (int j = 0; j < 3; j++)
			(void)stats_of(shared);
		idle += log_of.allocs + log_of.frees != before;
		wrong = log_of.wrong;
		/* What was freed meanwhile it has not been told of. */
		set(shared);
		unset(shared);
		is_uint(wrong + log_of.wrong, 0, "round %ld", i);
	}
	is_int(idle, 0, "removed, it is called no more");
}

static void test_changes(void)
{
	shared = new_pool(0);
	run_threads(set_and_remove);
	sound(shared, "the pool is sound");
	must(gpumem_free(new_block(shared, 1000, NULL), NULL));
	must(gpumem_pool_destroy(shared, 0));
}

static void run(bool vm)
{
	device_start("256MiB", vm);
	test_kinds();
	test_failures();
	test_threads();
	test_changes();
	ok(device_end(), "nothing is left");
}

int main(void)
{
	alarm(120);
	for (int vm = 0; vm < 2; vm++)
		run(vm);
	return done_testing();
}
