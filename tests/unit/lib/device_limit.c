/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Option `device_limit`: the pools of a device have no more together, at no
 * instant and whatever fails; what one of them has free goes to another before
 * anything fails; and the error says whose limit it is.
 */
#include "fixture.h"
#include <string.h>

#define LIMIT (64 * MIB)

static gpumem_pool *pool, *other;
static const char *mode;

static void start(bool vm)
{
	mode = vm ? "pages" : "segments";
	device_start("1GiB", vm);
	pool = new_pool(0);
	other = new_pool(0);
}

static void end(void)
{
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_pool_destroy(other, 0));
	ok(device_end(), "%s: nothing is left", mode);
}

static uint64_t now_bytes(gpumem_pool *of)
{
	struct gpumem_capacity capacity = GPUMEM_INIT(struct gpumem_capacity);

	must(gpumem_pool_capacity(of, NULL, &capacity));
	return capacity.now_bytes;
}

/* Nothing is claimed any more. */
static void is_whole(const char *what)
{
	(void)trim(pool);
	(void)trim(other);
	is_uint(reserved_of(pool) + reserved_of(other), 0,
		"%s, %s: all is given back", mode, what);
	is_uint(now_bytes(pool), LIMIT, "%s, %s: and all may be had again",
		mode, what);
}

static gpumem_status ask(gpumem_pool *of, size_t bytes, uint32_t flags,
			 void **ptr_out)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);

	options.flags = flags;
	return gpumem_alloc_with(of, bytes, NULL, &options, ptr_out, NULL);
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* ---- what may be had ---- */

/* The pools that have most of it, by name and size, the largest first: that of
 * the scene has 40 MiB. */
static void test_holders(void)
{
	static const unsigned mib[] = {6, 2, 8};
	gpumem_pool *some[3];
	void *block[3], *ptr;

	ok(strstr(last_text(), "is reserved by pool \"pool\" with 40.00 MiB; "),
	   "and who has it");
	for (int i = 0; i < 3; i++) {
		struct gpumem_pool_config config =
			GPUMEM_INIT(struct gpumem_pool_config);

		config.name = i == 2 ? "most" : i ? "least" : "more";
		must(gpumem_pool_create(device, &config, &some[i]));
		block[i] = new_block(some[i], mib[i] * MIB, NULL);
	}
	is_status(ask(other, 40 * MIB, 0, &ptr), GPUMEM_LIMIT,
		  "%s: several have it", mode);
	ok(strstr(last_text(), "is reserved by pool \"pool\" with 40.00 MiB, "
			       "\"most\" with 8.00 MiB, \"more\" with 6.00 "
			       "MiB; pool \"pool\": "),
	   "%s: the three with most are named", mode);
	for (int i = 0; i < 3; i++) {
		must(gpumem_free(block[i], NULL));
		must(gpumem_pool_destroy(some[i], 0));
	}
}

static void test_together(void)
{
	void *first = new_block(pool, 40 * MIB, NULL), *second, *third;

	is_uint(now_bytes(other), 24 * MIB, "%s: so much may be had", mode);
	is_status(gpumem_alloc(other, 40 * MIB, NULL, &second), GPUMEM_LIMIT,
		  "%s: two pools have no more together", mode);
	ok(begins(last_text(), "host:0: its limit of 64.00 MiB for all pools"),
	   "the device and its limit come first");
	diag("%s", last_text());
	ok(strstr(last_text(), "raise the device's limit"), "and what helps");
	test_holders();
	second = new_block(other, 24 * MIB, NULL);
	is_uint(gpumem_host_used_bytes(0), LIMIT, "%s: nor less", mode);
	is_status(gpumem_alloc(pool, 1, NULL, &third), GPUMEM_LIMIT,
		  "%s: nor a byte more", mode);
	must(gpumem_free(first, NULL));
	must(gpumem_free(second, NULL));
	is_whole("together");
}

static void test_too_large(void)
{
	struct gpumem_capacity capacity = GPUMEM_INIT(struct gpumem_capacity);
	void *ptr = NULL;

	must(gpumem_pool_capacity(pool, NULL, &capacity));
	is_uint(capacity.max_alloc_bytes, LIMIT, "the largest that can be");
	is_status(gpumem_alloc(pool, LIMIT + 1, NULL, &ptr), GPUMEM_LIMIT,
		  "%s: more than the limit", mode);
	ok(begins(last_text(), "host:0: its limit of 64.00 MiB") &&
		   strstr(last_text(), "more than the device's limit"),
	   "is more than the limit");
	is_status(gpumem_alloc(pool, 2048 * MIB, NULL, &ptr), GPUMEM_NO_MEMORY,
		  "%s: more than the device has", mode);
}

