/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Blocks that are freed after an event: no stream gets their memory before the
 * work that the event stood for is over, the block's own stream neither,
 * whatever becomes of the event right after. The scenes are those of
 * stream_order.c; the work is on stream B, X is of stream A.
 */
#include "order.h"

static gpumem_event *new_event(void)
{
	gpumem_event *event = NULL;

	must(gpumem_event_create(device, &event));
	return event;
}

/* Stands for the work on B that is going to write X. */
static gpumem_event *busy_event(void)
{
	gpumem_event *event = new_event();

	scene_limit();
	scene_busy(scene.b);
	must(gpumem_event_record(event, scene.b));
	return event;
}

/* Nobody gets it until the work on B is over, and then its own stream does. */
static void kept(void)
{
	press(scene.a, "on its own stream");
	press(scene.b, "where the work is");
	press(scene.c, "on a third stream");
	ok(stats_of(scene.pool).pending_bytes == scene.x_bytes,
	   "%s: it is pending", scene.name);
	gate_finish(&scene.gate, scene.b);
	reuse(scene.a, "on its own stream after that");
	is_uint(stats_of(scene.pool).pending_bytes, 0,
		"%s: nothing is pending then", scene.name);
}

static void after_event(void)
{
	gpumem_event *event = busy_event();

	must(gpumem_free_after((void *)scene.x, event));
	kept();
	must(gpumem_event_destroy(event));
}

/* The newer record, of a stream without work, is over at once. */
static void recorded_again(void)
{
	gpumem_event *event = busy_event();

	must(gpumem_free_after((void *)scene.x, event));
	must(gpumem_event_record(event, scene.c));
	is_status(gpumem_event_query(event), GPUMEM_OK,
		  "%s: the event stands for the newer work", scene.name);
	kept();
	must(gpumem_event_destroy(event));
}

static void destroyed(void)
{
	gpumem_event *event = busy_event();

	must(gpumem_free_after((void *)scene.x, event));
	must(gpumem_event_destroy(event));
	/* One that takes its place, or the backend's, is another one. */
	event = new_event();
	must(gpumem_event_record(event, scene.c));
	kept();
	must(gpumem_event_destroy(event));
}

/* What an event stood for in between counts for the block that was freed then,
 * and X waits for the work on B alone. */
static void two_records(void)
{
	gpumem_event *event = busy_event();
	void *other;

	must(gpumem_free_after((void *)scene.x, event));
	must(gpumem_pool_set_limit(scene.pool, 0));
	other = new_block(scene.pool, scene.bytes, scene.a);
	gate_launch(&scene.second, scene.c, NULL, 0);
	must(gpumem_event_record(event, scene.c));
	must(gpumem_free_after(other, event));
	scene_limit();
	press(scene.a, "while both streams work");
	gate_finish(&scene.gate, scene.b);
	reuse(scene.a, "when its own event is over");
	ok(stats_of(scene.pool).pending_bytes != 0,
	   "%s: the other block still waits", scene.name);
	gate_finish(&scene.second, scene.c);
	trim(scene.pool);
	is_uint(stats_of(scene.pool).pending_bytes, 0, "%s: and then no more",
		scene.name);
	must(gpumem_event_destroy(event));
}

/* Uses that were named are waited for besides. */
static void used_too(void)
{
	gpumem_event *event = busy_event();

	must(gpumem_use_on((void *)scene.x, scene.c));
	gate_launch(&scene.second, scene.c, NULL, 0);
	must(gpumem_free_after((void *)scene.x, event));
	press(scene.a, "while the event and a use are under way");
	gate_finish(&scene.gate, scene.b);
	press(scene.a, "while a use is under way");
	gate_finish(&scene.second, scene.c);
	reuse(scene.a, "after that");
	must(gpumem_event_destroy(event));
}

/* Its own stream's work is waited for where another stream takes it. */
static void own_busy(void)
{
	gpumem_event *event = new_event();

	scene_limit();
	must(gpumem_event_record(event, scene.b));
	scene_busy(scene.a);
	must(gpumem_free_after((void *)scene.x, event));
	press(scene.c, "while its own stream is busy");
	gate_finish(&scene.gate, scene.a);
	reuse(scene.c, "after that");
	must(gpumem_event_destroy(event));
}

