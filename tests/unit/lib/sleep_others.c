/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Who else is there while a pool sleeps: streams that are at work, captures and
 * graphs, what was exported, a neighbour that takes the memory, a limit, other
 * threads, and a recording.
 */
#include "sleep.h"
#include "rows.h"

enum { PAGE = 256 * KIB, BLOCK = 5 * PAGE + 1000 };

static gpumem_pool *pool;
static gpumem_stream stream;
static unsigned char *block;

static void begin(uint64_t limit)
{
	device_start("32MiB", true);
	pool = new_pool(limit);
	stream = new_stream();
	block = new_block(pool, BLOCK, stream);
	mark_block(block, BLOCK, 1);
}

static void end(void)
{
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_stream_destroy(device, stream));
	ok(device_end(), "all memory went back");
}

static void both(const char *when)
{
	is_status(sleep_all(pool), GPUMEM_OK, "%s: it sleeps", when);
	is_uint(reserved_of(pool), 0, "and has no memory");
	is_status(wake(pool, 0), GPUMEM_OK, "it wakes");
	ok(is_marked(block, BLOCK, 1), "as it was");
	sound(pool, "%s", when);
}

static gpumem_status sleep_now(void)
{
	struct gpumem_sleep_options options =
		GPUMEM_INIT(struct gpumem_sleep_options);

	options.timeout_ns = 1;
	return gpumem_pool_sleep(pool, &options, NULL);
}

/* Of the block's own stream, of one that uses it, and of one whose free memory
 * is on the same pages. */
static void test_work(void)
{
	gpumem_stream of[2];
	struct gate gate = {0};
	pthread_t thread;
	void *beside;

	begin(0);
	of[0] = stream;
	of[1] = new_stream();
	must(gpumem_use_on(block, of[1]));
	beside = new_block(pool, 20 * KIB, of[1]);
	for (int i = 0; i < 2; i++) {
		gate_launch(&gate, of[i], block, 1000);
		gate.value = 0;
		atomic_store(&gate.harmless, true);
		said(sleep_now(), GPUMEM_BUSY, "a stream at work");
		ok(strstr(last_text(), "stream 0x"), "which is named");
		sound(pool, "nothing has happened");
		thread = gate_open_later(&gate);
		both("a stream at work");
		ok(atomic_load(&gate.passed), "after it was waited for");
		pthread_join(thread, NULL);
		must(gpumem_stream_sync(device, of[i]));
	}
	gate_launch(&gate, of[1], NULL, 0);
	must(gpumem_free(beside, of[1]));
	thread = gate_open_later(&gate);
	both("freed memory in use");
	pthread_join(thread, NULL);
	must(gpumem_stream_destroy(device, of[1]));
	end();
}

static void test_capture(void)
{
	begin(0);
	must(gpumem_host_capture(0, stream, true));
	said(sleep_all(pool), GPUMEM_BUSY, "a stream that is captured");
	must(gpumem_host_capture(0, stream, false));
	both("after the capture");
	end();
}

/* What a graph uses comes back, free or not. */
static void test_graph(void)
{
	unsigned char *kept, *freed;
	gpumem_graph *graph;

	begin(0);
	must(gpumem_graph_create(pool, &graph));
	must(gpumem_graph_begin(graph, stream));
	kept = new_block(pool, BLOCK, stream);
	freed = new_block(pool, BLOCK, stream);
	must(gpumem_free(freed, stream));
	said(sleep_all(pool), GPUMEM_BUSY, "a graph that is captured into");
	must(gpumem_graph_end(graph, stream));
	mark_block(kept, BLOCK, 2);
	for (int i = 0; i < 3; i++) {
		both("a graph");
		ok(is_marked(kept, BLOCK, 2), "its block is as it was");
		memset(freed, i, BLOCK);
	}
	must(sleep_all(pool));
	said(gpumem_graph_destroy(graph, stream), GPUMEM_BUSY,
	     "a graph that sleeps does not end");
	must(gpumem_free(kept, stream));
	sound(pool, "its block was freed");
	must(wake(pool, 0));
	memset(kept, 1, BLOCK);
	memset(freed, 1, BLOCK);
	must(gpumem_graph_destroy(graph, stream));
	both("without it");
	end();
}

static void test_exported(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	struct gpumem_shared shared = GPUMEM_INIT(struct gpumem_shared);
	int fds[64];

	begin(0);
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	config.shareable = GPUMEM_SHARE_FD;
	must(gpumem_pool_create(device, &config, &pool));
	block = new_block(pool, BLOCK, stream);
	mark_block(block, BLOCK, 1);
	both("what can be exported");
	must(gpumem_export(block, &shared, fds, 64));
	said(sleep_all(pool), GPUMEM_BUSY, "what was exported");
	for (uint32_t i = 0; i < shared.fd_count; i++)
		close(fds[i]);
	end();
}

static void test_neighbour(void)
{
	begin(0);
	must(sleep_all(pool));
	must(gpumem_host_outside(0, 31 * MIB));
	for (int i = 0; i < 2; i++) {
		said(wake(pool, 0), GPUMEM_NO_MEMORY, "a neighbour has it");
		ok(strstr(last_text(), "still sleeps"), "which it says: %s",
		   last_text());
		sound(pool, "it sleeps");
		ok(stats_of(pool).sleeping.current >= BLOCK, "all of it");
	}
	must(gpumem_host_outside(0, 0));
	must(wake(pool, 0));
	ok(is_marked(block, BLOCK, 1), "it wakes when the memory is back");
	end();
}

