/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Programs that were once found to break a pool, each as short as it could be
 * made. Those about stream order are scenes of stream_order.c and
 * stream_wait.c.
 */
#include "fixture.h"

static gpumem_pool *pool;
static gpumem_stream a, b;
static const char *kind;

static void start(bool vm)
{
	kind = vm ? "pages" : "segments";
	device_start("256MiB", vm);
	pool = new_pool(0);
	a = new_stream();
	b = new_stream();
}

static void stop(const char *name)
{
	sound(pool, "%s, %s: the pool is sound", name, kind);
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_stream_destroy(device, b));
	if (a)
		must(gpumem_stream_destroy(device, a));
	ok(device_end(), "%s, %s: the device is empty", name, kind);
}

static void give(void *ptr, gpumem_stream stream)
{
	must(gpumem_free(ptr, stream));
}

/* Free memory on both sides of where an aligned block is to go. */
static void aligned_between(void)
{
	static const char name[] = "aligned between free blocks";
	const size_t bytes[] = {MIB / 4, 5 * MIB / 2, 5 * MIB / 4, MIB / 2,
				3 * MIB / 2};
	void *ptr[5], *z = NULL;

	for (unsigned i = 0; i < 5; i++)
		ptr[i] = new_block(pool, bytes[i], a);
	give(ptr[1], a);
	give(ptr[4], a);
	is_status(gpumem_alloc_aligned(pool, 2 * MIB, 2 * MIB, a, &z),
		  GPUMEM_OK, "%s, %s: it is given", name, kind);
	is_uint((uintptr_t)z % (2 * MIB), 0, "%s, %s: it is aligned", name,
		kind);
	stop(name);
}

/* Small blocks have no ticket of their own when their stream goes. */
static void drop_small(void)
{
	static const char name[] = "small blocks of a dropped stream";

	give(new_block(pool, 4 * KIB, a), a);
	must(gpumem_pool_drop_stream(pool, a));
	give(new_block(pool, 4 * MIB, b), b);
	must(gpumem_stream_sync(device, a));
	trim(pool);
	is_uint(reserved_of(pool), 0, "%s, %s: one trim gives all back", name,
		kind);
	stop(name);
}

static void drop_all(void)
{
	static const char name[] = "all streams dropped";
	void *x = new_block(pool, 4 * KIB, a);
	void *y = new_block(pool, 300 * KIB, b);

	give(x, a);
	give(y, b);
	must(gpumem_pool_drop_stream(pool, a));
	must(gpumem_pool_drop_stream(pool, b));
	trim(pool);
	is_uint(reserved_of(pool), 0, "%s, %s: one trim gives all back", name,
		kind);
	stop(name);
}

static void user_destroyed(void)
{
	static const char name[] = "the user's stream destroyed first";
	void *ptr = new_block(pool, 4 * MIB, a);

	must(gpumem_use_on(ptr, b));
	must(gpumem_stream_destroy(device, b));
	give(ptr, a);
	trim(pool);
	is_uint(stats_of(pool).pending_bytes, 0, "%s, %s: nothing is pending",
		name, kind);
	is_uint(reserved_of(pool), 0, "%s, %s: all is given back", name, kind);
	b = new_stream();
	stop(name);
}

/* Its own stream is gone by the time that its user is done with it. */
static void pending_dropped(void)
{
	static const char name[] = "pending, its own stream dropped";
	void *ptr = new_block(pool, 4 * MIB, a);
	struct gate gate;

	must(gpumem_use_on(ptr, b));
	gate_launch(&gate, b, ptr, 4 * MIB);
	give(ptr, a);
	must(gpumem_pool_drop_stream(pool, a));
	gate_finish(&gate, b);
	trim(pool);
	is_uint(reserved_of(pool), 0, "%s, %s: all is given back", name, kind);
	stop(name);
}

/* The handle of a dropped stream may be that of a new one. */
static void handle_again(void)
{
	static const char name[] = "a stream used on after it was dropped";
	void *old = new_block(pool, 4 * KIB, a), *new;

	must(gpumem_pool_drop_stream(pool, a));
	new = new_block(pool, 4 * KIB, a);
	ok(old != new, "%s, %s: blocks differ", name, kind);
	give(old, a);
	give(new, a);
	must(gpumem_pool_drop_stream(pool, a));
	must(gpumem_stream_sync(device, a));
	trim(pool);
	is_uint(reserved_of(pool), 0, "%s, %s: all is given back", name, kind);
	stop(name);
}

