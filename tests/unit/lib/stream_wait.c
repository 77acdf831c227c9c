/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Stream order where an allocation waits for work rather than fail (option
 * wait). The scenes are those of stream_order.c.
 */
#include "order.h"

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

/* The work ends when the allocation has already looked, and before it waits;
 * its stream cannot. */
static void wait_for_none(void)
{
	void *ptr[GRAB_MAX];
	bool had = false;
	unsigned count = 0;

	scene_limit();
	scene_busy(scene.a);
	must(gpumem_free((void *)scene.x, scene.a));
	must(gpumem_pool_pressure_add(scene.pool, finish_meanwhile, NULL));
	must(gpumem_host_faults("stream_wait@1+"));
	while (!had && count < GRAB_MAX &&
	       gpumem_alloc(scene.pool, scene.bytes, scene.b, &ptr[count]) ==
		       GPUMEM_OK)
		had = overlaps((uintptr_t)ptr[count++], scene.bytes) ||
		      !is_backed();
	ok(had, "%s: it has no need to wait", scene.name);
	must(gpumem_host_faults(NULL));
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
