/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* When a growth asks for other streams' memory first, rather than that more is
 * unused than option `stream_waste` allows. */
#include "fixture.h"

#define PAGE (2 * MIB)

static gpumem_stream stream, other;
static struct gm_arena *arena;
static struct hold hold;

static void start(void)
{
	heap_start();
	stream = stream_new();
	other = stream_new();
	arena = arena_of(stream);
}

/* Twelve pages: the stream is still at work on four that are free, and has free
 * halves of four others. Nothing may be unused. */
static void begin(void)
{
	struct gm_extent *freed, *half[4];
	uint64_t before = heap_reserved();

	(void)block(arena, 2 * PAGE);
	freed = block(arena, 4 * PAGE);
	(void)block(arena, 2 * PAGE);
	for (int i = 0; i < 4; i++) {
		half[i] = block(arena, PAGE / 2);
		(void)block(arena, PAGE / 2);
	}
	hold_begin(&hold, stream);
	block_give(arena, freed);
	for (int i = 0; i < 4; i++)
		block_give(arena, half[i]);
	is_uint(heap_reserved() - before, 12 * PAGE, "twelve pages");
	heap.space->budget.waste = 0;
	heap.space->budget.stream_waste = 0;
	heap.counters.highest_allocated = heap.counters.allocated.current;
}

static void end(void)
{
	hold_end(&hold, stream);
	must(gm_stream_destroy(device, stream));
	must(gm_stream_destroy(device, other));
	heap_end();
}

/* Six pages, of which the stream has four. *short_out: how many others are to
 * give first. */
static gpumem_status grow(size_t *short_out)
{
	struct gm_attempt attempt = {.follows = true};
	gpumem_status status =
		heap_grow_as(&attempt, &heap, arena, 6 * PAGE, heap.unit);

	*short_out = attempt.short_pages;
	sound("after a growth");
	return status;
}

static void test_alone(void)
{
	size_t missing;

	start();
	begin();
	must(grow(&missing));
	is_uint(missing, 0, "nobody else has any: it grows at once");
	is_uint(heap_reserved(), 14 * PAGE, "by what is missing");
	end();
}

/* Its stream is at work on it. */
static void free_others(struct hold *work)
{
	struct gm_extent *freed = block(arena_of(other), PAGE);

	hold_begin(work, other);
	block_give(arena_of(other), freed);
}

/* Whichever of them had free memory first. */
static void test_other(bool before)
{
	struct hold work;
	size_t missing;

	start();
	if (before)
		free_others(&work);
	begin();
	if (!before)
		free_others(&work);
	is_status(grow(&missing), GPUMEM_LIMIT,
		  "another stream has free memory");
	is_uint(missing, 2, "which is to serve for what is missing");
	hold_end(&work, other);
	end();
}

static void test_pending(void)
{
	size_t missing;

	start();
	begin();
	heap.order->pending.count++;
	is_status(grow(&missing), GPUMEM_LIMIT, "there are pending blocks");
	is_uint(missing, 2, "which are to serve first");
	heap.order->pending.count--;
	end();
}

int main(void)
{
	device_start();
	test_alone();
	test_other(false);
	test_other(true);
	test_pending();
	device_end();
	return done_testing();
}