/* More looks at a busy stream than events are kept of it. */
static void many_fences(void)
{
	static const char name[] = "a stream that was busy for long";
	void *ptr[40];
	struct gate gate, next;

	for (unsigned i = 0; i < 40; i++)
		ptr[i] = new_block(pool, 2 * MIB, a);
	gate_launch(&gate, a, NULL, 0);
	for (unsigned i = 0; i < 40; i++) {
		give(ptr[i], a);
		trim(pool);
	}
	gate_launch(&next, a, NULL, 0);
	gate_open(&gate);
	while (!atomic_load(&next.begun))
		gate_sleep();
	ok(trim(pool) > 0, "%s, %s: what is over is given back", name, kind);
	gate_finish(&next, a);
	trim(pool);
	is_uint(reserved_of(pool), 0, "%s, %s: one trim gives all back", name,
		kind);
	stop(name);
}

/* A page of which two streams freed a part each. */
static void many_fences_joined(void)
{
	static const char name[] = "a page shared with a stream long busy";
	void *mine[12], *other = NULL;
	struct gate gate;

	for (unsigned i = 0; i < 12; i++)
		mine[i] = new_block(pool, 100 * KIB, a);
	other = new_block(pool, 100 * KIB, b);
	gate_launch(&gate, a, NULL, 0);
	for (unsigned i = 0; i < 12; i++) {
		give(mine[i], a);
		trim(pool);
	}
	give(other, b);
	gate_finish(&gate, a);
	trim(pool);
	is_uint(reserved_of(pool), 0, "%s, %s: one trim gives all back", name,
		kind);
	stop(name);
}

/* An event is not lost, and another made, when it cannot be recorded. */
static void record_fails(void)
{
	static const char name[] = "events that cannot be recorded";
	void *ptr[50];

	for (unsigned i = 0; i < 50; i++)
		ptr[i] = new_block(pool, 4 * KIB, a);
	must(gpumem_host_faults("event_record@1+"));
	for (unsigned i = 0; i < 50; i++)
		give(ptr[i], b);
	must(gpumem_host_faults(NULL));
	ok(calls_of(pool, GPUMEM_CALL_EVENT_CREATE).count < 10,
	   "%s, %s: few are made", name, kind);
	trim(pool);
	is_uint(reserved_of(pool), 0, "%s, %s: all is given back", name, kind);
	stop(name);
}

static void count_failure(gpumem_log_level level, const char *text, void *user)
{
	(void)level;
	(void)text;
	++*(unsigned *)user;
}

/* Pages that do not unmap may not be destroyed, nor their addresses released:
 * the driver is asked for nothing that it must refuse. */
static void unmap_fails(void)
{
	static const char name[] = "pages that do not unmap";
	gpumem_pool *other = new_pool(0);
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	bool vm = strcmp(kind, "pages") == 0;
	unsigned failures = 0;

	give(new_block(other, 4 * MIB, a), a);
	must(gpumem_host_faults("unmap@1;free@1"));
	gpumem_log_set(GPUMEM_LOG_DEBUG, count_failure, &failures);
	is_status(gpumem_pool_destroy(other, 0), GPUMEM_DRIVER,
		  "%s, %s: the end of their pool says so", name, kind);
	gpumem_log_set(GPUMEM_LOG_NONE, NULL, NULL);
	must(gpumem_host_faults(NULL));
	gpumem_last_error(&error);
	ok(strstr(error.text, vm ? "unmap" : "free"),
	   "%s, %s: so does its sentence", name, kind);
	is_uint(failures, 1, "%s, %s: and nothing else failed", name, kind);
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, a));
	must(gpumem_stream_destroy(device, b));
	must(gpumem_device_close(device));
}

/* Segments need not begin where a part of the map of addresses does. */
static void query_near_end(void)
{
	static const char name[] = "pointers near the end of a segment";
	struct gpumem_block info = GPUMEM_INIT(struct gpumem_block);
	uintptr_t ptr[64];
	unsigned wrong = 0;

	for (unsigned i = 0; i < 64; i++)
		ptr[i] = (uintptr_t)new_block(
			pool, 2 * MIB + 4 * KIB * (1 + i % 15), a);
	for (unsigned i = 0; i < 64; i++)
		for (size_t at = 0; at < 2 * MIB + 4 * KIB; at += KIB)
			wrong += gpumem_query((void *)(ptr[i] + at), &info) ||
				 info.ptr != (void *)ptr[i];
	is_uint(wrong, 0, "%s, %s: they are found", name, kind);
	stop(name);
}

static void (*const tests[])(void) = {
	aligned_between, drop_small,   drop_all,       user_destroyed,
	pending_dropped, handle_again, many_fences,    many_fences_joined,
	record_fails,	 unmap_fails,  query_near_end,
};

int main(void)
{
	alarm(300);
	option("host.page", "4KiB");
	option("page", "2MiB");
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		start(true);
		tests[i]();
		start(false);
		tests[i]();
	}
	return done_testing();
}
