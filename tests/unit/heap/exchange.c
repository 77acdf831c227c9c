/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Without virtual memory: for a small block an unused segment goes back for
 * another one as long as that is no waste, is not too often, and can be; else
 * it is cut after all. Which segments are spared is spared.c's. */
#include "exchange.h"
#include "../device/hooked.h"
#include <semaphore.h>

/* One of a segment of 2 MiB waits for so many allocations; what is had in
 * advance; and how many blocks scene() and fill() allocate. */
enum { BLOCKS = 16, AT_ONCE = 16000, ALLOCATED = 3 };

static uint64_t exchanged(void)
{
	return (uint64_t)heap.space->budget.exchanged_blocks;
}

static void test_exchange(void)
{
	void *ptr;

	scene(NULL);
	fill(NULL);
	is_uint(exchanged(), 0, "that is no exchange");
	must(request(1900 * KIB, NULL, 0, &ptr));
	is_uint(calls(GPUMEM_CALL_FREE), 1, "more than that: it goes back");
	is_uint(heap.counters.segments.current, 3, "for another one");
	is_uint(exchanged(), heap.counters.blocks.total - 1 + BLOCKS,
		"which is counted");
	ok(heap_reserved() < 50 * MIB, "of the right size");
	sound("exchanged");
	heap_end();
}

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

static void test_limit(void)
{
	scene(NULL);
	heap.space->budget.limit_bytes = heap_reserved();
	is_cut(NULL, "at the limit");
}

static void test_refused(void)
{
	scene(NULL);
	must(gpumem_host_faults("alloc@1+:no_memory"));
	is_cut(NULL, "the driver has no more");
	must(gpumem_host_faults(NULL));
}

static void test_captured(gpumem_stream stream)
{
	scene(NULL);
	device->info.caps &= ~(uint32_t)GPUMEM_CAP_FREES_IN_CAPTURE;
	(void)arena_of(stream);
	fill(NULL);
	must(gpumem_host_capture(0, stream, true));
	is_cut(NULL, "another stream is being captured");
	must(gpumem_host_capture(0, stream, false));
	device->info.caps |= GPUMEM_CAP_FREES_IN_CAPTURE;
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

static void test_no_grow(void)
{
	uint64_t before;
	void *ptr;

	scene(NULL);
	before = calls(GPUMEM_CALL_ALLOC);
	must(request(MIB, NULL, GPUMEM_ALLOC_NO_GROW, &ptr));
	ok(is_in_unused(ptr) && calls(GPUMEM_CALL_ALLOC) == before,
	   "NO_GROW: it is cut");
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

static void test_own_first(gpumem_stream stream, int64_t done, uint32_t flags,
			   const char *why)
{
	heap_start();
	must(request(40 * MIB, NULL, 0, &live));
	must(request(20 * MIB, NULL, 0, &unused));
	leave_some(stream);
	must(gm_heap_free(unused, NULL));
	heap.space->budget.waste = 0;
	heap.space->budget.exchanged_blocks = done;
	is_own(NULL, stream, flags, why);
	heap_end();
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

/* What another stream has is spared too. */
static void test_other(gpumem_stream stream)
{
	void *ptr;

	scene(NULL);
	must(request(1900 * KIB, stream, 0, &ptr));
	ok(!is_in_unused(ptr), "another stream's stays too");
	must(request(1900 * KIB, stream, 0, &ptr));
	is_uint(calls(GPUMEM_CALL_FREE), 1, "and goes back");
	sound("another stream's");
	heap_end();
	scene(NULL);
	fill(NULL);
	heap.space->budget.exchanged_blocks = AT_ONCE + ALLOCATED;
	is_cut(stream, "another stream's, often enough");
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

int main(void)
{
	gpumem_stream stream = exchange_start();

	sem_init(&is_ready, 0, 0);
	sem_init(&may_go, 0, 0);
	test_exchange();
	test_often();
	test_limit();
	test_refused();
	test_captured(stream);
	test_waits();
	test_no_grow();
	test_own_first(stream, AT_ONCE + ALLOCATED, 0, "often enough");
	test_own_first(stream, 0, GPUMEM_ALLOC_NO_GROW, "NO_GROW");
	test_not_completed(stream);
	test_other(stream);
	test_beside();
	test_count();
	exchange_end(stream);
	return done_testing();
}
