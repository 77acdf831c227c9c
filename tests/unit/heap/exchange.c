/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Without virtual memory: how often an unused segment goes back for another
 * one, what other threads see of it, and that an allocation waits for unused
 * segments once, and no longer than it may. Which of these is done is
 * decide_segments.c's.
 */
#include "fixture.h"
#include "../device/hooked.h"
#include <semaphore.h>

static void *live, *unused;

static gpumem_status request(size_t bytes, gpumem_stream stream, uint32_t flags,
			     void **ptr_out)
{
	const struct gm_request wants = {.bytes = bytes,
					 .alignment = 1,
					 .stream = stream,
					 .flags = flags};

	return gm_heap_alloc(&heap, &wants, ptr_out);
}

static void scene(gpumem_stream stream)
{
	heap_start();
	must(request(40 * MIB, stream, 0, &live));
	must(request(20 * MIB, stream, 0, &unused));
	must(gm_heap_free(unused, stream));
	is_uint(heap.counters.segments.current, 2, "two segments");
}

static bool is_in_unused(const void *ptr)
{
	return ptr >= unused && (char *)ptr < (char *)unused + 20 * MIB;
}

/* Up to the 5 % that may be wasted. */
static void fill(gpumem_stream stream)
{
	void *ptr;

	must(request(1900 * KIB, stream, 0, &ptr));
	ok(!is_in_unused(ptr), "no more than the waste: it stays");
	is_uint(calls(GPUMEM_CALL_FREE), 0, "nothing goes back");
}

/* And ends the heap. */
static void is_cut(gpumem_stream stream, const char *why)
{
	uint64_t before = heap.counters.segments.current;
	void *ptr;

	must(request(1900 * KIB, stream, 0, &ptr));
	ok(is_in_unused(ptr) && heap.counters.segments.current == before &&
		   !calls(GPUMEM_CALL_FREE),
	   "%s: it is cut", why);
	sound("cut");
	heap_end();
}

static gpumem_stream exchange_start(void)
{
	alarm(60);
	option("vm", "off");
	option("host.capacity", "1GiB");
	must(gm_device_open("host:0", &device));
	return stream_new();
}

static void exchange_end(gpumem_stream stream)
{
	must(gm_stream_destroy(device, stream));
	device_end();
}

/* One of a segment of 2 MiB waits for so many allocations; what is had in
 * advance; and how many blocks scene() and fill() allocate. */
enum { BLOCKS = 16, AT_ONCE = 16000, ALLOCATED = 3 };

static void test_often(void)
{
	void *ptr;

	scene(NULL);
	fill(NULL);
	heap.space->budget.exchanged_blocks = AT_ONCE + ALLOCATED - BLOCKS + 1;
	is_cut(NULL, "often enough");
	scene(NULL);
	fill(NULL);
	heap.space->budget.exchanged_blocks = AT_ONCE + ALLOCATED - BLOCKS;
	must(request(1900 * KIB, NULL, 0, &ptr));
	is_uint(calls(GPUMEM_CALL_FREE), 1, "not quite: it goes back");
	heap_end();
	scene(NULL);
	heap.space->budget.exchanged_blocks = INT64_MAX / 2;
	fill(NULL);
	is_cut(NULL, "too often");
}

/* Nothing goes for it, so it is no exchange. */
static void test_left(void)
{
	void *large, *small;

	option("segment_waste", "0");
	scene(NULL);
	must(request(19 * MIB, NULL, 0, &large));
	ok(is_in_unused(large), "a large block leaves little of a segment");
	heap.space->budget.exchanged_blocks = INT64_MAX / 2;
	must(request(100 * KIB, NULL, 0, &small));
	ok(!is_in_unused(small), "which is spared, however often");
	heap_end();
	option("segment_waste", NULL);
}

