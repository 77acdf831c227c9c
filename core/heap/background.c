/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Runs the purge steps of decay (decay.h): in slow-path calls of the program,
 * and by option `decay_thread` in a background thread, which blocks all
 * signals.
 */
#include "heap.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/option.h"
#include "base/scope.h"

#include <signal.h>
#include <time.h>

static bool is_lost(const struct gm_heap *heap)
{
	return atomic_load(&heap->driver.device->lost);
}

/* The trim mutex is held. */
static void step(struct gm_heap *heap)
{
	if (is_lost(heap))
		return;
	pthread_mutex_lock(&heap->mutex);
	(void)gm_decay_step(heap, gm_clock_ns());
	pthread_mutex_unlock(&heap->mutex);
}

void gm_heap_decay(struct gm_heap *heap)
{
	/* Somebody is giving memory back already. */
	if (pthread_mutex_trylock(&heap->policy->trim_mutex))
		return;
	step(heap);
	pthread_mutex_unlock(&heap->policy->trim_mutex);
}

static uint64_t next_ns(struct gm_heap *heap)
{
	uint64_t ns;

	pthread_mutex_lock(&heap->mutex);
	ns = heap->policy->decay.next_ns;
	pthread_mutex_unlock(&heap->mutex);
	return ns;
}

/* Until something is due; false: the thread shall end. */
static bool wait_for_next(struct gm_heap *heap)
{
	struct timespec until;
	uint64_t ns;
	bool stop;

	pthread_mutex_lock(&heap->policy->trim_mutex);
	/* Nothing will ever be due. */
	while (!heap->policy->background.stop && is_lost(heap))
		pthread_cond_wait(&heap->policy->background.wake,
				  &heap->policy->trim_mutex);
	if (!heap->policy->background.stop) {
		ns = next_ns(heap);
		until.tv_sec = (time_t)(ns / 1000000000u);
		until.tv_nsec = (long)(ns % 1000000000u);
		pthread_cond_timedwait(&heap->policy->background.wake,
				       &heap->policy->trim_mutex, &until);
	}
	stop = heap->policy->background.stop;
	pthread_mutex_unlock(&heap->policy->trim_mutex);
	return !stop;
}

static void *keep(void *arg)
{
	struct gm_heap *heap = arg;

	do {
		GM_SCOPE;

		pthread_mutex_lock(&heap->policy->trim_mutex);
		step(heap);
		pthread_mutex_unlock(&heap->policy->trim_mutex);
	} while (wait_for_next(heap));
	return NULL;
}

static int start_thread(struct gm_heap *heap)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&heap->policy->background.thread, NULL, keep,
			       heap);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

gpumem_status gm_background_start(struct gm_heap *heap)
{
	pthread_condattr_t attr;

	if (!heap->policy->decay.period_ns ||
	    !gm_option_bool(GM_BOOL_decay_thread))
		return GPUMEM_OK;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&heap->policy->background.wake, &attr);
	pthread_condattr_destroy(&attr);
	if (start_thread(heap)) {
		pthread_cond_destroy(&heap->policy->background.wake);
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no thread can be started (option "
			       "`decay_thread`)");
	}
	heap->policy->background.runs = true;
	return GPUMEM_OK;
}

void gm_background_stop(struct gm_heap *heap)
{
	if (!heap->policy->background.runs)
		return;
	pthread_mutex_lock(&heap->policy->trim_mutex);
	heap->policy->background.stop = true;
	pthread_cond_signal(&heap->policy->background.wake);
	pthread_mutex_unlock(&heap->policy->trim_mutex);
	pthread_join(heap->policy->background.thread, NULL);
	pthread_cond_destroy(&heap->policy->background.wake);
	heap->policy->background.runs = false;
}
