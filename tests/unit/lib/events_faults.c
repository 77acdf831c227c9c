/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Every driver call of a program with events fails once, and every one from
 * some call on: a failure changes nothing, no block is given away before the
 * work of its event is over, and once nothing fails any more all goes back.
 */
#include "sweep.h"

enum { BLOCKS = 4 };

static const size_t sizes[BLOCKS] = {300, 5000, MIB, 33 * MIB};

static gpumem_pool *pool;

/* An event that stands for the work on the stream, imported or not; NULL: a
 * call failed. */
static gpumem_event *event_on(gpumem_stream stream, bool imported)
{
	gpumem_event *event = NULL, *copy = NULL;
	void *native = &native;

	if (gpumem_event_create(device, &event)) {
		want(!event, "a failure wrote its output");
		return NULL;
	}
	if (gpumem_event_record(event, stream)) {
		want(gpumem_event_query(event) != GPUMEM_NOT_READY,
		     "a record failed and was made");
		(void)!gpumem_event_destroy(event);
		return NULL;
	}
	if (!imported)
		return event;
	if (gpumem_event_native(event, &native))
		want(native == &native, "a failure wrote its output");
	else if (gpumem_event_import(device, native, &copy))
		want(!copy, "a failure wrote its output");
	(void)!gpumem_event_destroy(event);
	return copy;
}

/* Frees the blocks after work on a stream that goes on meanwhile; each event is
 * recorded again or destroyed at once. */
static void free_all(void *const *ptr, gpumem_stream busy, gpumem_stream idle)
{
	for (int i = 0; i < BLOCKS; i++) {
		gpumem_event *event = ptr[i] ? event_on(busy, i % 2) : NULL;

		if (!event) {
			want(!gpumem_free(ptr[i], busy), "free");
			continue;
		}
		want(!gpumem_free_after(ptr[i], event), "free_after");
		if (i % 2 == 0)
			(void)!gpumem_event_record(event, idle);
		(void)!gpumem_stream_wait(device, idle, event);
		(void)!gpumem_event_destroy(event);
		want(gpumem_event_query(event) == GPUMEM_INVALID,
		     "an event outlives its end");
	}
}

static void program(gpumem_stream a, gpumem_stream b, gpumem_stream c)
{
	void *ptr[BLOCKS] = {NULL}, *again[BLOCKS] = {NULL};

	for (int i = 0; i < BLOCKS; i++)
		(void)!gpumem_alloc(pool, sizes[i], a, &ptr[i]);
	free_all(ptr, b, c);
	(void)!gpumem_pool_trim(pool, 0, NULL);
	for (int i = 0; i < BLOCKS; i++)
		if (!gpumem_alloc(pool, sizes[i], a, &again[i]))
			for (int k = 0; k < BLOCKS; k++)
				want(!ptr[k] || again[i] != ptr[k],
				     "a block was given away");
	want(!gpumem_pool_check(pool), "sound while pending");
	for (int i = 0; i < BLOCKS; i++)
		want(!gpumem_free(again[i], a), "free");
	faults_end();
}

static void run(void)
{
	gpumem_stream a, b, c;
	struct gate gate;

	must(gpumem_device_open("host:0", &device));
	pool = new_pool(0);
	a = new_stream();
	b = new_stream();
	c = new_stream();
	gate_launch(&gate, b, NULL, 0);
	while (!atomic_load(&gate.begun))
		gate_sleep();
	faults_begin();
	program(a, b, c);
	gate_open(&gate);
	while (!atomic_load(&gate.passed))
		gate_sleep();
	if (!sweep.lost)
		must(gpumem_stream_sync(device, b));
	want(!gpumem_pool_check(pool), "sound afterwards");
	if (!sweep.lost) {
		must(gpumem_pool_trim(pool, 0, NULL));
		want(!stats_of(pool).pending_bytes, "a block stays pending");
		want(!reserved_of(pool), "memory stays");
	}
	want(!gpumem_pool_destroy(pool, 0), "the pool ends");
	want(!gpumem_device_close(device), "an event is left");
}

int main(void)
{
	alarm(120);
	option("host.capacity", "256MiB");
	option("wait", "off");
	sweep_scene("pages", run, 20);
	option("vm", "off");
	sweep_scene("segments", run, 20);
	return done_testing();
}
