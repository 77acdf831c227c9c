/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A thread that is to be cancelled finishes the call that it is in, and ends at
 * the next cancellation point after it: so nothing is left locked. Each thread
 * here has its own cancellation pending before it calls, so that the first
 * cancellation point inside would be its end.
 */
#include "fixture.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static gpumem_pool *pool;
static gpumem_stream stream;
static sem_t gate;
static _Atomic bool returned, went_on;

static void wait_at_gate(void *unused)
{
	(void)unused;
	sem_wait(&gate);
}

/* The stream is busy for a moment, long enough for the call to begin to wait.
 * If it does not come to wait, nothing is tried, and nothing fails. */
static void *open_gate(void *unused)
{
	(void)unused;
	usleep(50000);
	sem_post(&gate);
	return NULL;
}

static void sync_stream(void)
{
	must(gpumem_stream_sync(device, stream));
}

/* The limit is reached; what is pending has to be waited for. */
static void wait_for_memory(void)
{
	void *ptr = new_block(pool, 40 * MIB, NULL);

	must(gpumem_free(ptr, NULL));
}

static void end_caches(void)
{
	must(gpumem_pool_trim(pool, 0, NULL));
}

static void open_another(void)
{
	gpumem_device *another;

	must(gpumem_device_open("host:0", &another));
	must(gpumem_device_close(another));
}

static void make_pool(void)
{
	must(gpumem_pool_destroy(new_pool(0), 0));
}

static void fail_for_memory(void)
{
	void *ptr;

	if (gpumem_alloc(pool, 65 * MIB, NULL, &ptr) != GPUMEM_LIMIT)
		bail("there is no limit");
}

static void *cancelled(void *arg)
{
	void (*const *fn)(void) = arg;

	pthread_cancel(pthread_self());
	(*fn)();
	atomic_store(&returned, true);
	pthread_testcancel();
	atomic_store(&went_on, true);
	return NULL;
}

static void try(const char *what, void (*fn)(void), bool busy)
{
	pthread_t thread, opener;
	void *result, *ptr;

	atomic_store(&returned, false);
	atomic_store(&went_on, false);
	if (busy) {
		ptr = new_block(pool, 40 * MIB, NULL);
		must(gpumem_use_on(ptr, stream));
		must(gpumem_host_launch(0, stream, wait_at_gate, NULL));
		must(gpumem_free(ptr, NULL));
		pthread_create(&opener, NULL, open_gate, NULL);
	}
	pthread_create(&thread, NULL, cancelled, &fn);
	pthread_join(thread, &result);
	if (busy)
		pthread_join(opener, NULL);
	ok(atomic_load(&returned), "%s: the call is finished", what);
	ok(result == PTHREAD_CANCELED && !atomic_load(&went_on),
	   "%s: then the thread ends", what);
	/* Whatever were still locked would hold these up. */
	must(gpumem_free(new_block(pool, 40 * MIB, NULL), NULL));
	must(gpumem_stream_sync(device, stream));
	must(gpumem_pool_trim(pool, 0, NULL));
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "%s: all goes on", what);
}

static void quiet(gpumem_log_level level, const char *text, void *user)
{
	(void)level;
	(void)text;
	(void)user;
	pthread_testcancel();
}

int main(void)
{
	open_device(60);
	sem_init(&gate, 0, 0);
	pool = new_pool(64 * MIB);
	stream = new_stream();
	try("a stream is waited for", sync_stream, true);
	try("an allocation waits", wait_for_memory, true);
	try("a trim", end_caches, true);
	try("a device is opened", open_another, false);
	try("a pool comes and goes", make_pool, false);
	try("memory runs out", fail_for_memory, false);
	gpumem_log_set(GPUMEM_LOG_DEBUG, quiet, NULL);
	try("with a log", end_caches, true);
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_device_close(device));
	sem_destroy(&gate);
	return done_testing();
}