static void test_waits(void)
{
	void *ptr;

	scene(NULL);
	device->info.caps |= GPUMEM_CAP_FREE_WAITS;
	fill(NULL);
	must(request(1900 * KIB, NULL, GPUMEM_ALLOC_NO_WAIT, &ptr));
	ok(is_in_unused(ptr) && !calls(GPUMEM_CALL_FREE),
	   "NO_WAIT where giving back waits: it is cut");
	device->info.caps &= ~(uint32_t)GPUMEM_CAP_FREE_WAITS;
	heap_end();
}

/* A free block of 4 MiB that others could have. */
static void leave_some(gpumem_stream stream)
{
	void *ptr;

	must(request(4 * MIB, stream, 0, &ptr));
	must(gm_heap_free(ptr, stream));
	must(request(100 * KIB, stream, 0, &ptr));
}

static void is_own(gpumem_stream stream, gpumem_stream other, uint32_t flags,
		   const char *why)
{
	void *ptr;

	must(request(1900 * KIB, stream, flags, &ptr));
	ok(is_in_unused(ptr), "%s: it is cut", why);
	ok(arena_of(other)->index.bytes > 2 * MIB,
	   "%s: before another stream loses what would do", why);
	sound("their own");
}

/* A thread that has a block of its own ready, until it is let go. */
static sem_t is_ready, may_go;

static void *have_ready(void *stream)
{
	void *ptr;

	must(request(MIB, stream, 0, &ptr));
	must(gm_heap_free(ptr, stream));
	sem_post(&is_ready);
	while (sem_wait(&may_go))
		;
	gm_locals_end_call();
	return NULL;
}

static uint64_t ready_bytes(void)
{
	uint64_t bytes;

	gm_locals_stop(&heap);
	bytes = gm_locals_cached_bytes(&heap);
	gm_locals_go(&heap);
	return bytes;
}

static void test_not_completed(gpumem_stream stream)
{
	struct hold hold;
	pthread_t thread;

	option("segment_wait_ms", "0");
	heap_start();
	must(request(40 * MIB, NULL, 0, &live));
	must(request(20 * MIB, stream, 0, &unused));
	leave_some(NULL);
	heap.space->budget.waste = 0;
	if (pthread_create(&thread, NULL, have_ready, NULL))
		bail("no thread");
	while (sem_wait(&is_ready))
		;
	hold_begin(&hold, stream);
	must(gm_heap_free(unused, stream));
	ok(arena_of(stream)->idle, "a stream that was idle is busy");
	is_own(stream, NULL, 0, "it cannot go back");
	is_uint(ready_bytes(), MIB, "and threads what they have ready");
	sem_post(&may_go);
	pthread_join(thread, NULL);
	hold_end(&hold, stream);
	heap_end();
	option("segment_wait_ms", NULL);
}

/* ---- another thread ---- */

static bool refuses; /* the driver, and another thread allocates meanwhile */
static void *taken;

static void *take_some(void *unused_arg)
{
	(void)unused_arg;
	must(request(1900 * KIB, NULL, GPUMEM_ALLOC_NO_GROW, &taken));
	gm_locals_end_call();
	return NULL;
}

static gpumem_status meanwhile(const char *slot, size_t count)
{
	pthread_t thread;

	(void)count;
	if (!refuses || strcmp(slot, "alloc"))
		return GPUMEM_OK;
	if (!taken) {
		if (pthread_create(&thread, NULL, take_some, NULL))
			bail("no thread");
		pthread_join(thread, NULL);
	}
	return GPUMEM_NO_MEMORY;
}

/* Its search has ended when the one that grew in vain goes on. */
static void test_beside(void)
{
	scene(NULL);
	refuses = true;
	hook_driver(device, (struct hooks){meanwhile, NULL});
	is_cut(NULL, "refused, and another thread has searched");
	ok(is_in_unused(taken), "which has a part of it");
	unhook_driver(device);
}

static bool may(uint64_t mib)
{
	return gm_budget_may_exchange(&heap, mib * MIB);
}

