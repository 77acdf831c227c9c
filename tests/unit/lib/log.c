/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The log function is called without any lock: it may wait for a thread that
 * allocates, and may leave by longjmp. What a call has to tell is told before
 * the call returns.
 */
#include "fixture.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

static gpumem_pool *pool;
static pthread_mutex_t application = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_barrier_t barrier;
static _Atomic bool telling, served;
static unsigned told;

/* A call that makes a driver call under the pool's lock, which fails. */
static void fail_a_call(void)
{
	void *ptr;

	must(gpumem_host_faults("page_create@1;alloc@1"));
	if (!gpumem_alloc(pool, 100 * MIB, NULL, &ptr))
		must(gpumem_free(ptr, NULL));
	must(gpumem_host_faults(NULL));
}

/* ---- a lock of the program's ---- */

static void lock_and_tell(gpumem_log_level level, const char *text, void *user)
{
	(void)level;
	(void)text;
	(void)user;
	if (!atomic_exchange(&telling, true))
		pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&application);
	told++;
	pthread_mutex_unlock(&application);
}

/* Allocates under the lock that the log function wants, once that has been
 * called. */
static void *serve(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&application);
	pthread_barrier_wait(&barrier);
	must(gpumem_free(new_block(pool, 50 * MIB, NULL), NULL));
	must(gpumem_pool_trim(pool, 0, NULL));
	atomic_store(&served, true);
	pthread_mutex_unlock(&application);
	return NULL;
}

static void lock_order(void)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, serve, NULL);
	gpumem_log_set(GPUMEM_LOG_DEBUG, lock_and_tell, NULL);
	fail_a_call();
	ok(told > 0, "what failed is told before the call returns");
	pthread_join(thread, NULL);
	ok(atomic_load(&served),
	   "the log function waits for a thread that allocates");
	gpumem_log_set(GPUMEM_LOG_NONE, NULL, NULL);
	pthread_barrier_destroy(&barrier);
}

/* ---- no way back ---- */

static jmp_buf away;

static void jump(gpumem_log_level level, const char *text, void *user)
{
	(void)level;
	(void)text;
	(void)user;
	longjmp(away, 1);
}

static void *use_pool(void *unused)
{
	(void)unused;
	must(gpumem_free(new_block(pool, 50 * MIB, NULL), NULL));
	must(gpumem_pool_trim(pool, 0, NULL));
	return NULL;
}

static void *ends_here(void *unused)
{
	if (setjmp(away)) {
		pthread_cancel(pthread_self());
		pthread_testcancel();
		return unused;
	}
	fail_a_call();
	return unused;
}

static void jumps(void)
{
	static volatile unsigned rounds;
	pthread_t thread;
	void *result;

	gpumem_log_set(GPUMEM_LOG_DEBUG, jump, NULL);
	for (rounds = 0; rounds < 3; rounds++)
		if (!setjmp(away))
			fail_a_call();
	gpumem_log_set(GPUMEM_LOG_NONE, NULL, NULL);
	must(gpumem_host_faults(NULL));
	use_pool(NULL);
	pthread_create(&thread, NULL, use_pool, NULL);
	pthread_join(thread, NULL);
	is_status(gpumem_pool_check(pool), GPUMEM_OK,
		  "a longjmp out of the log function leaves nothing locked");
	gpumem_log_set(GPUMEM_LOG_DEBUG, jump, NULL);
	pthread_create(&thread, NULL, ends_here, NULL);
	pthread_join(thread, &result);
	gpumem_log_set(GPUMEM_LOG_NONE, NULL, NULL);
	must(gpumem_host_faults(NULL));
	ok(result == PTHREAD_CANCELED, "and the thread can be cancelled");
}

int main(void)
{
	open_device(60);
	pool = new_pool(0);
	lock_order();
	jumps();
	/* What was allocated by calls that did not return is live. */
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_device_close(device));
	return done_testing();
}