/* An event that stands for nothing, or for what is over, keeps nothing. */
static void over_already(void)
{
	gpumem_event *event = new_event();

	scene_limit();
	must(gpumem_free_after((void *)scene.x, event));
	is_uint(stats_of(scene.pool).pending_bytes, 0,
		"%s: an event that was never recorded keeps nothing",
		scene.name);
	reuse(scene.a, "at once");
	scene.x = (uintptr_t)new_block(scene.pool, scene.bytes, scene.a);
	must(gpumem_event_record(event, scene.b));
	must(gpumem_event_sync(event));
	must(gpumem_free_after((void *)scene.x, event));
	is_uint(stats_of(scene.pool).pending_bytes, 0,
		"%s: nor does one whose work is over", scene.name);
	must(gpumem_event_destroy(event));
}

static void streams_dropped(void)
{
	gpumem_event *event = busy_event();

	must(gpumem_free_after((void *)scene.x, event));
	must(gpumem_pool_drop_stream(scene.pool, scene.a));
	must(gpumem_pool_drop_stream(scene.pool, scene.b));
	press(scene.a, "on its own stream, which was dropped");
	press(scene.c, "on a third stream");
	gate_finish(&scene.gate, scene.b);
	reuse(scene.c, "after that");
	must(gpumem_event_destroy(event));
}

static void own_dropped_before(void)
{
	gpumem_event *event = busy_event();

	must(gpumem_pool_drop_stream(scene.pool, scene.a));
	must(gpumem_free_after((void *)scene.x, event));
	press(scene.c, "whose own stream was dropped before");
	gate_finish(&scene.gate, scene.b);
	reuse(scene.c, "after that");
	must(gpumem_event_destroy(event));
}

/* Nothing is recorded or queried on a stream that is being captured:
 * scene_close() looks at the violations. */
static void captured(void)
{
	gpumem_event *event = busy_event();
	gpumem_graph *graph;
	void *ptr;

	must(gpumem_pool_set_limit(scene.pool, 0));
	must(gpumem_graph_create(scene.pool, &graph));
	must(gpumem_graph_begin(graph, scene.a));
	must(gpumem_host_capture(0, scene.a, true));
	ptr = new_block(scene.pool, scene.bytes, scene.a);
	must(gpumem_free_after(ptr, event));
	must(gpumem_free_after((void *)scene.x, event));
	is_status(gpumem_event_query(event), GPUMEM_NOT_READY,
		  "%s: an event can be asked in a capture", scene.name);
	scene_limit();
	press(scene.c, "while its stream is captured");
	must(gpumem_host_capture(0, scene.a, false));
	must(gpumem_graph_end(graph, scene.a));
	press(scene.c, "after the capture");
	gate_finish(&scene.gate, scene.b);
	reuse(scene.c, "after that");
	must(gpumem_graph_destroy(graph, scene.a));
	must(gpumem_event_destroy(event));
}

static void destroy_pool(void)
{
	gpumem_event *event = busy_event();
	pthread_t thread;

	must(gpumem_free_after((void *)scene.x, event));
	must(gpumem_event_destroy(event));
	thread = gate_open_later(&scene.gate);
	must(gpumem_pool_destroy(scene.pool, 0));
	ok(atomic_load(&scene.gate.passed),
	   "%s: the end of a pool waits for it", scene.name);
	pthread_join(thread, NULL);
	scene.pool = new_pool(0);
}

/* Work on A that comes after an allocation. */
static void look(void *passed)
{
	*(bool *)passed = atomic_load(&scene.gate.passed);
}

/* All that the pool has is asked for. The event is gone by then. */
static void alloc_waits(void)
{
	gpumem_event *event = busy_event();
	bool passed = false;
	pthread_t thread;
	void *ptr;

	must(gpumem_free_after((void *)scene.x, event));
	must(gpumem_event_destroy(event));
	thread = gate_open_later(&scene.gate);
	ptr = new_block(scene.pool, reserved_of(scene.pool), scene.a);
	must(gpumem_host_launch(0, scene.a, look, &passed));
	must(gpumem_stream_sync(device, scene.a));
	ok(passed, "%s: an allocation or its stream waits for it", scene.name);
	pthread_join(thread, NULL);
	must(gpumem_free(ptr, scene.a));
}

static const struct scene_test tests[] = {
	{"freed after an event", after_event, false, false},
	{"recorded again", recorded_again, false, false},
	{"destroyed", destroyed, false, false},
	{"two records of an event", two_records, false, false},
	{"used on a stream too", used_too, false, false},
	{"its own stream busy", own_busy, false, false},
	{"an event that is over", over_already, false, false},
	{"streams dropped", streams_dropped, false, false},
	{"own stream dropped before", own_dropped_before, false, false},
	{"captured", captured, false, false},
	{"pool destroyed", destroy_pool, false, false},
	{"allocation waits", alloc_waits, true, false},
};

int main(void)
{
	alarm(300);
	scene_run(tests, sizeof(tests) / sizeof(tests[0]));
	return done_testing();
}