static void test_own_limit(void)
{
	gpumem_pool *bounded = new_pool(8 * MIB);
	void *ptr = NULL;

	is_status(gpumem_alloc(bounded, 9 * MIB, NULL, &ptr), GPUMEM_LIMIT,
		  "%s: a pool's own limit", mode);
	ok(strstr(last_text(), "its hard limit of 8.00 MiB"),
	   "is still what the text has");
	must(gpumem_pool_destroy(bounded, 0));
}

/* Host memory is no memory of the device. */
static void test_pinned(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	void *all = new_block(pool, 60 * MIB, NULL), *ptr;
	gpumem_pool *pinned;

	config.kind = GPUMEM_KIND_PINNED;
	must(gpumem_pool_create(device, &config, &pinned));
	ptr = new_block(pinned, 40 * MIB, NULL);
	must(gpumem_free(ptr, NULL));
	must(gpumem_free(all, NULL));
	must(gpumem_pool_destroy(pinned, 0));
	is_whole("beside pinned memory");
}

/* ---- what other pools have free ---- */

static void test_cached(void)
{
	void *ptr = new_block(other, 50 * MIB, NULL);

	must(gpumem_free(ptr, NULL));
	ok(reserved_of(other) >= 50 * MIB, "the other pool keeps it");
	is_status(ask(pool, 50 * MIB, GPUMEM_ALLOC_NO_WAIT, &ptr), GPUMEM_LIMIT,
		  "%s: a request that must not trim", mode);
	ok(strstr(last_text(), "other pools of this program have 50.00 MiB "
			       "free"),
	   "%s: is told where that is", mode);
	is_status(ask(pool, 50 * MIB, 0, &ptr), GPUMEM_OK,
		  "%s: another pool's free memory is had", mode);
	is_uint(reserved_of(other), 0, "it gave it back");
	must(gpumem_free(ptr, NULL));
	is_whole("after that");
}

static void test_busy(void)
{
	gpumem_stream stream = new_stream();
	void *ptr = new_block(other, 50 * MIB, stream);
	struct gate gate;
	pthread_t thread;

	gate_launch(&gate, stream, ptr, 1);
	must(gpumem_free(ptr, stream));
	thread = gate_open_later(&gate);
	is_status(ask(pool, 50 * MIB, 0, &ptr), GPUMEM_OK,
		  "%s: also what a stream is at work on", mode);
	pthread_join(thread, NULL);
	gate_finish(&gate, stream);
	must(gpumem_free(ptr, NULL));
	must(gpumem_stream_destroy(device, stream));
	is_whole("after work");
}

static struct gpumem_pressure seen;

static bool note(gpumem_pool *of, const struct gpumem_pressure *pressure,
		 void *user)
{
	(void)of;
	(void)user;
	seen = *pressure;
	return false;
}

static void test_pressure(void)
{
	void *held = new_block(other, 50 * MIB, NULL), *ptr;

	must(gpumem_pool_pressure_add(pool, note, NULL));
	is_status(ask(pool, 20 * MIB, 0, &ptr), GPUMEM_LIMIT, "%s: full", mode);
	is_uint(seen.limit, GPUMEM_PRESSURE_DEVICE, "callbacks are asked");
	is_uint(seen.limit_bytes, LIMIT, "and told the limit");
	must(gpumem_pool_pressure_remove(pool, note, NULL));
	must(gpumem_free(held, NULL));
	is_whole("after callbacks");
}

/* ---- threads ---- */

enum { THREADS = 4, BLOCKS = 16 };

static _Atomic bool stop;
static _Atomic unsigned above, wrong, refused, had;

