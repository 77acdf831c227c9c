/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A thread of real-time priority that reads statistics, and one of ordinary
 * priority that allocates, on one processor. The reader wants what the other
 * may be in the middle of, and goes before it: if it waited by yielding it
 * would keep the other from ever coming out. No time is measured: the reader
 * comes to its end, and the other came on meanwhile. sched_yield() is that of
 * this file, for the library as well, and counts.
 */
#include "fixture.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

enum { READS = 200, BLOCKS = 8, YIELDS_MAX = 1000 };

static gpumem_pool *pool;
static _Atomic bool stop;
static _Atomic unsigned long rounds;
static _Thread_local unsigned yields; /* of a read */

/* To a thread that goes after it by its priority a thread yields in vain. */
int sched_yield(void)
{
	if (++yields > YIELDS_MAX)
		bail("a read yields %u times", yields);
	return (int)syscall(SYS_sched_yield);
}

static void *allocate(void *unused)
{
	void *ptr[BLOCKS];

	while (!atomic_load(&stop)) {
		yields = 0;
		for (int i = 0; i < BLOCKS; i++)
			ptr[i] = new_block(pool, 500, NULL);
		for (int i = 0; i < BLOCKS; i++)
			must(gpumem_free(ptr[i], NULL));
		atomic_fetch_add(&rounds, 1);
	}
	return unused;
}

/* Lets the other run between its reads, so that it is met anywhere. */
static void *read_often(void *unused)
{
	for (int i = 0; i < READS; i++) {
		struct gpumem_stats stats;
		const char *broken;

		yields = 0;
		stats = stats_of(pool);
		broken = unlawful(&stats);
		if (broken)
			bail("%s", broken);
		usleep(200);
	}
	return unused;
}

/* The first processor that the process may use. */
static bool pin(void)
{
	cpu_set_t all, one;
	int number = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		return false;
	while (number < CPU_SETSIZE && !CPU_ISSET(number, &all))
		number++;
	CPU_ZERO(&one);
	CPU_SET(number, &one);
	return !sched_setaffinity(0, sizeof(one), &one);
}

/* False: this process may not. */
static bool start_reader(pthread_t *thread)
{
	struct sched_param first = {.sched_priority = 1};
	pthread_attr_t attributes;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
	pthread_attr_setschedparam(&attributes, &first);
	error = pthread_create(thread, &attributes, read_often, NULL);
	pthread_attr_destroy(&attributes);
	return !error;
}

int main(void)
{
	pthread_t ordinary, reader;
	unsigned long before;

	/* Its own locks are waited for by yielding, which is in vain too. */
	if (THREAD_SANITIZER)
		skip_all("ThreadSanitizer itself waits by yielding");
	if (!pin())
		skip_all("a process cannot be kept on one processor here");
	open_device(60);
	pool = new_pool(0);
	pthread_create(&ordinary, NULL, allocate, NULL);
	while (!atomic_load(&rounds))
		usleep(1000);
	before = atomic_load(&rounds);
	if (start_reader(&reader)) {
		pthread_join(reader, NULL);
		ok(atomic_load(&rounds) > before,
		   "the reader ends, and the other went on meanwhile");
	} else {
		skip("SCHED_FIFO takes root or RLIMIT_RTPRIO", 1);
	}
	atomic_store(&stop, true);
	pthread_join(ordinary, NULL);
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "all counters agree");
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_device_close(device));
	return done_testing();
}
