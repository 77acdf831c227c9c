/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Stream order where streams are dropped or destroyed: the work that was queued
 * on them counts until it is over, also when the handle is used again. The
 * scenes are those of stream_order.c.
 */
#include "order.h"

static void drop_freed(void)
{
	scene_limit();
	scene_busy(scene.a);
	must(gpumem_free((void *)scene.x, scene.a));
	must(gpumem_pool_drop_stream(scene.pool, scene.a));
	press(scene.b, "while its dropped stream is busy");
	gate_finish(&scene.gate, scene.a);
	reuse(scene.b, "after that");
}

static void drop_live(void)
{
	scene_limit();
	scene_busy(scene.a);
	must(gpumem_pool_drop_stream(scene.pool, scene.a));
	must(gpumem_free((void *)scene.x, scene.b));
	press(scene.b, "freed after its stream was dropped");
	press(scene.c, "on a third stream");
	gate_finish(&scene.gate, scene.a);
	reuse(scene.c, "after that");
}

/* Uses are remembered when the stream that made them goes; also those of blocks
 * that are pending already. */
static void drop_user(void)
{
	scene_limit();
	must(gpumem_use_on((void *)scene.x, scene.b));
	scene_busy(scene.b);
	must(gpumem_pool_drop_stream(scene.pool, scene.b));
	must(gpumem_free((void *)scene.x, scene.a));
	press(scene.a, "while a dropped stream uses it");
	press(scene.c, "on a third stream");
	gate_finish(&scene.gate, scene.b);
	reuse(scene.a, "after that");
}

static void drop_user_pending(void)
{
	scene_limit();
	must(gpumem_use_on((void *)scene.x, scene.b));
	scene_busy(scene.b);
	must(gpumem_host_faults("event_record@1+"));
	must(gpumem_free((void *)scene.x, scene.a));
	must(gpumem_host_faults(NULL));
	must(gpumem_pool_drop_stream(scene.pool, scene.b));
	press(scene.a, "pending, while a dropped stream uses it");
	gate_finish(&scene.gate, scene.b);
	reuse(scene.a, "after that");
}

/* The handle goes on being used: for the pool it is a new stream. */
static void drop_live_again(void)
{
	scene_limit();
	must(gpumem_pool_drop_stream(scene.pool, scene.a));
	scene_busy(scene.a);
	must(gpumem_free((void *)scene.x, scene.a));
	press(scene.b, "freed on a stream that was dropped before");
	gate_finish(&scene.gate, scene.a);
	reuse(scene.b, "after that");
}

static void drop_user_again(void)
{
	scene_limit();
	must(gpumem_use_on((void *)scene.x, scene.b));
	must(gpumem_pool_drop_stream(scene.pool, scene.b));
	must(gpumem_use_on((void *)scene.x, scene.b));
	scene_busy(scene.b);
	must(gpumem_free((void *)scene.x, scene.a));
	press(scene.a, "used again by a stream that was dropped before");
	gate_finish(&scene.gate, scene.b);
	reuse(scene.a, "after that");
}

/* The device waits for the stream's work before it destroys it. */
static void *destroy_a(void *unused)
{
	(void)unused;
	must(gpumem_stream_destroy(device, scene.a));
	return NULL;
}

static uint64_t records(void)
{
	return calls_of(scene.pool, GPUMEM_CALL_EVENT_RECORD).count;
}

static void destroy_freed(void)
{
	uint64_t before = records();
	pthread_t thread;
	int polls = 0;

	scene_limit();
	scene_busy(scene.a);
	must(gpumem_free((void *)scene.x, scene.a));
	if (pthread_create(&thread, NULL, destroy_a, NULL))
		bail("no thread");
	while (records() == before && polls++ < 20000)
		gate_sleep();
	ok(records() > before, "%s: an event is recorded before it goes",
	   scene.name);
	press(scene.b, "while its stream is being destroyed");
	gate_open(&scene.gate);
	pthread_join(thread, NULL);
	scene.a = NULL;
	reuse(scene.b, "after that");
}

/* A handle that names no stream any more, or never did: refused where the
 * driver knows, and nothing has happened. */
static void refuse_none(void)
{
	gpumem_stream none = (gpumem_stream)(uintptr_t)0x1234, gone = NULL;
	void *ptr = NULL;

	must(gpumem_stream_create(device, &gone));
	ptr = new_block(scene.pool, scene.bytes, gone);
	must(gpumem_stream_destroy(device, gone));
	for (int i = 0; i < 2; i++) {
		gpumem_stream stream = i ? gone : none;
		void *other = NULL;

		is_status(gpumem_alloc(scene.pool, 5000, stream, &other),
			  GPUMEM_INVALID, "%s: allocated on %s", scene.name,
			  i ? "one that is gone" : "none");
		ok(strstr(last_text(), "no stream"), "and is told so");
		ok(strstr(last_text(), "the stream cannot be used: host:0: ") ==
			   last_text(),
		   "in words first: %s", last_text());
		is_status(gpumem_use_on(ptr, stream), GPUMEM_INVALID, "used");
		is_status(gpumem_free(ptr, stream), GPUMEM_INVALID, "freed");
		is_ptr(other, NULL, "there is no block");
	}
	must(gpumem_free_own(ptr));
	must(gpumem_free((void *)scene.x, scene.a));
	is_uint(stats_of(scene.pool).pending_bytes, 0, "nothing is pending");
	sound(scene.pool, "sound");
}

static const struct scene_test tests[] = {
	{"a stream that is none", refuse_none, false, false},
	{"freed, then dropped", drop_freed, false, false},
	{"dropped, then freed", drop_live, false, false},
	{"dropped, and used on", drop_live_again, false, false},
	{"its user dropped", drop_user, false, false},
	{"its user dropped, pending", drop_user_pending, false, false},
	{"its user dropped, and used on", drop_user_again, false, false},
	{"freed, then destroyed", destroy_freed, false, false},
};

int main(void)
{
	alarm(300);
	scene_run(tests, sizeof(tests) / sizeof(tests[0]));
	return done_testing();
}
