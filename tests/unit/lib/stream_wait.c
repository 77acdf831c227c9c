/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Stream order where a stream is captured, so that no event can be recorded,
 * and where an allocation waits for work rather than fail (option wait). The
 * scenes are those of stream_order.c.
 */
#include "order.h"

static void capture(gpumem_stream stream, bool on)
{
	must(gpumem_host_capture(0, stream, on));
}

static void capture_own(void)
{
	uint64_t before;

	scene_limit();
	scene_busy(scene.a);
	must(gpumem_free((void *)scene.x, scene.a));
	capture(scene.a, true);
	press(scene.b, "while its stream is captured");
	before = reserved_of(scene.pool);
	is_uint(trim(scene.pool), 0, "%s: a trim gives nothing back",
		scene.name);
	is_uint(reserved_of(scene.pool), before, "%s: indeed", scene.name);
	capture(scene.a, false);
	press(scene.b, "after the capture, while its stream is busy");
	gate_finish(&scene.gate, scene.a);
	reuse(scene.b, "after that");
}

static void capture_free(void)
{
	scene_limit();
	scene_busy(scene.a);
	capture(scene.a, true);
	must(gpumem_free((void *)scene.x, scene.a));
	press(scene.b, "freed while its stream is captured");
	capture(scene.a, false);
	gate_finish(&scene.gate, scene.a);
	reuse(scene.b, "after that");
}

/* That the other stream uses it cannot be recorded when it is freed. */
static void capture_user(void)
{
	scene_limit();
	must(gpumem_use_on((void *)scene.x, scene.b));
	scene_busy(scene.b);
	capture(scene.b, true);
	must(gpumem_free((void *)scene.x, scene.a));
	press(scene.a, "while its user is captured");
	press(scene.c, "on a third stream");
	capture(scene.b, false);
	press(scene.a, "after the capture, while its user is busy");
	gate_finish(&scene.gate, scene.b);
	reuse(scene.a, "after that");
}

/* One captured stream forbids to unmap anything, though X is idle. */
static void capture_beside(void)
{
	must(gpumem_free(new_block(scene.pool, 1, scene.b), scene.b));
	must(gpumem_free((void *)scene.x, scene.a));
	capture(scene.b, true);
	is_uint(trim(scene.pool), 0, "%s: a trim gives nothing back",
		scene.name);
	ok(is_safe(), "%s: indeed", scene.name);
	capture(scene.b, false);
	ok(trim(scene.pool) >= scene.x_bytes, "%s: after the capture it does",
	   scene.name);
}

/* The same where the pool knows the stream only as a user of a block. */
static void capture_beside_user(void)
{
	void *y = new_block(scene.pool, scene.bytes, scene.a);

	must(gpumem_use_on(y, scene.b));
	must(gpumem_free((void *)scene.x, scene.a));
	capture(scene.b, true);
	is_uint(trim(scene.pool), 0, "%s: a trim gives nothing back",
		scene.name);
	ok(is_safe(), "%s: indeed", scene.name);
	capture(scene.b, false);
	must(gpumem_free(y, scene.a));
	ok(trim(scene.pool) >= scene.x_bytes, "%s: after the capture it does",
	   scene.name);
}

static void capture_end_of(void)
{
	must(gpumem_free((void *)scene.x, scene.a));
	capture(scene.a, true);
	is_status(gpumem_pool_drop_stream(scene.pool, scene.a),
		  GPUMEM_CAPTURING, "%s: its stream is not dropped",
		  scene.name);
	is_status(gpumem_stream_destroy(device, scene.a), GPUMEM_CAPTURING,
		  "%s: nor destroyed", scene.name);
	is_status(gpumem_pool_destroy(scene.pool, 0), GPUMEM_BUSY,
		  "%s: nor its pool", scene.name);
	is_status(gpumem_pool_destroy(scene.pool, GPUMEM_DESTROY_FORCE),
		  GPUMEM_BUSY, "%s: not even by force", scene.name);
	sound(scene.pool, "%s: the pool is sound", scene.name);
	capture(scene.a, false);
}

