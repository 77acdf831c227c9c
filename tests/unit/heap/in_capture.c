/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What goes on while a stream is being captured, on a device where that forbids
 * nothing but to touch the stream itself: what is over moves and goes back, of
 * all streams; what the captured stream has freed since does neither, nor does
 * that stream lend pages to itself. Where a capture forbids more, the tests of
 * each module say so.
 */
#include "fixture.h"
#include "heap/ladder.h"

#define PAGE (2 * MIB)
#define FAR (1024 * MIB)

static gpumem_stream captured, other;
static struct gm_arena *own, *beside;
static struct gm_extent *first;

static void capture(bool on)
{
	must(gpumem_host_capture(0, captured, on));
}

/* The span begins where every alignment does. */
static void begin(void)
{
	heap_start();
	captured = stream_new();
	other = stream_new();
	own = arena_of(captured);
	beside = arena_of(other);
	first = block(beside, PAGE);
}

static void end(void)
{
	sound("in the end");
	is_uint(gpumem_host_capture_violations(), 0, "nothing is disturbed");
	block_give(beside, first);
	must(heap_trim(0));
	must(gm_stream_destroy(device, captured));
	must(gm_stream_destroy(device, other));
	heap_end();
}

/* No more memory may be taken than is. */
static void be_short(void)
{
	heap.space->budget.limit_bytes = heap_reserved();
}

static void test_trim(void)
{
	struct gm_extent *before, *during;

	begin();
	before = block(own, 8 * PAGE);
	during = block(own, 4 * PAGE);
	block_give(own, before);
	gm_arena_poll(own, NULL, true);
	block_give(beside, block(beside, 2 * PAGE));
	capture(true);
	block_give(own, during);
	must(heap_trim(0));
	is_uint(heap_reserved(), 5 * PAGE,
		"a trim leaves what was freed in the capture");
	capture(false);
	must(heap_trim(0));
	is_uint(heap_reserved(), PAGE, "and gives it back afterwards");
	end();
}

/* For a third stream, and for the captured one. */
static void test_move(bool for_own)
{
	struct gm_extent *during, *made;
	struct gm_arena *arena = for_own ? own : beside;
	gpumem_stream third;

	begin();
	third = stream_new();
	arena = for_own ? own : beside;
	during = block(own, 4 * PAGE);
	block_give(arena_of(third), block(arena_of(third), 4 * PAGE));
	be_short();
	capture(true);
	made = block_take_aligned(arena, 4 * PAGE, FAR);
	ok(made != NULL, "what is over moves");
	touch(made);
	is_uint(heap.counters.moved_bytes, 4 * PAGE, "four pages of it");
	block_give(own, during);
	ok(!block_take_aligned(beside, 4 * PAGE, 2 * (size_t)FAR),
	   "what was freed in the capture does not");
	block_give(arena, made);
	capture(false);
	must(gm_stream_destroy(device, third));
	end();
}

/* The captured stream was at work when it was asked, and more of its memory is
 * free than that work has touched. */
static void be_busy(struct hold *hold)
{
	struct gm_extent *during = block(own, PAGE);

	hold_begin(hold, captured);
	block_give(own, during);
	gm_arena_poll(own, NULL, true);
	ok(!own->idle, "the stream is busy");
}

/* What others have finished with becomes the busy stream's before its pages
 * move, with lower numbers than they had. */
static void test_move_given(void)
{
	const struct gm_want want = {.bytes = 4 * PAGE, .alignment = FAR};
	struct gm_extent *ends[2], *made = NULL;
	struct hold hold;
	struct gm_attempt attempt = {0};

	begin();
	be_busy(&hold);
	ends[0] = block(beside, 2 * PAGE);
	block(beside, PAGE);
	ends[1] = block(beside, 2 * PAGE);
	be_short();
	capture(true);
	block_give(beside, ends[0]);
	block_give(beside, ends[1]);
	pthread_mutex_lock(&heap.mutex);
	is_status(gm_ladder_take(own, &attempt, &want, &made), GPUMEM_OK,
		  "what others have finished with is found");
	pthread_mutex_unlock(&heap.mutex);
	is_uint(beside->index.bytes, 0, "it was the captured stream's by then");
	is_uint(heap.counters.moved_bytes, 4 * PAGE, "four pages of it");
	if (made)
		(void)gm_arena_insert(own, made);
	sound("with their numbers");
	capture(false);
	hold_end(&hold, captured);
	end();
}

/* A page that two streams have freed a part of, the captured one the lower part
 * or the upper one. */
