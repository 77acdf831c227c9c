/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Giving pages back: what is unused and over goes, and nothing else does. Where
 * they come from is in space.c. */
#include "fixture.h"

#define PAGE (2 * MIB)

static struct gm_arena *arena;

static void restart(void)
{
	if (arena)
		heap_end();
	heap_start();
	arena = arena_of(NULL);
}

/* Pages that a busy stream may use are neither moved nor given back; nor is
 * anything while a stream is being captured. */
static void test_busy(void)
{
	gpumem_stream stream = stream_new();
	struct gm_arena *other = arena_of(stream);
	struct gm_extent *extent[32];
	struct hold hold;

	for (int i = 0; i < 32; i++)
		extent[i] = block(other, PAGE);
	hold_begin(&hold, stream);
	for (int i = 0; i < 32; i += 2)
		block_give(other, extent[i]);
	must(heap_trim(0));
	is_uint(heap_reserved(), 64 * MIB,
		"what a busy stream may use is kept");
	ok(!block_take(arena, PAGE), "nor is it moved");
	sound("busy");
	hold_end(&hold, stream);
	gm_arena_poll(other, NULL, true);
	is_uint(other->completed, other->seqno, "then it is over");
	must(gpumem_host_capture(0, stream, true));
	must(heap_trim(0));
	is_uint(heap_reserved(), 64 * MIB,
		"nothing goes while a stream is captured");
	ok(!block_take(arena, PAGE), "nor moves");
	must(gpumem_host_capture(0, stream, false));
	is_uint(gpumem_host_capture_violations(), 0, "nothing is disturbed");
	block(arena, 4 * PAGE);
	must(heap_trim(0));
	is_uint(heap_reserved(), 20 * PAGE, "afterwards it moves, and goes");
	sound("idle");
	must(gm_stream_destroy(device, stream));
	restart();
}

/* Between two pages that may go lies one that may not. */
static void test_busy_page(void)
{
	gpumem_stream stream = stream_new();
	struct gm_arena *other = arena_of(stream);
	struct gm_extent *extent[3];
	struct hold hold;

	for (int i = 0; i < 3; i++)
		extent[i] = block(other, PAGE);
	block_give(other, extent[0]);
	block_give(other, extent[2]);
	gm_arena_poll(other, NULL, true);
	hold_begin(&hold, stream);
	block_give(other, extent[1]);
	must(heap_trim(0));
	is_uint(heap_reserved(), PAGE, "the pages on its sides go");
	is_uint(gm_arena_fit(other, NULL, 1, heap.unit)->bytes, PAGE,
		"the one that is busy stays");
	sound("a busy page");
	hold_end(&hold, stream);
	must(heap_trim(0));
	is_uint(heap_reserved(), 0, "until it is not busy");
	must(gm_stream_destroy(device, stream));
	restart();
}

static void test_trim(void)
{
	struct gm_extent *extent[8], *kept;

	for (int i = 0; i < 8; i++)
		extent[i] = block(arena, PAGE + 64 * KIB);
	kept = extent[3];
	is_uint(heap_reserved(), 9 * PAGE, "nine pages");
	for (int i = 0; i < 8; i++)
		if (i != 3)
			block_give(arena, extent[i]);
	is_uint(gm_space_whole_bytes(&heap), 7 * PAGE,
		"so much could be given back");
	must(heap_trim(6 * PAGE));
	is_uint(heap_reserved(), 6 * PAGE, "as much is kept as was asked for");
	must(heap_trim(6 * PAGE));
	is_uint(heap_reserved(), 6 * PAGE, "twice");
	must(heap_trim(PAGE / 2));
	is_uint(heap_reserved(), 2 * PAGE, "all goes that is whole and unused");
	touch(kept);
	sound("trimmed");
	block_give(arena, kept);
	must(heap_trim(0));
	is_uint(heap_reserved(), 0, "and then all");
	is_uint(heap.counters.segments.current, 0, "no page is counted");
	sound("empty");
	restart();
}

int main(void)
{
	/* What a capture may forbid: in_capture.c is about the rest. */
	option("host.capture_frees", "off");
	alarm(60);
	device_start();
	restart();
	test_trim();
	test_busy();
	test_busy_page();
	heap_end();
	device_end();
	return done_testing();
}