/* In MiB. */
enum { LARGEST = 2 * (AT_ONCE - 15) };

static void test_count(void)
{
	int64_t *done;

	heap_start();
	done = &heap.space->budget.exchanged_blocks;
	ok(may(LARGEST), "one of 31,970 MiB stands for all at once");
	ok(!may(LARGEST + 2), "a larger one for more");
	gm_budget_exchange(&heap, 102 * MIB - 1);
	ok(*done == 65, "15 blocks, and one for each whole 2 MiB");
	*done = AT_ONCE;
	ok(!may(0), "all are used up");
	heap.counters.blocks.total = 14;
	ok(!may(0), "14 blocks are too few");
	heap.counters.blocks.total = 15;
	ok(may(0) && !may(2), "15 are enough for the smallest");
	heap.counters.blocks.total = 1000 * 1000;
	ok(may(LARGEST) && !may(LARGEST + 2), "no more pile up");
	*done = INT64_MAX / 2;
	ok(!may(0), "those that had to be are too many");
	ok(*done == 1000 * 1000 + 2 * AT_ONCE, "but not for ever");
	heap.counters.blocks.total = 0;
	ok(!may(0), "counts begin anew");
	ok(*done == 2 * AT_ONCE, "and so do those");
	heap_end();
}

/* ---- waits for unused segments ---- */

static unsigned done;

static void count_done(void *arg)
{
	(void)arg;
	done++;
}

static void *take(gpumem_stream stream, size_t bytes)
{
	void *ptr;

	must(request(bytes, stream, 0, &ptr));
	return ptr;
}

/* The work ends when it likes: no longer than that is waited, and never again.
 */
static void test_too_long(gpumem_stream stream)
{
	struct hold hold;
	uint64_t waits;

	option("segment_wait_ms", "20");
	scene(stream);
	(void)take(stream, 20 * MIB);
	hold_begin(&hold, stream);
	must(gm_heap_free(unused, stream));
	(void)take(stream, 50 * MIB);
	is_uint(heap_reserved(), 110 * MIB, "what takes too long is let be");
	waits = calls(GPUMEM_CALL_EVENT_SYNC);
	ok(waits > 0, "after a wait");
	(void)take(stream, 70 * MIB);
	is_uint(calls(GPUMEM_CALL_EVENT_SYNC), waits, "there is no other one");
	hold_end(&hold, stream);
	sound("waited");
	heap_end();
	option("segment_wait_ms", NULL);
}

static void *more;

/* In the thread that waits. */
static void leave_another(void *arg)
{
	gpumem_stream stream = arg;

	done++;
	must(gpumem_host_launch(0, stream, count_done, NULL));
	must(gm_heap_free(more, stream));
}

/* While an allocation waits others free what would be waited for, too. */
static void test_once(gpumem_stream stream)
{
	heap_start();
	must(gpumem_host_hold(0, stream, true));
	live = take(stream, 40 * MIB);
	unused = take(stream, 20 * MIB);
	more = take(stream, 22 * MIB);
	done = 0;
	must(gpumem_host_launch(0, stream, leave_another, stream));
	must(gm_heap_free(unused, stream));
	(void)take(stream, 60 * MIB);
	is_uint(done, 1, "an allocation waits once");
	is_uint(heap_reserved(), 122 * MIB, "what came meanwhile stays");
	must(gpumem_host_hold(0, stream, false));
	must(gm_stream_sync(device, stream));
	sound("waited once");
	heap_end();
}

int main(void)
{
	gpumem_stream stream = exchange_start();

	sem_init(&is_ready, 0, 0);
	sem_init(&may_go, 0, 0);
	test_often();
	test_left();
	test_waits();
	test_not_completed(stream);
	test_beside();
	test_count();
	test_too_long(stream);
	test_once(stream);
	exchange_end(stream);
	return done_testing();
}
