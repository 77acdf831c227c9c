/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Threads whose own thread-specific data uses the library while it ends, in
 * each of the rounds that there are: no cache outlives its thread.
 */
#include "fixture.h"
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 50 };

static gpumem_pool *pool;
static pthread_key_t key;
static _Atomic unsigned rounds;

/* As long as it sets its own value again, it is called again. */
static void use_again(void *value)
{
	atomic_fetch_add(&rounds, 1);
	must(gpumem_free(new_block(pool, 100, NULL), NULL));
	must(gpumem_free(new_block(pool, MIB, NULL), NULL));
	pthread_setspecific(key, value);
}

static void *run(void *value)
{
	pthread_setspecific(key, value);
	must(gpumem_free(new_block(pool, 100, NULL), NULL));
	return NULL;
}

/* Private mappings of the process: that is what caches are made of. */
static unsigned long mapped_kib(void)
{
	char line[256];
	unsigned long kib = 0;
	FILE *file = fopen("/proc/self/status", "re");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmData: %lu kB", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

static void run_threads(unsigned count)
{
	while (count--) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run, &key))
			bail("no thread");
		pthread_join(thread, NULL);
	}
}

int main(void)
{
	uint64_t host_bytes;
	unsigned long before;

	if (THREAD_SANITIZER)
		skip_all("ThreadSanitizer forgets a thread before its "
			 "last destructors run");
	open_device(60);
	pool = new_pool(0);
	if (pthread_key_create(&key, use_again))
		bail("no key");
	must(gpumem_free(new_block(pool, 100, NULL), NULL));
	run_threads(2);
	host_bytes = stats_of(pool).host_bytes;
	before = mapped_kib();
	run_threads(THREADS);
	ok(atomic_load(&rounds) >= (THREADS + 2) * 2, "used in several rounds");
	is_uint(stats_of(pool).host_bytes, host_bytes,
		"no cache is left in the pool");
	if (!before)
		skip("/proc/self/status says nothing", 1);
	else
		ok(mapped_kib() < before + THREADS * 16,
		   "nor in the process: %lu KiB, %lu before", mapped_kib(),
		   before);
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "all is in order");
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_device_close(device));
	return done_testing();
}