static bool gives(gpumem_pool *of, const struct gpumem_pressure *pressure,
		  void *user)
{
	void **spare = user;

	(void)of;
	(void)pressure;
	if (!*spare)
		return false;
	must(gpumem_free(*spare, NULL));
	*spare = NULL;
	return true;
}

static void test_limit(void)
{
	void *spare;

	begin(8 * PAGE);
	must(sleep_all(pool));
	spare = new_block(pool, 7 * PAGE, NULL);
	said(wake(pool, 0), GPUMEM_LIMIT, "the limit is in the way");
	sound(pool, "it sleeps");
	must(gpumem_pool_pressure_add(pool, gives, &spare));
	must(wake(pool, 0));
	ok(!spare, "the program was asked");
	ok(is_marked(block, BLOCK, 1), "it is as it was");
	sound(pool, "awake");
	end();
}

/* The table of the device adds up, with what has no memory beside it. */
static void test_table(void)
{
	uint32_t tag = tag_of("table", GPUMEM_SLEEP_KEEP);
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	struct gpumem_stats stats;

	begin(0);
	(void)tagged_block(pool, BLOCK, tag, NULL);
	(void)new_block(pool, 1000, NULL);
	for (int i = 0; i < 2; i++) {
		must(sleep_with(pool, i ? 0 : tag, 0, NULL));
		stats = stats_of(pool);
		rows_read(device);
		must(gpumem_device_memory(device, &memory));
		is_uint(rows_sum("pool", NULL), stats.reserved.current,
			"rows of a pool that sleeps are its memory");
		is_uint(rows_sum(NULL, NULL), memory.total_bytes,
			"and all come to the device's");
		is_uint(rows_sum("pool", "sleeping"), stats.sleeping.current,
			"what sleeps is beside");
		ok(stats.sleeping.current > 0, "and that is something");
	}
	must(wake(pool, 0));
	end();
}

/* ---- threads ---- */

static _Atomic bool stop;
static _Atomic unsigned rounds;

static void *use_pool(void *arg)
{
	unsigned seed = *(unsigned *)arg;
	void *ptr;

	while (!atomic_load(&stop)) {
		size_t bytes = 100 + seed * 7919 % (2 * PAGE);

		seed = seed * 1103515245u + 12345u;
		if (!gpumem_alloc(pool, bytes, NULL, &ptr)) {
			memset(ptr, 1, bytes < 4096 ? bytes : 4096);
			must(gpumem_free(ptr, NULL));
		}
		atomic_fetch_add(&rounds, 1);
	}
	return NULL;
}

/* Of their blocks some fall asleep under them: they only free those. */
static void *look(void *arg)
{
	while (!atomic_load(&stop)) {
		struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
		const char *law;

		if (gpumem_pool_check(pool) || gpumem_pool_stats(pool, &stats))
			bail("%s", last_text());
		law = unlawful(&stats);
		if (law)
			bail("%s", law);
	}
	return arg;
}

static void test_threads(void)
{
	pthread_t thread[3];
	unsigned seeds[] = {1, 2};
	uint32_t tag = tag_of("mine", GPUMEM_SLEEP_KEEP);
	long cycles = scaled(300, 20);
	unsigned wrong = 0;

	begin(0);
	must(gpumem_free(block, stream));
	block = tagged_block(pool, BLOCK, tag, NULL);
	mark_block(block, BLOCK, 1);
	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread[i], NULL, i < 2 ? use_pool : look,
				   i < 2 ? &seeds[i] : NULL))
			bail("no thread");
	for (long i = 0; i < cycles; i++) {
		wrong += sleep_with(pool, tag, 0, NULL) != GPUMEM_OK;
		wrong += wake(pool, tag) != GPUMEM_OK;
		wrong += !is_marked(block, BLOCK, 1);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	is_uint(wrong, 0, "a tag sleeps and wakes beside %u rounds of others",
		atomic_load(&rounds));
	sound(pool, "afterwards");
	end();
}

static void *sleep_too(void *arg)
{
	unsigned *busy = arg;

	for (int i = 0; i < 50; i++) {
		gpumem_status status = gpumem_pool_sleep(pool, NULL, NULL);

		if (status == GPUMEM_BUSY)
			++*busy;
		else if (status)
			bail("%s", last_text());
		status = gpumem_pool_wake(pool, 0, NULL);
		if (status && status != GPUMEM_BUSY)
			bail("%s", last_text());
	}
	return NULL;
}

/* One at a time, and never half. */
static void test_two(void)
{
	pthread_t thread[2];
	unsigned busy[2] = {0, 0};

	begin(0);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, sleep_too, &busy[i]))
			bail("no thread");
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	must(wake(pool, 0));
	ok(is_marked(block, BLOCK, 1),
	   "two threads put it to sleep; %u times one was refused",
	   busy[0] + busy[1]);
	sound(pool, "afterwards");
	end();
}

int main(void)
{
	alarm(200);
	option("page", "256KiB");
	option("host.page", "256KiB");
	test_work();
	test_capture();
	test_graph();
	test_exported();
	test_neighbour();
	test_limit();
	test_table();
	test_threads();
	test_two();
	return done_testing();
}
