/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of the whole library share: the device host:0 opened anew with
 * other options, work that holds a stream busy until it is let go, random
 * numbers, and looks at a pool. Only the public headers are used. Each test
 * program includes this once. Only the main thread calls what is here, but for
 * what says otherwise.
 */
#ifndef LIB_FIXTURE_H
#define LIB_FIXTURE_H

#include "../../law.h"
#include "../../tap.h"
#include <gpumem/host.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define LIB_USE __attribute__((unused)) static

typedef unsigned long long ull;

static gpumem_device *device;

LIB_USE const char *last_text(void)
{
	static struct gpumem_error error;

	error = GPUMEM_INIT(struct gpumem_error);
	gpumem_last_error(&error);
	return error.text;
}

/* For what is no test's subject. Any thread. */
#define must(call) must_at((call), #call, TAP_HERE)

LIB_USE void must_at(gpumem_status status, const char *call, const char *at)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	if (status == GPUMEM_OK)
		return;
	gpumem_last_error(&error);
	bail("%s: %s gave %s: %s", at, call, gpumem_status_name(status),
	     error.text);
}

/* The last call of this thread gave `status` and left a sentence about it. */
LIB_USE bool said(gpumem_status got, gpumem_status status, const char *what)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	bool right;

	gpumem_last_error(&error);
	right = got == status && error.status == status &&
		strlen(error.text) > 8;
	ok(right, "%s: %s, with a sentence", what, gpumem_status_name(status));
	if (!right)
		diag("got %s; last error %s: %s", gpumem_status_name(got),
		     gpumem_status_name(error.status), error.text);
	return right;
}

/* Options live until they are set again; value NULL: the default. */
LIB_USE void option(const char *key, const char *value)
{
	must(gpumem_option_set(key, value));
}

/* As the environment says, for a test that may take so many seconds. */
LIB_USE void open_device(unsigned seconds)
{
	alarm(seconds);
	must(gpumem_device_open("host:0", &device));
}

LIB_USE void device_start(const char *capacity, bool vm)
{
	option("host.capacity", capacity);
	option("vm", vm ? "on" : "off");
	must(gpumem_device_open("host:0", &device));
}

/* All pools are gone: so is their memory. */
LIB_USE bool device_end(void)
{
	uint64_t used = gpumem_host_used_bytes(0);

	must(gpumem_device_close(device));
	device = NULL;
	if (used)
		diag("%llu bytes of the device are left behind", (ull)used);
	return used == 0;
}

LIB_USE gpumem_pool *named_pool(const char *name, uint64_t limit_bytes)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *pool = NULL;

	config.name = name;
	config.limit_bytes = limit_bytes;
	must(gpumem_pool_create(device, &config, &pool));
	return pool;
}

LIB_USE gpumem_pool *new_pool(uint64_t limit_bytes)
{
	return named_pool(NULL, limit_bytes);
}

LIB_USE gpumem_stream new_stream(void)
{
	gpumem_stream stream = NULL;

	must(gpumem_stream_create(device, &stream));
	return stream;
}

LIB_USE void *new_block(gpumem_pool *pool, size_t bytes, gpumem_stream stream)
{
	void *ptr = NULL;

	must(gpumem_alloc(pool, bytes, stream, &ptr));
	return ptr;
}

LIB_USE struct gpumem_stats stats_of(gpumem_pool *pool)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);

	must(gpumem_pool_stats(pool, &stats));
	return stats;
}

LIB_USE struct gpumem_call_stats calls_of(gpumem_pool *pool, unsigned call)
{
	struct gpumem_call_stats stats = GPUMEM_INIT(struct gpumem_call_stats);

	must(gpumem_pool_calls(pool, call, &stats));
	return stats;
}

LIB_USE uint64_t reserved_of(gpumem_pool *pool)
{
	return stats_of(pool).reserved.current;
}

LIB_USE uint64_t trim(gpumem_pool *pool)
{
	uint64_t released = 0;

	must(gpumem_pool_trim(pool, 0, &released));
	return released;
}

