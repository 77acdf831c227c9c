/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A round's configuration, drawn from the seed and the round's number, and the
 * device, pools and streams that it makes: main thread only. Random numbers,
 * and the lock that keeps calls apart from the beginning of a capture.
 */
#include "soak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void random_start(struct random *random, uint64_t seed, uint64_t number)
{
	random->state =
		(seed * 0x9e3779b97f4a7c15u) ^ (number * 0xbf58476d1ce4e5b9u);
	if (!random->state)
		random->state = 1;
	for (int i = 0; i < 8; i++)
		random_next(random);
}

uint64_t random_next(struct random *random)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return random->state * 0x2545f4914f6cdd1du;
}

uint64_t random_below(struct random *random, uint64_t end)
{
	return (random_next(random) >> 11) % end;
}

bool one_in(struct random *random, uint64_t n)
{
	return random_below(random, n) == 0;
}

static pthread_rwlock_t calls =
	PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

void enter(void)
{
	pthread_rwlock_rdlock(&calls);
}

void leave(void)
{
	pthread_rwlock_unlock(&calls);
}

void pause_inside(void)
{
	const struct timespec pause = {.tv_nsec = 200000};

	leave();
	nanosleep(&pause, NULL);
	enter();
}

void begin_capture(gpumem_stream stream)
{
	leave();
	pthread_rwlock_wrlock(&calls);
	took(gpumem_host_capture(0, stream, true), "gpumem_host_capture");
	pthread_rwlock_unlock(&calls);
	enter();
}

/* An option and the values that a round chooses from, NULL at the end. */
static const struct {
	const char *key;
	const char *values[6];
} drawn[] = {
	{"vm", {"on", "on", "off", NULL}},
	{"wait", {"on", "off", NULL}},
	{"waste", {"1.5%", "0", "20%", NULL}},
	{"waste_max", {"4%", "20%", NULL}},
	{"stream_waste", {"10%", "0", "1000%", NULL}},
	{"cache", {"256KiB", "0", "16KiB", NULL}},
	{"handle_max", {"64MiB", "2MiB", NULL}},
	{"share", {"none", "none", "ipc", NULL}},
	{"decay_ms", {"10000", "1", "20", NULL}},
	{"decay_thread", {"off", "on", NULL}},
	{"oom", {"", "", "/tmp/gpumem-soak.%p", NULL}},
	{"oom_snapshot", {"", "", "/tmp/gpumem-soak.%p.snapshot", NULL}},
	{"track", {"off", "off", "off", "on", NULL}},
	{"leaks", {"", "", "/tmp/gpumem-soak.%p", NULL}},
	{"track_frames", {"16", "0", "64", NULL}},
	{"host.page", {"2MiB", "512KiB", "64KiB", NULL}},
	{"device_limit", {"0", "0", "64MiB", "50%", NULL}},
	{"host.capacity", {"96MiB", "256MiB", "1GiB", NULL}},
	{"host.copy_rate", {"0", "2GiB", NULL}},
	{"host.latency",
	 {"", "map=20;unmap=50", "page_create=100;alloc=50",
	  "event_record=5;event_query=5", NULL}},
	{"host.objects", {"off", "off", "off", "on", NULL}},
	{"host.memory_info", {"on", "off", NULL}},
};

static void set_option(const char *key, const char *value)
{
	size_t used = strlen(world.options);

	if (gpumem_option_set(key, value))
		finding("option %s:%s is refused", key, value);
	if (value && *value)
		snprintf(world.options + used, sizeof(world.options) - used,
			 "%s%s:%s", used ? "," : "", key, value);
}

static void draw_options(struct random *random)
{
	bool objects = false;

	for (size_t i = 0; i < sizeof(drawn) / sizeof(drawn[0]); i++) {
		const char *const *values = drawn[i].values;
		const char *value;
		uint64_t count = 0;

		while (values[count])
			count++;
		value = values[random_below(random, count)];
		objects |= !strcmp(drawn[i].key, "host.objects") &&
			   !strcmp(value, "on");
		set_option(drawn[i].key, value);
	}
	/* Memory that is named by objects has no virtual memory, and no other
	 * process can have it. */
	set_option("host.vm", objects ? "off" : "on");
	if (objects)
		set_option("share", "none");
}

static void draw_world(struct random *random, uint64_t number, uint64_t steps,
		       unsigned workers)
{
	char lose[32] = "0";

	world.number = number;
	world.options[0] = '\0';
	world.steps = steps;
	world.worker_count = workers;
	world.pool_count = 1 + (unsigned)random_below(random, POOLS_MAX);
	world.faulty = one_in(random, 2);
	world.lossy = one_in(random, 16);
	world.captures = one_in(random, 2);
	atomic_store(&world.over, false);
	draw_options(random);
	if (world.lossy)
		snprintf(lose, sizeof(lose), "%llu",
			 (unsigned long long)(50 + random_below(random, 3000)));
	set_option("host.lose", lose);
}

static bool make_pools(void)
{
	for (unsigned i = 0; i < world.pool_count; i++)
		if (!took(gpumem_pool_create(world.device, NULL,
					     &world.pool[i]),
			  "gpumem_pool_create")) {
			world.pool_count = i;
			return i > 0;
		}
	return true;
}

bool world_begin(uint64_t seed, uint64_t number, uint64_t steps,
		 unsigned workers)
{
	struct random random;

	memset(&world, 0, sizeof(world));
	random_start(&random, seed, number);
	draw_world(&random, number, steps, workers);
	if (gpumem_device_open("host:0", &world.device)) {
		finding("the device does not open");
		return false;
	}
	if (!make_pools()) {
		world_end();
		return false;
	}
	/* The default stream stands for one that was not made. */
	for (int i = 1; i < SHARED_STREAMS; i++)
		if (!took(gpumem_stream_create(world.device, &world.shared[i]),
			  "gpumem_stream_create"))
			world.shared[i] = NULL;
	return true;
}

static void remove_files(void)
{
	static const char *const ends[] = {"", ".snapshot", ".snapshot.txt"};
	char name[64];

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(name, sizeof(name), "/tmp/gpumem-soak.%ld%s",
			 (long)getpid(), ends[i]);
		(void)unlink(name);
	}
}

void world_end(void)
{
	remove_files();
	for (int i = 1; i < SHARED_STREAMS; i++)
		if (world.shared[i] &&
		    !took(gpumem_stream_destroy(world.device, world.shared[i]),
			  "gpumem_stream_destroy") &&
		    !world.lossy)
			finding("a stream does not go");
	for (unsigned i = 0; i < world.pool_count; i++)
		if (gpumem_pool_destroy(world.pool[i], 0) && !world.lossy)
			finding("a pool does not go");
	if (gpumem_device_close(world.device))
		finding("the device does not close");
	if (gpumem_host_used_bytes(0))
		finding("the device keeps %llu bytes",
			(unsigned long long)gpumem_host_used_bytes(0));
}