static void *churn(void *arg)
{
	gpumem_pool *mine = (uintptr_t)arg % 2 ? pool : other;
	uint64_t state = (uintptr_t)arg + 1;
	void *ptr[BLOCKS] = {NULL};

	for (unsigned i = 0; i < scaled(3000, 300); i++) {
		unsigned which = i % BLOCKS;
		gpumem_status status;

		state = state * 6364136223846793005u + 1442695040888963407u;
		must(gpumem_free(ptr[which], NULL));
		ptr[which] = NULL;
		status = gpumem_alloc(mine, 1 + (state >> 33) % (12 * MIB),
				      NULL, &ptr[which]);
		had += status == GPUMEM_OK;
		refused += status == GPUMEM_LIMIT;
		wrong += status != GPUMEM_OK && status != GPUMEM_LIMIT;
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		must(gpumem_free(ptr[i], NULL));
	return NULL;
}

/* The device itself is asked. */
static void *watch(void *arg)
{
	(void)arg;
	while (!atomic_load(&stop))
		above += gpumem_host_used_bytes(0) > LIMIT;
	return NULL;
}

static void test_threads(void)
{
	pthread_t thread[THREADS], watcher;

	stop = false;
	above = wrong = refused = had = 0;
	if (pthread_create(&watcher, NULL, watch, NULL))
		bail("no thread");
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, churn, (void *)i))
			bail("no thread");
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	stop = true;
	pthread_join(watcher, NULL);
	is_uint(above, 0, "%s: never above the limit", mode);
	is_uint(wrong, 0, "%s: nothing but that refuses", mode);
	ok(refused && had, "%s: %u had, %u refused", mode, had, refused);
	sound(pool, "sound");
	sound(other, "sound");
	is_whole("after threads");
}

/* ---- every call of the driver fails ---- */

static void work(void)
{
	gpumem_pool *of[] = {pool, other};
	void *ptr[12] = {NULL};

	for (unsigned i = 0; i < 12; i++) {
		if (gpumem_alloc(of[i % 2], (1 + i) * MIB, NULL, &ptr[i]))
			ptr[i] = NULL;
		if (i % 3 == 2 && ptr[i - 1]) {
			must(gpumem_free(ptr[i - 1], NULL));
			ptr[i - 1] = NULL;
		}
		wrong += gpumem_host_used_bytes(0) > LIMIT;
	}
	for (unsigned i = 0; i < 12; i++)
		must(gpumem_free(ptr[i], NULL));
	GPUMEM_IGNORE(gpumem_pool_trim(pool, 0, NULL));
	GPUMEM_IGNORE(gpumem_pool_trim(other, 0, NULL));
}

static bool fails(unsigned long nth, const char *how)
{
	char faults[64];
	bool fired;

	snprintf(faults, sizeof(faults), "*@%lu%s", nth, how);
	must(gpumem_host_faults(faults));
	work();
	fired = gpumem_host_calls() >= nth;
	must(gpumem_host_faults(NULL));
	(void)trim(pool);
	(void)trim(other);
	wrong += now_bytes(pool) != LIMIT;
	return fired;
}

static void test_faults(const char *how)
{
	unsigned long nth = 1;

	wrong = 0;
	while (fails(nth, how))
		nth++;
	is_uint(wrong, 0, "%s: %lu calls, %s: all can be had after each", mode,
		nth, how);
}

/* ---- the option ---- */

static void is_limit(const char *value, uint64_t bytes)
{
	option("device_limit", value);
	device_start("1GiB", true);
	pool = new_pool(0);
	is_uint(now_bytes(pool), bytes, "%s is %zu MiB", value,
		(size_t)(bytes / MIB));
	option("device_limit", "2MiB");
	is_uint(now_bytes(pool), bytes, "until it is opened anew");
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "closed");
}

static void test_option(void)
{
	gpumem_pool *none = NULL;

	is_limit("0", 1024 * MIB);
	is_limit("2MiB", 2 * MIB);
	is_limit("25%", 256 * MIB);
	is_limit("100%", 1024 * MIB);
	is_limit("8TiB", 1024 * MIB);
	option("device_limit", "1MiB");
	device_start("1GiB", true);
	is_status(gpumem_pool_create(device, NULL, &none), GPUMEM_INVALID,
		  "less than a page");
	ok(strstr(last_text(), "`device_limit`") &&
		   strstr(last_text(), "2097152"),
	   "and what the smallest is");
	ok(device_end(), "closed");
	is_status(gpumem_option_set("device_limit", "101%"), GPUMEM_INVALID,
		  "more than all");
	option("device_limit", NULL);
}

int main(void)
{
	alarm(300);
	for (int vm = 0; vm < 2; vm++) {
		option("device_limit", "64MiB");
		start(vm);
		test_together();
		test_too_large();
		test_own_limit();
		test_pinned();
		test_cached();
		test_busy();
		test_pressure();
		test_threads();
		test_faults(":no_memory");
		test_faults(":driver");
		test_faults("+:no_memory");
		end();
	}
	test_option();
	return done_testing();
}
