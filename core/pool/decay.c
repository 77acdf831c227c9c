/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Who does the chores of decay (heap/decay.h): threads that are in the pool
 * anyway, and by option one thread that does nothing else. It blocks all
 * signals.
 */
#include "pool.h"
#include "base/error.h"
#include "base/option.h"
#include "base/scope.h"

#include <signal.h>
#include <time.h>

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_lost(struct gpumem_pool *pool)
{
	return atomic_load(&pool->device->lost);
}

/* The trim mutex is held. */
static void step(struct gpumem_pool *pool)
{
	if (is_lost(pool))
		return;
	pthread_mutex_lock(&pool->heap.mutex);
	(void)gm_decay_step(&pool->heap, now_ns());
	pthread_mutex_unlock(&pool->heap.mutex);
}

void gm_pool_decay(struct gpumem_pool *pool)
{
	/* Somebody is giving memory back already. */
	if (pthread_mutex_trylock(&pool->trim_mutex))
		return;
	step(pool);
	pthread_mutex_unlock(&pool->trim_mutex);
}

static uint64_t next_ns(struct gpumem_pool *pool)
{
	uint64_t ns;

	pthread_mutex_lock(&pool->heap.mutex);
	ns = pool->heap.decay->next_ns;
	pthread_mutex_unlock(&pool->heap.mutex);
	return ns;
}

/* Until something is due; false: the thread shall end. */
static bool wait_for_next(struct gpumem_pool *pool)
{
	struct timespec until;
	uint64_t ns;
	bool stop;

	pthread_mutex_lock(&pool->trim_mutex);
	/* Nothing will ever be due. */
	while (!pool->keeper.stop && is_lost(pool))
		pthread_cond_wait(&pool->keeper.wake, &pool->trim_mutex);
	if (!pool->keeper.stop) {
		ns = next_ns(pool);
		until.tv_sec = (time_t)(ns / 1000000000u);
		until.tv_nsec = (long)(ns % 1000000000u);
		pthread_cond_timedwait(&pool->keeper.wake, &pool->trim_mutex,
				       &until);
	}
	stop = pool->keeper.stop;
	pthread_mutex_unlock(&pool->trim_mutex);
	return !stop;
}

static void *keep(void *arg)
{
	struct gpumem_pool *pool = arg;

	do {
		GM_SCOPE;

		pthread_mutex_lock(&pool->trim_mutex);
		step(pool);
		pthread_mutex_unlock(&pool->trim_mutex);
	} while (wait_for_next(pool));
	return NULL;
}

static int start_thread(struct gpumem_pool *pool)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&pool->keeper.thread, NULL, keep, pool);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

gpumem_status gm_pool_keeper_start(struct gpumem_pool *pool)
{
	pthread_condattr_t attr;

	if (!pool->heap.decay->period_ns || !gm_option_bool("decay_thread"))
		return GPUMEM_OK;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&pool->keeper.wake, &attr);
	pthread_condattr_destroy(&attr);
	if (start_thread(pool)) {
		pthread_cond_destroy(&pool->keeper.wake);
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no thread can be started (option "
			       "`decay_thread`)");
	}
	pool->keeper.runs = true;
	return GPUMEM_OK;
}

void gm_pool_keeper_stop(struct gpumem_pool *pool)
{
	if (!pool->keeper.runs)
		return;
	pthread_mutex_lock(&pool->trim_mutex);
	pool->keeper.stop = true;
	pthread_cond_signal(&pool->keeper.wake);
	pthread_mutex_unlock(&pool->trim_mutex);
	pthread_join(pool->keeper.thread, NULL);
	pthread_cond_destroy(&pool->keeper.wake);
	pool->keeper.runs = false;
}
