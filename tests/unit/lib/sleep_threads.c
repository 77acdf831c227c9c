/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Several threads that put their own blocks of one pool to sleep, wake and free
 * them, each again when another one was first, while one trims and looks: every
 * block is as it was. And an export while a sleep waits. A thread may lose the
 * processor before each lock, so that another one is between any two of them.
 */
#include "sleep.h"

#include <dlfcn.h>

enum { PAGE = 256 * KIB, THREADS = 3 };

static gpumem_pool *pool;
static uint32_t tag[THREADS];
static _Atomic bool over;
static _Atomic unsigned refused;

static __thread uint64_t turn;
static int (*real_lock)(pthread_mutex_t *mutex);

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (!real_lock)
		*(void **)&real_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	turn = turn * 6364136223846793005u + 1442695040888963407u;
	if ((turn >> 40) % 20 == 0)
		usleep((useconds_t)(turn >> 50) % 300);
	return real_lock(mutex);
}

static gpumem_status sleep_own(uint32_t of, long round)
{
	static const uint32_t flags[] = {0, GPUMEM_SLEEP_RETAIN,
					 GPUMEM_SLEEP_PAGEABLE};
	struct gpumem_sleep_options options =
		GPUMEM_INIT(struct gpumem_sleep_options);
	gpumem_status status;

	options.tag = of;
	options.flags = flags[round % 3];
	options.folder = round % 7 ? NULL : ".";
	while ((status = gpumem_pool_sleep(pool, &options, NULL)) ==
	       GPUMEM_BUSY)
		atomic_fetch_add(&refused, 1);
	return status;
}

static gpumem_status wake_own(uint32_t of)
{
	gpumem_status status;

	while ((status = gpumem_pool_wake(pool, of, NULL)) == GPUMEM_BUSY)
		atomic_fetch_add(&refused, 1);
	return status;
}

/* Returns how many blocks were not as before. */
static void *use(void *arg)
{
	uint32_t number = (uint32_t)(uintptr_t)arg;
	size_t bytes = 3 * MIB + number * 1000;
	uintptr_t wrong = 0;
	void *block = NULL;

	turn = number;
	for (long round = 0; round < scaled(300, 40); round++) {
		if (!block) {
			block = tagged_block(pool, bytes, tag[number], NULL);
			mark_block(block, bytes, number);
		}
		must(sleep_own(tag[number], round));
		if (round % 11 == 10) {
			must(gpumem_free(block, NULL));
			block = NULL;
			continue;
		}
		must(wake_own(tag[number]));
		wrong += !is_marked(block, bytes, number);
	}
	return (void *)wrong;
}

static void *look(void *arg)
{
	while (!atomic_load(&over)) {
		struct gpumem_stats stats = stats_of(pool);
		const char *law = unlawful(&stats);

		if (law)
			bail("%s", law);
		must(gpumem_pool_trim(pool, 0, NULL));
	}
	return arg;
}

static void test_tags(void)
{
	pthread_t thread[THREADS], other;
	uintptr_t wrong = 0;

	device_start("64MiB", true);
	pool = new_pool(0);
	if (pthread_create(&other, NULL, look, NULL))
		bail("no thread");
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, use, (void *)i))
			bail("no thread");
	for (int i = 0; i < THREADS; i++) {
		void *of_one;

		pthread_join(thread[i], &of_one);
		wrong += (uintptr_t)of_one;
	}
	atomic_store(&over, true);
	pthread_join(other, NULL);
	is_uint(wrong, 0, "all is as it was; %u times one was refused",
		atomic_load(&refused));
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "sound");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	ok(device_end(), "all memory is back");
}

/* Refused for what the pool has, not because the other thread was asking. */
static void *sleep_late(void *arg)
{
	gpumem_status *status = arg;
	struct gpumem_error error;

	do {
		error = GPUMEM_INIT(struct gpumem_error);
		*status = gpumem_pool_sleep(pool, NULL, NULL);
		gpumem_last_error(&error);
	} while (*status == GPUMEM_BUSY &&
		 strstr(error.text, "another thread"));
	return NULL;
}

/* The other process would keep what goes here. */
static void test_export(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	struct gpumem_shared shared = GPUMEM_INIT(struct gpumem_shared);
	gpumem_status status = GPUMEM_OK;
	struct gate gate = {0};
	gpumem_stream stream;
	pthread_t thread;
	void *block;
	int fds[16];

	device_start("64MiB", true);
	config.shareable = GPUMEM_SHARE_FD;
	must(gpumem_pool_create(device, &config, &pool));
	stream = new_stream();
	block = new_block(pool, PAGE, stream);
	gate_launch(&gate, stream, NULL, 0);
	if (pthread_create(&thread, NULL, sleep_late, &status))
		bail("no thread");
	while (gpumem_pool_wake(pool, 0, NULL) != GPUMEM_BUSY)
		;
	must(gpumem_export(block, &shared, fds, 16));
	gate_open(&gate);
	pthread_join(thread, NULL);
	is_status(status, GPUMEM_BUSY, "exported while a sleep waits");
	is_uint(stats_of(pool).sleeping.current, 0, "nothing sleeps");
	for (uint32_t i = 0; i < shared.fd_count; i++)
		close(fds[i]);
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_stream_destroy(device, stream));
	ok(device_end(), "all memory is back");
}

int main(void)
{
	static const char *const path[THREADS] = {"one", "two", "three"};

	alarm(300);
	option("page", "256KiB");
	option("host.page", "256KiB");
	for (int i = 0; i < THREADS; i++)
		tag[i] = tag_of(path[i], GPUMEM_SLEEP_KEEP);
	test_tags();
	test_export();
	return done_testing();
}