static void test_shared_page(bool is_lower)
{
	struct gm_extent *low, *high;
	struct hold hold;

	begin();
	be_busy(&hold);
	low = block(beside, PAGE + PAGE / 2);
	high = block(beside, PAGE + PAGE / 2);
	be_short();
	capture(true);
	block_give(own, is_lower ? low : high);
	block_give(beside, is_lower ? high : low);
	pthread_mutex_lock(&heap.mutex);
	gm_heap_transfer(own);
	pthread_mutex_unlock(&heap.mutex);
	is_uint(own->index.bytes, 4 * PAGE, "all is the captured stream's");
	sound("no page is later than what it is part of");
	ok(block_take_aligned(own, PAGE, FAR) != NULL, "what was given moves");
	ok(!block_take_aligned(own, PAGE, 2 * (size_t)FAR),
	   "but not the page that the captured stream has freed a part of");
	capture(false);
	hold_end(&hold, captured);
	end();
}

/* The stream comes after its own work; but a graph runs again. */
static void test_lend(void)
{
	struct gm_extent *made;
	struct hold hold;

	begin();
	made = block(own, 4 * PAGE);
	hold_begin(&hold, captured);
	block_give(own, made);
	be_short();
	capture(true);
	ok(!block_take_aligned(own, 4 * PAGE, FAR),
	   "a captured stream lends itself nothing");
	is_uint(heap.space->stale.bytes, 0, "nothing is stale");
	capture(false);
	ok(block_take_aligned(own, 4 * PAGE, FAR) != NULL,
	   "afterwards it does");
	hold_end(&hold, captured);
	end();
}

/* Another stream does meanwhile. */
static void test_lend_beside(void)
{
	struct gm_extent *made;
	struct hold hold;

	begin();
	made = block(beside, 4 * PAGE);
	hold_begin(&hold, other);
	block_give(beside, made);
	be_short();
	capture(true);
	made = block_take_aligned(beside, 4 * PAGE, FAR);
	ok(made != NULL, "a stream beside it lends");
	is_uint(heap.space->stale.bytes, 4 * PAGE, "four pages");
	hold_end(&hold, other);
	must(heap_trim(0));
	is_uint(heap.space->stale.bytes, 0, "whose old places go when over");
	capture(false);
	end();
}

/* Work that was queued before the capture, and that of others, is waited for;
 * of the captured stream no event is recorded meanwhile. */
static void test_wait(void)
{
	struct hold over = HOLD;
	uint64_t records;

	begin();
	over.ended = true;
	must(gpumem_host_hold(0, captured, true));
	must(gpumem_host_hold(0, other, true));
	must(gpumem_host_launch(0, other, hold_run, &over));
	block_give(beside, block(beside, PAGE));
	gm_arena_poll(beside, NULL, true);
	capture(true);
	block_give(own, block(own, PAGE));
	records = calls(GPUMEM_CALL_EVENT_RECORD);
	pthread_mutex_lock(&heap.mutex);
	ok(gm_arenas_wait(&heap), "another stream's work is waited for");
	ok(!gm_arenas_wait(&heap), "the captured one's is not");
	pthread_mutex_unlock(&heap.mutex);
	is_uint(calls(GPUMEM_CALL_EVENT_RECORD), records, "nor recorded");
	is_uint(beside->completed, beside->seqno, "it is over");
	capture(false);
	must(gpumem_host_hold(0, captured, false));
	must(gpumem_host_hold(0, other, false));
	end();
}

/* A stream is asked whether it is captured only before it is touched. */
static void test_questions(void)
{
	uint64_t before;

	begin();
	block_give(beside, block(beside, 4 * PAGE));
	be_short();
	before = calls(GPUMEM_CALL_CAPTURE_ID);
	block_give(own, block_take_aligned(own, 4 * PAGE, FAR));
	is_uint(calls(GPUMEM_CALL_UNMAP), 1, "pages move");
	is_uint(calls(GPUMEM_CALL_CAPTURE_ID), before, "no stream is asked");
	end();
}

static void test_segments(void)
{
	uint64_t before;

	begin();
	before = heap_reserved();
	block_give(own, block(own, 8 * MIB));
	block_give(beside, block(beside, 8 * MIB));
	gm_arena_poll(own, NULL, true);
	capture(true);
	must(heap_trim(0));
	is_uint(heap_reserved(), before, "segments go during a capture");
	capture(false);
	end();
}

int main(void)
{
	alarm(60);
	device_start();
	test_trim();
	test_move(false);
	test_move(true);
	test_move_given();
	test_shared_page(true);
	test_shared_page(false);
	test_lend();
	test_lend_beside();
	test_wait();
	test_questions();
	option("vm", "off");
	test_segments();
	device_end();
	return done_testing();
}
