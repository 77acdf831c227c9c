/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * As many pages are mapped twice as may be, and more are to be lent: an
 * allocation that may wait does so for work to be over rather than that more
 * memory is taken; one that may not takes it. The streams are held: no work on
 * them is over unless somebody waits for it.
 */
#include "fixture.h"

#define PAGE (2 * MIB)
#define FAR (256 * MIB)

static gpumem_stream stream;
static void *lent;
static uint64_t before; /* reserved */

static void *request(gpumem_stream on, size_t pages, uint32_t flags)
{
	const struct gm_request wants = {.bytes = pages * PAGE,
					 .alignment = FAR,
					 .stream = on,
					 .flags = flags};
	void *ptr;

	must(gm_heap_alloc(&heap, &wants, &ptr));
	return ptr;
}

static void nothing(void *arg)
{
	(void)arg;
}

/* The block is freed with work behind it. */
static void give(void *ptr, gpumem_stream on)
{
	must(gpumem_host_launch(0, on, nothing, NULL));
	must(gm_heap_free(ptr, on));
}

static gpumem_stream held_stream(void)
{
	gpumem_stream made = stream_new();

	must(gpumem_host_hold(0, made, true));
	return made;
}

/* Four pages were lent, which is as many as may be, and six more are free. */
static void begin(void)
{
	heap_start();
	stream = held_stream();
	heap.space->budget.waste = 0;
	heap.space->budget.waste_max = 0;
	lent = request(stream, 4, 0);
	give(lent, stream);
	lent = request(stream, 6, 0);
	is_uint(heap.space->stale.bytes, 4 * PAGE, "four pages are lent");
	heap.space->stale.most = heap.space->stale.handles;
	give(lent, stream);
	before = heap_reserved();
}

static void end(void)
{
	sound("in the end");
	must(gpumem_host_hold(0, stream, false));
	must(gm_stream_sync(device, stream));
	must(heap_trim(0));
	is_uint(heap.space->stale.handles, 0, "a trim leaves nothing stale");
	must(gm_stream_destroy(device, stream));
	heap_end();
}

static void test_wait(void)
{
	begin();
	(void)request(stream, 7, 0);
	is_uint(heap_reserved(), before + PAGE, "one page is new");
	is_uint(calls(GPUMEM_CALL_EVENT_SYNC), 1, "since work was waited for");
	ok(heap.space->stale.handles <= heap.space->stale.most,
	   "no more places than may be");
	end();
}

/* What can be had without a wait is told as far as there are places. */
static void test_promise(void)
{
	begin();
	pthread_mutex_lock(&heap.mutex);
	gm_locals_flush_own(&heap);
	pthread_mutex_unlock(&heap.mutex);
	is_uint(gm_space_now_bytes(&heap, NULL, stream, 0), 0,
		"with no place, nothing is promised of what is busy");
	heap.space->stale.most += 2;
	is_uint(gm_space_now_bytes(&heap, NULL, stream, 0), 2 * PAGE,
		"with two places, two pages");
	must(gm_stream_sync(device, stream));
	gm_arena_poll(arena_of(stream), NULL, true);
	is_uint(gm_space_now_bytes(&heap, NULL, stream, 0), 6 * PAGE,
		"all of them when they are over");
	end();
}

/* What is over needs no wait. */
static void test_over(void)
{
	begin();
	must(gm_stream_sync(device, stream));
	(void)request(stream, 7, 0);
	is_uint(heap_reserved(), before + PAGE, "one page is new");
	is_uint(calls(GPUMEM_CALL_EVENT_SYNC), 0, "nothing was waited for");
	end();
}

static void takes(uint32_t flags, const char *who)
{
	(void)request(stream, 7, flags);
	is_uint(heap_reserved(), before + 7 * PAGE, "%s takes memory", who);
	is_uint(calls(GPUMEM_CALL_EVENT_SYNC), 0, "and waits for nothing");
}

static void test_not(void)
{
	gpumem_stream other = stream_new();

	begin();
	takes(GPUMEM_ALLOC_NO_WAIT, "who must not wait");
	end();
	option("wait", "off");
	begin();
	takes(0, "a pool that does not wait");
	end();
	option("wait", NULL);
	begin();
	must(gm_heap_free(request(other, 1, 0), other));
	before = heap_reserved();
	must(gpumem_host_capture(0, other, true));
	takes(0, "while a stream is captured, an allocation");
	must(gpumem_host_capture(0, other, false));
	must(gm_stream_sync(device, stream));
	gm_arena_poll(arena_of(stream), NULL, true);
	give(request(stream, 4, GPUMEM_ALLOC_NO_WAIT), stream);
	must(gpumem_host_capture(0, other, true));
	(void)request(stream, 9, 0);
	must(gpumem_host_capture(0, other, false));
	is_uint(gpumem_host_capture_violations(), 0,
		"and what is over stays mapped until then");
	end();
	must(gm_stream_destroy(device, other));
}

/* Whose driver fails to wait, or to unmap, is served all the same. */
static void test_failed(void)
{
	static const char *const faults[] = {"event_sync@1+", "unmap@1+"};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		begin();
		must(gpumem_host_faults(faults[i]));
		(void)request(stream, 7, 0);
		must(gpumem_host_faults(""));
		is_uint(heap_reserved(), before + 7 * PAGE, "%s: it grows",
			faults[i]);
		end();
	}
}

/* Of two streams one has all the places: its work is waited for. */
static void test_others(void)
{
	gpumem_stream other;
	void *ptr;

	begin();
	heap.space->budget.stream_waste = 100;
	other = held_stream();
	ptr = request(other, 3, GPUMEM_ALLOC_NO_WAIT);
	give(ptr, other);
	before = heap_reserved();
	(void)request(other, 4, 0);
	ok(heap_reserved() <= before + PAGE, "one page is new at most");
	ok(calls(GPUMEM_CALL_EVENT_SYNC) > 0, "since work was waited for");
	must(gpumem_host_hold(0, other, false));
	must(gm_stream_sync(device, other));
	end();
	must(gm_stream_destroy(device, other));
}

int main(void)
{
	/* What a capture may forbid: in_capture.c is about the rest. */
	option("host.capture_frees", "off");
	alarm(120);
	device_start();
	test_wait();
	test_promise();
	test_over();
	test_not();
	test_failed();
	test_others();
	device_end();
	return done_testing();
}
