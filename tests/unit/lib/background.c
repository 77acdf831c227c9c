/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Option `decay_thread`: a thread of the pool gives back what is not used, by
 * itself, beside all that a program does meanwhile; and sleeps when there is
 * nothing to do, also for ever.
 */
#include "fixture.h"
#include <dlfcn.h>

/* How often the background went to sleep for a time: the library finds this
 * function before the system's. */
static _Atomic unsigned naps;
static int (*system_wait)(pthread_cond_t *, pthread_mutex_t *,
			  const struct timespec *);

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
			   const struct timespec *until)
{
	naps++;
	return system_wait(cond, mutex, until);
}

static void nap_ms(long ms)
{
	const struct timespec pause = {.tv_nsec = ms * 1000000};

	nanosleep(&pause, NULL);
}

/* All goes, though nobody calls the library. */
static void test_alone(void)
{
	gpumem_pool *pool = new_pool(0);
	void *ptr[4];

	for (int i = 0; i < 4; i++)
		ptr[i] = new_block(pool, 3 * MIB, NULL);
	for (int i = 0; i < 4; i++)
		must(gpumem_free(ptr[i], NULL));
	while (gpumem_host_used_bytes(0))
		nap_ms(5);
	ok(stats_of(pool).decayed_bytes >= 12 * MIB, "all goes by itself");
	sound(pool, "in order");
	must(gpumem_pool_destroy(pool, 0));
}

/* Without a thread, the calls of the program see to it: here allocations. */
static void test_in_passing(void)
{
	gpumem_pool *pool;
	unsigned count = 0;

	option("decay_thread", "off");
	option("decay_ms", "2");
	pool = new_pool(0);
	must(gpumem_free(new_block(pool, 40 * MIB, NULL), NULL));
	/* Each of a size of its own, so that no cache has it. */
	while (!stats_of(pool).decayed_bytes && count++ < 4000) {
		(void)new_block(pool, 17 * KIB + 256 * (count % 8), NULL);
		gate_sleep();
	}
	ok(stats_of(pool).decayed_bytes > 0, "decay goes on in passing");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	option("decay_thread", "on");
	option("decay_ms", "40");
}

/* A pool with a period of a year sleeps; it ends at once all the same. */
static void test_ends(void)
{
	gpumem_pool *pool[8];

	option("decay_ms", "31536000000");
	for (int i = 0; i < 8; i++)
		pool[i] = new_pool(0);
	for (int i = 0; i < 8; i++)
		must(gpumem_pool_destroy(pool[i], 0));
	option("decay_ms", "40");
	ok(true, "a background that sleeps for long ends at once");
}

/* ---- beside everything else ---- */

enum { THREADS = 3 };

static gpumem_pool *shared;
static _Atomic bool stop;
static _Atomic unsigned wrong;

static void *use(void *arg)
{
	uint64_t state = (uint64_t)(uintptr_t)arg * 2654435761u + 1;
	gpumem_stream stream = NULL;
	void *ptr[16] = {NULL};

	if (gpumem_stream_create(device, &stream))
		wrong++;
	while (!stop) {
		unsigned i = (unsigned)((state = state * 6364136223846793005u +
						 1442695040888963407u) >>
					60);
		size_t bytes = (size_t)1 << (8 + (state >> 40) % 15);

		if (gpumem_free(ptr[i], stream))
			wrong++;
		ptr[i] = NULL;
		if (gpumem_alloc(shared, bytes, stream, &ptr[i]))
			wrong++;
		if ((state >> 33) % 512)
			continue;
		for (i = 0; i < 16; i++) {
			wrong += gpumem_free(ptr[i], stream) != GPUMEM_OK;
			ptr[i] = NULL;
		}
		wrong += gpumem_stream_destroy(device, stream) != GPUMEM_OK;
		wrong += gpumem_stream_create(device, &stream) != GPUMEM_OK;
	}
	for (unsigned i = 0; i < 16; i++)
		wrong += gpumem_free(ptr[i], stream) != GPUMEM_OK;
	wrong += gpumem_stream_destroy(device, stream) != GPUMEM_OK;
	return NULL;
}

static void test_beside(void)
{
	pthread_t thread[THREADS];
	unsigned unsound = 0;

	option("decay_ms", "2");
	shared = new_pool(0);
	stop = false;
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, use, (void *)(i + 1)))
			bail("no thread");
	for (int i = 0; i < (int)scaled(400, 60); i++) {
		struct gpumem_stats stats = stats_of(shared);

		unsound += unlawful(&stats) != NULL;
		unsound += gpumem_pool_check(shared) != GPUMEM_OK;
		if (i % 4 == 0)
			(void)trim(shared);
		if (i % 8 == 0)
			must(gpumem_pool_set_limit(
				shared, (300 + (size_t)i % 64) * MIB));
		nap_ms(1);
	}
	stop = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	is_uint(unsound, 0, "every instant is in order");
	is_uint(wrong, 0, "no call fails");
	must(gpumem_pool_destroy(shared, 0));
	is_uint(gpumem_host_used_bytes(0), 0, "nothing is left");
	option("decay_ms", "40");
}

/* Nothing can be done for a device that is lost: nobody tries for ever. */
static void test_lost(void)
{
	gpumem_pool *pool = new_pool(0);
	void *ptr = new_block(pool, 3 * MIB, NULL);
	unsigned before;

	must(gpumem_free(ptr, NULL));
	must(gpumem_host_faults("*@1+:lost"));
	is_status(gpumem_alloc(pool, 5 * MIB, NULL, &ptr), GPUMEM_LOST,
		  "the device is lost");
	must(gpumem_host_faults(NULL));
	nap_ms(200);
	before = naps;
	nap_ms(200);
	ok(naps - before <= 10, "the background sleeps (%u times)",
	   naps - before);
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

static void run(bool vm)
{
	diag("%s virtual memory", vm ? "with" : "without");
	device_start("512MiB", vm);
	test_alone();
	/* A segment that is cut up cannot go. */
	if (vm)
		test_in_passing();
	test_ends();
	test_beside();
	test_lost();
	must(gpumem_device_close(device));
}

int main(void)
{
	alarm(300);
	*(void **)&system_wait = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
	option("decay_thread", "on");
	option("decay_ms", "40");
	run(true);
	run(false);
	return done_testing();
}