/* Programs allocate while they capture. */
static void capture_grow(void)
{
	void *ptr = NULL;

	capture(scene.a, true);
	is_status(gpumem_alloc(scene.pool, scene.bytes, scene.a, &ptr),
		  GPUMEM_OK, "%s: a captured stream gets new memory",
		  scene.name);
	ok(!overlaps((uintptr_t)ptr, scene.bytes), "%s: not X's", scene.name);
	must(gpumem_free(ptr, scene.a));
	capture(scene.a, false);
	must(gpumem_free((void *)scene.x, scene.a));
}

/* Waiting would be for work that cannot end while the capture lasts. */
static void capture_no_wait(void)
{
	must(gpumem_free(new_block(scene.pool, 1, scene.b), scene.b));
	scene_limit();
	scene_busy(scene.a);
	must(gpumem_free((void *)scene.x, scene.a));
	capture(scene.b, true);
	press(scene.c, "and nothing waits while a stream is captured");
	capture(scene.b, false);
	gate_finish(&scene.gate, scene.a);
	reuse(scene.c, "after that");
}

enum { OURS = 0xa5 };

static bool holds_ours(const unsigned char *ptr)
{
	size_t i = 0;

	while (i < scene.bytes && ptr[i] == OURS)
		i++;
	return i == scene.bytes;
}

/* Allocates until X's memory comes: when the work is over, or behind that work,
 * which then writes before all that is queued on the stream from now on. */
static void wait_for_x(gpumem_stream stream)
{
	static void *ptr[GRAB_MAX];
	pthread_t thread = gate_open_later(&scene.gate);
	bool had = false;
	unsigned count = 0;

	while (!had && count < GRAB_MAX) {
		if (gpumem_alloc(scene.pool, scene.bytes, stream, &ptr[count]))
			break;
		must(gpumem_fill(device, ptr[count], OURS, scene.bytes,
				 stream));
		had = overlaps((uintptr_t)ptr[count++], scene.bytes) ||
		      !is_backed();
	}
	ok(had, "%s: it waits for it", scene.name);
	pthread_join(thread, NULL);
	must(gpumem_stream_sync(device, scene.a));
	must(gpumem_stream_sync(device, scene.b));
	must(gpumem_stream_sync(device, scene.c));
	ok(atomic_load(&scene.gate.passed) && count &&
		   holds_ours(ptr[count - 1]),
	   "%s: as long as it has to", scene.name);
	while (count > 0)
		must(gpumem_free(ptr[--count], stream));
	sound(scene.pool, "%s: the pool is sound", scene.name);
}

static void wait_freed(void)
{
	scene_limit();
	scene_busy(scene.a);
	must(gpumem_free((void *)scene.x, scene.a));
	wait_for_x(scene.b);
}

static void wait_pending(void)
{
	scene_limit();
	must(gpumem_use_on((void *)scene.x, scene.b));
	scene_busy(scene.b);
	must(gpumem_free((void *)scene.x, scene.a));
	wait_for_x(scene.a);
}

static void wait_dropped(void)
{
	scene_limit();
	scene_busy(scene.a);
	must(gpumem_free((void *)scene.x, scene.a));
	must(gpumem_pool_drop_stream(scene.pool, scene.a));
	wait_for_x(scene.c);
}

/* First the use is waited for, then the block's own stream. */
static void wait_both(void)
{
	pthread_t thread;

	scene_limit();
	gate_launch(&scene.second, scene.b, NULL, 0);
	scene_busy(scene.a);
	must(gpumem_free((void *)scene.x, scene.b));
	thread = gate_open_later(&scene.second);
	wait_for_x(scene.c);
	pthread_join(thread, NULL);
}

static bool finish_meanwhile(gpumem_pool *pool,
			     const struct gpumem_pressure *pressure, void *user)
{
	(void)pool;
	(void)pressure;
	(void)user;
	if (!atomic_load(&scene.gate.passed))
		gate_finish(&scene.gate, scene.a);
	return false;
}

