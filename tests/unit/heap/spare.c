/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The stock of spare pages: filled where little is missing, used before
 * anything is asked, bounded, and given back. What moves is in decide_pages.c.
 */
#include "fixture.h"

#define PAGE (2 * MIB)

/* A heap of so many pages has a stock of four. */
enum { BALLAST = 1024, STOCK = 4, SINGLES = 16 };

static struct gm_arena *arena;
static struct gm_extent *ballast;
static uintptr_t far;

/* Free extents of one page each between pages that are used; and nothing may be
 * wasted. */
static void begin(void)
{
	struct gm_extent *single[SINGLES];

	heap_start();
	arena = arena_of(NULL);
	ballast = block(arena, BALLAST * PAGE);
	for (int i = 0; i < SINGLES; i++) {
		single[i] = block(arena, PAGE);
		block(arena, PAGE);
	}
	for (int i = 0; i < SINGLES; i++)
		block_give(arena, single[i]);
	no_waste();
	far = 4096 * MIB;
}

/* So many pages where nothing is mapped yet. */
static void want(size_t pages)
{
	touch(block_take_aligned(arena, pages * PAGE, far));
	far *= 2;
}

static uint64_t questions(void)
{
	return calls(GPUMEM_CALL_CAPTURE_ID) + calls(GPUMEM_CALL_STREAM_QUERY) +
	       calls(GPUMEM_CALL_EVENT_RECORD) + calls(GPUMEM_CALL_UNMAP);
}

static void test_fill(void)
{
	uint64_t asked;

	begin();
	is_uint(gm_spare_stock(&heap), STOCK, "a 256th of what is reserved");
	want(1);
	is_uint(heap.space->spare_pages, STOCK, "it is filled");
	is_uint(heap.counters.moved_bytes, (1 + STOCK) * PAGE,
		"which is moving");
	is_uint(heap.space->budget.migrated_handles, 1 + STOCK,
		"and pays for it");
	sound("filled");
	asked = questions();
	want(1);
	want(2);
	is_uint(questions(), asked, "what comes out of it asks nothing");
	is_uint(heap.space->spare_pages, STOCK - 3,
		"and is not spare any more");
	want(2);
	is_uint(heap.space->spare_pages, STOCK, "then it is filled again");
	is_uint(heap.counters.segments.current,
		heap.counters.reserved.current / PAGE, "all are single pages");
	sound("filled again");
	heap_end();
}

/* A large request moves what it needs, and no more. */
static void test_large(void)
{
	begin();
	want(STOCK + 1);
	is_uint(heap.space->spare_pages, 0, "nothing is spare");
	is_uint(heap.counters.moved_bytes, (STOCK + 1) * PAGE, "nor moved");
	heap_end();
}

/* As much as there is, when there is less. */
static void test_short(void)
{
	begin();
	want(SINGLES - 2 - STOCK);
	want(STOCK);
	is_uint(heap.space->spare_pages, 2, "two pages were left to be spare");
	want(2);
	is_uint(heap.space->spare_pages, 0, "they are used too");
	is_uint(heap.counters.moved_bytes, SINGLES * PAGE, "all moved");
	sound("short");
	heap_end();
}

static uint64_t leave(uint64_t newest)
{
	const struct gm_release step = {.bytes = PAGE, .newest = newest};
	uint64_t bytes;

	pthread_mutex_lock(&heap.mutex);
	must(gm_space_release(&heap, &step, &bytes));
	pthread_mutex_unlock(&heap.mutex);
	return bytes;
}

/* It grows old like all that is free: a program that needs it keeps it. */
static void test_age(void)
{
	uint64_t then;

	begin();
	want(SINGLES - 1 - STOCK);
	then = heap.seqno;
	block_give(arena, ballast);
	ballast = block(arena, BALLAST * PAGE);
	want(1);
	is_uint(heap.space->spare_pages, STOCK, "all that is free is spare");
	is_uint(leave(then), 0, "nothing of it is so old");
	is_uint(leave(heap.seqno), PAGE, "now it is");
	is_uint(heap.space->spare_pages, STOCK - 1, "and one goes");
	must(heap_trim(0));
	is_uint(heap.space->spare_pages, 0, "a trim takes all");
	is_uint(heap_reserved(), heap.counters.active.current,
		"what is left is in use");
	sound("trimmed");
	heap_end();
}

/* Small heaps have none. */
static void test_none(void)
{
	heap_start();
	arena = arena_of(NULL);
	block(arena, 200 * PAGE);
	is_uint(gm_spare_stock(&heap), 0, "no stock");
	heap_end();
}

/* A page that the driver does not unmap is not there; the rest is. */
static void test_refused(void)
{
	begin();
	must(gpumem_host_faults("unmap@2"));
	want(1);
	must(gpumem_host_faults(NULL));
	is_uint(heap.counters.reserved.current - heap.counters.active.current,
		(SINGLES - 1) * PAGE, "nothing new was needed");
	sound("refused");
	heap_end();
}

int main(void)
{
	alarm(60);
	option("host.capacity", "8GiB");
	option("handle_max", "0");
	/* What moves is unmapped, not lent. */
	option("alias", "off");
	must(gm_device_open("host:0", &device));
	test_fill();
	test_large();
	test_short();
	test_age();
	test_none();
	test_refused();
	device_end();
	return done_testing();
}