/* What nobody uses goes back to the driver. Each round waits for the events
 * that the one before recorded: uses by other streams are over after the first,
 * the blocks' own streams are after the second. Gives what stays reserved. */
LIB_USE uint64_t trim_all(gpumem_pool *pool, const gpumem_stream *streams,
			  size_t count)
{
	for (int round = 0; round < 4; round++) {
		(void)trim(pool);
		must(gpumem_stream_sync(device, NULL));
		for (size_t i = 0; i < count; i++)
			must(gpumem_stream_sync(device, streams[i]));
	}
	return reserved_of(pool);
}

/* Does a pool of the device have virtual memory? */
LIB_USE bool has_vm(void)
{
	gpumem_pool *pool = new_pool(0);
	bool vm = calls_of(pool, GPUMEM_CALL_VA_RESERVE).count > 0;

	must(gpumem_pool_destroy(pool, 0));
	return vm;
}

#define sound(pool, ...)                                                       \
	do {                                                                   \
		if (!is_status(gpumem_pool_check(pool), GPUMEM_OK,             \
			       __VA_ARGS__))                                   \
			diag("%s", last_text());                               \
	} while (0)

/* Work that waits until it is let go, then writes `value` over the bytes from
 * `address` on, unless `harmless`. */
struct gate {
	_Atomic bool open, begun, passed, harmless;
	volatile unsigned char *address;
	size_t bytes;
	unsigned char value;
};

static inline void gate_sleep(void)
{
	const struct timespec pause = {.tv_nsec = 50000};

	nanosleep(&pause, NULL);
}

static void gate_wait(void *arg)
{
	struct gate *gate = arg;

	atomic_store(&gate->begun, true);
	while (!atomic_load(&gate->open))
		gate_sleep();
	/* Now and then is enough: every page is touched. */
	for (size_t i = 0; i < gate->bytes; i += 1024)
		if (!atomic_load(&gate->harmless))
			gate->address[i] = gate->value;
	atomic_store(&gate->passed, true);
}

/* From here on the stream is busy until gate_open(). */
LIB_USE void gate_launch(struct gate *gate, gpumem_stream stream, void *ptr,
			 size_t bytes)
{
	gate->address = ptr;
	gate->bytes = ptr ? bytes : 0;
	gate->value = 0x5a;
	atomic_store(&gate->harmless, false);
	atomic_store(&gate->open, false);
	atomic_store(&gate->begun, false);
	atomic_store(&gate->passed, false);
	must(gpumem_host_launch(0, stream, gate_wait, gate));
}

/* May be called from any thread. */
LIB_USE void gate_open(struct gate *gate)
{
	atomic_store(&gate->open, true);
}

LIB_USE void gate_finish(struct gate *gate, gpumem_stream stream)
{
	gate_open(gate);
	must(gpumem_stream_sync(device, stream));
}

/* Opens a gate a little later, from a thread of its own: for calls that have to
 * wait for it. A call that does not wait is back before. */
static inline void *open_later(void *arg)
{
	const struct timespec pause = {.tv_nsec = 30000000};

	nanosleep(&pause, NULL);
	gate_open(arg);
	return NULL;
}

LIB_USE pthread_t gate_open_later(struct gate *gate)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, open_later, gate))
		bail("no thread");
	return thread;
}

/* xorshift64*, by Vigna. Never 0. */
static uint64_t random_state = 1;

LIB_USE void random_seed(uint64_t seed)
{
	random_state = seed * 0x9e3779b97f4a7c15u + 1;
	if (!random_state)
		random_state = 1;
}

LIB_USE uint64_t random_number(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1du;
}

/* 0 <= result < end. */
LIB_USE uint64_t random_below(uint64_t end)
{
	return (random_number() >> 11) % end;
}

LIB_USE bool one_in(uint64_t n)
{
	return random_below(n) == 0;
}

#endif