/* The work ends when the allocation has already looked, and before it waits. */
static void wait_for_none(void)
{
	void *ptr[GRAB_MAX];
	bool had = false;
	unsigned count = 0;

	scene_limit();
	scene_busy(scene.a);
	must(gpumem_free((void *)scene.x, scene.a));
	must(gpumem_pool_pressure_add(scene.pool, finish_meanwhile, NULL));
	while (!had && count < GRAB_MAX &&
	       gpumem_alloc(scene.pool, scene.bytes, scene.b, &ptr[count]) ==
		       GPUMEM_OK)
		had = overlaps((uintptr_t)ptr[count++], scene.bytes) ||
		      !is_backed();
	ok(had, "%s: it has no need to wait", scene.name);
	must(gpumem_pool_pressure_remove(scene.pool, finish_meanwhile, NULL));
	while (count > 0)
		must(gpumem_free(ptr[--count], scene.b));
	sound(scene.pool, "%s: the pool is sound", scene.name);
}

/* An event that could not be recorded is no reason to think the work over. */
static void wait_after_fault(void)
{
	scene_limit();
	must(gpumem_use_on((void *)scene.x, scene.b));
	scene_busy(scene.b);
	must(gpumem_host_faults("event_record@1"));
	must(gpumem_free((void *)scene.x, scene.a));
	must(gpumem_host_faults(NULL));
	wait_for_x(scene.a);
}

/* The end of a pool, while one call of the driver fails: it waits all the same.
 * X was freed on A, and stream B may use it too. */
static void destroy_with(const char *faults)
{
	pthread_t thread = gate_open_later(&scene.gate);

	must(gpumem_host_faults(faults));
	must(gpumem_pool_destroy(scene.pool, 0));
	must(gpumem_host_faults(NULL));
	ok(atomic_load(&scene.gate.passed),
	   "%s: the end of a pool waits for it", scene.name);
	pthread_join(thread, NULL);
	scene.pool = new_pool(0);
}

static void destroy_after_fault(void)
{
	must(gpumem_use_on((void *)scene.x, scene.b));
	gate_launch(&scene.gate, scene.b, NULL, 0);
	must(gpumem_host_faults("event_record@1"));
	must(gpumem_free((void *)scene.x, scene.a));
	destroy_with(NULL);
}

static void destroy_no_record(void)
{
	gate_launch(&scene.gate, scene.a, NULL, 0);
	must(gpumem_free((void *)scene.x, scene.a));
	destroy_with("event_record@1");
}

static void destroy_no_sync(void)
{
	gate_launch(&scene.gate, scene.a, NULL, 0);
	must(gpumem_free((void *)scene.x, scene.a));
	destroy_with("event_sync@1");
}

static void destroy_pending_no_sync(void)
{
	must(gpumem_use_on((void *)scene.x, scene.b));
	gate_launch(&scene.gate, scene.b, NULL, 0);
	must(gpumem_free((void *)scene.x, scene.a));
	destroy_with("event_sync@1+");
}

static const struct scene_test tests[] = {
	{"captured", capture_own, false, false},
	{"freed in a capture", capture_free, false, false},
	{"its user captured", capture_user, false, false},
	{"another captured", capture_beside, false, false},
	{"a user captured", capture_beside_user, false, false},
	{"captured and to end", capture_end_of, false, false},
	{"captured and to grow", capture_grow, false, false},
	{"captured, with waiting", capture_no_wait, true, false},
	{"waiting for its stream", wait_freed, true, false},
	{"waiting for its user", wait_pending, true, false},
	{"waiting for a dropped stream", wait_dropped, true, false},
	{"waiting for both", wait_both, true, false},
	{"waiting for what is over", wait_for_none, true, false},
	{"waiting after a fault", wait_after_fault, true, false},
	{"pool destroyed after a fault", destroy_after_fault, false, false},
	{"pool destroyed, no event", destroy_no_record, false, false},
	{"pool destroyed, no waiting", destroy_no_sync, false, false},
	{"pool destroyed, pending, no waiting", destroy_pending_no_sync, false,
	 false},
};

int main(void)
{
	alarm(300);
	scene_run(tests, sizeof(tests) / sizeof(tests[0]));
	return done_testing();
}
