/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Freed blocks that wait for other streams, which are held busy: none comes
 * back early, all come back, and no event is lost. */
#include "pending.h"

/* All streams that use a block have to be done with it. */
static void test_two(void)
{
	struct gm_extent *extent = block(arena, MIB);

	block(arena, MIB);
	hold_begin(&hold[0], stream[0]);
	hold_begin(&hold[1], stream[1]);
	pend(extent, 3);
	is_uint(heap.order->pending.bytes, MIB, "what is pending is counted");
	is_uint(heap.counters.active.current, 2 * MIB, "and active");
	ok(!gm_pending_poll(&heap) && is_pending(extent), "two streams use it");
	sound("pending");
	hold_end(&hold[1], stream[1]);
	ok(gm_pending_poll(&heap), "one is done, which is progress");
	ok(is_pending(extent), "but it is used by the other");
	ok(!gm_pending_poll(&heap), "which is no progress");
	hold_end(&hold[0], stream[0]);
	ok(gm_pending_poll(&heap), "both are done");
	ok(gm_extent_is(extent, GM_EXTENT_FREE) && extent->arena == arena,
	   "it is free for its stream");
	ok(arena->seqno && arena->seqno == heap.seqno,
	   "as freed there only now");
	ok(!heap.order->pending.bytes && !heap.order->pending.count &&
		   !heap.order->pending.first,
	   "nothing is pending");
	is_uint(heap.counters.active.current, MIB, "or active");
	is_uint(heap.order->events.count, heap.order->events.made,
		"events are given back");
	ok(!gm_pending_poll(&heap), "an empty list is no progress");
	sound("back");
	restart();
}

static void test_slots(void)
{
	struct gm_slot slot[2];

	slab_new(arena, 0);
	gm_slab_take(arena, 0, slot, 2);
	slot_use(&slot[0]);
	slot_use(&slot[1]);
	hold_begin(&hold[0], stream[0]);
	pend_slot(&slot[0], 1);
	ok(!gm_pending_poll(&heap), "a slot is used elsewhere");
	is_uint(atomic_load(slot[0].mark), GM_MARK_PENDING, "and marked so");
	sound("a pending slot");
	hold_end(&hold[0], stream[0]);
	ok(gm_pending_poll(&heap), "then it is not");
	is_uint(atomic_load(slot[0].mark), 0, "nor marked");
	slot_give(&slot[1]);
	ok(arena->slabs->empty[0] &&
		   slab_of(slot[0].address) == arena->slabs->empty[0],
	   "it is back in its slab");
	sound("a slot that is back");
	restart();
}

enum { BLOCKS = 32 };

static struct gm_extent *live[BLOCKS];
static unsigned uses[BLOCKS]; /* streams that are busy with it */
static unsigned held;	      /* streams that are busy */

/* A stream begins or ends its work, or a block is freed. */
static void step(void)
{
	unsigned s = (unsigned)chance(STREAMS), b = (unsigned)chance(BLOCKS);
	bool busy = held >> s & 1;

	if (busy && chance(3) == 0) {
		hold_end(&hold[s], stream[s]);
		held &= ~(1u << s);
		for (unsigned k = 0; k < BLOCKS; k++)
			uses[k] &= ~(1u << s);
	} else if (!busy) {
		hold_begin(&hold[s], stream[s]);
		held |= 1u << s;
	} else if (!live[b]) {
		live[b] = block(arena, MIB);
		uses[b] = 1 + (unsigned)chance((1 << STREAMS) - 1);
		pend(live[b], uses[b]);
		uses[b] &= held;
	}
}

/* What was freed while streams were busy comes back when they are not. */
static void test_model(void)
{
	long rounds = scaled(4000, 400);
	unsigned early = 0, late = 0, unsound = 0;

	for (long i = 0; i < rounds; i++) {
		step();
		gm_pending_poll(&heap);
		for (unsigned k = 0; k < BLOCKS; k++) {
			if (!live[k])
				continue;
			early += uses[k] && !is_pending(live[k]);
			late += !uses[k] && is_pending(live[k]);
			if (!uses[k])
				live[k] = NULL;
		}
		unsound += i % 16 == 0 && heap_check() != GPUMEM_OK;
	}
	is_uint(early, 0, "no block comes back early");
	is_uint(late, 0, "and none late");
	is_uint(unsound, 0, "and none is lost");
	for (unsigned s = 0; s < STREAMS; s++)
		if (held >> s & 1)
			hold_end(&hold[s], stream[s]);
	gm_pending_poll(&heap);
	is_uint(heap.order->pending.count, 0, "all come back in the end");
	is_uint(heap.order->events.count, heap.order->events.made,
		"with their events");
	restart();
}

/* One question says that a stream is busy, for all its blocks. */
static void test_questions(void)
{
	uint64_t before;

	hold_begin(&hold[0], stream[0]);
	for (int i = 0; i < 10; i++)
		pend(block(arena, MIB), 1);
	before = calls(GPUMEM_CALL_EVENT_QUERY);
	gm_pending_poll(&heap);
	is_uint(calls(GPUMEM_CALL_EVENT_QUERY) - before, 1,
		"ten blocks of a busy stream, one question");
	hold_end(&hold[0], stream[0]);
	gm_pending_poll(&heap);
	is_uint(heap.order->pending.count, 0,
		"when it is idle, all are asked for");
	restart();
}

/* A stream that cannot be asked now is asked later. */
static void test_later(void)
{
	uint64_t violations = gpumem_host_capture_violations();
	struct gm_extent *extent = block(arena, MIB), *other;

	other = block(arena, MIB);
	must(gpumem_host_capture(0, stream[0], true));
	pend(extent, 1);
	ok(!gm_pending_poll(&heap) && is_pending(extent),
	   "a stream that is being captured is not asked");
	arena_of(stream[0]);
	ok(!gm_pending_wait(&heap), "nor waited for");
	is_status(gm_pending_drop(&heap, stream[0]), GPUMEM_CAPTURING,
		  "nor dropped");
	is_uint(gpumem_host_capture_violations(), violations,
		"the capture is not disturbed");
	must(gpumem_host_capture(0, stream[0], false));
	must(gpumem_host_faults("event_record@1+"));
	pend(other, 2);
	ok(!gm_pending_poll(&heap) && is_pending(extent) && is_pending(other),
	   "nor is one of which the driver does not record");
	is_status(gm_pending_drop(&heap, stream[0]), GPUMEM_DRIVER,
		  "nor is that dropped");
	must(gpumem_host_faults("event_query@1"));
	ok(is_pending(extent) && is_pending(other), "one query fails");
	gm_pending_poll(&heap);
	gm_pending_poll(&heap);
	is_uint(heap.order->pending.count, 0, "afterwards all comes back");
	is_uint(heap.order->events.count, heap.order->events.made,
		"with all events");
	must(gpumem_host_faults(NULL));
	sound("later");
	restart();
}

/* What could not be recorded is when the stream is dropped, which then may be
 * destroyed. */
static void test_drop(void)
{
	gpumem_stream gone = stream_new(), kept = stream[1];
	struct gm_extent *extent = block(arena, MIB);

	stream[1] = gone;
	must(gpumem_host_faults("event_record@1+"));
	pend(extent, 3);
	must(gpumem_host_faults(NULL));
	hold_begin(&hold[1], gone);
	is_status(gm_pending_drop(&heap, gone), GPUMEM_OK,
		  "a stream is dropped");
	gm_pending_poll(&heap);
	ok(is_pending(extent), "it is busy still");
	hold_end(&hold[1], gone);
	must(gm_stream_destroy(device, gone));
	gm_pending_poll(&heap);
	ok(!is_pending(extent), "when it is over, the stream is not asked");
	stream[1] = kept;
	restart();
}

/* A dropped stream that is busy has the name of a new one that is not. */
static void test_names(void)
{
	struct gm_wait wait = {.stream = stream[1], .dropped = true};
	struct gm_extent *extent = block(arena, MIB), *other;

	other = block(arena, MIB);
	hold_begin(&hold[0], stream[0]);
	must(gm_events_record(&heap, stream[0], &wait.event));
	pend_waits(extent, &wait, 1);
	pend(other, 2);
	gm_pending_poll(&heap);
	ok(is_pending(extent) && !is_pending(other),
	   "streams of one name are not taken for each other");
	hold_end(&hold[0], stream[0]);
	gm_pending_poll(&heap);
	is_uint(heap.order->pending.count, 0, "then both are over");
	restart();
}

static void *ender(void *arg)
{
	struct hold *mine = arg;

	pthread_mutex_lock(&heap.mutex);
	pthread_mutex_lock(&mine->mutex);
	mine->ended = true;
	pthread_cond_signal(&mine->more);
	pthread_mutex_unlock(&mine->mutex);
	pthread_mutex_unlock(&heap.mutex);
	return NULL;
}

/* It gives the mutex up: else the other thread could not end the work. */
static void test_wait(void)
{
	struct gm_extent *extent = block(arena, MIB);
	pthread_t thread;

	pthread_mutex_lock(&heap.mutex);
	ok(!gm_pending_wait(&heap), "nothing to wait for");
	hold_begin(&hold[0], stream[0]);
	pend(extent, 1);
	must(gpumem_host_faults("event_sync@1"));
	ok(!gm_pending_wait(&heap) && is_pending(extent),
	   "a driver that does not wait ends the wait");
	must(gpumem_host_faults(NULL));
	pthread_create(&thread, NULL, ender, &hold[0]);
	ok(gm_pending_wait(&heap), "the oldest is waited for");
	ok(!is_pending(extent), "and comes back");
	pthread_mutex_unlock(&heap.mutex);
	pthread_join(thread, NULL);
	restart();
}

/* A heap may end with pending blocks. */
static void test_end(void)
{
	hold_begin(&hold[0], stream[0]);
	for (int i = 0; i < 3; i++)
		pend(block(arena, MIB), 3);
	gm_pending_fini(&heap);
	is_uint(heap.order->events.count, heap.order->events.made,
		"events of what is forgotten are given back");
	ok(!heap.order->pending.first && !heap.order->pending.count &&
		   !heap.order->pending.bytes,
	   "the list is empty");
	hold_end(&hold[0], stream[0]);
}

int main(void)
{
	alarm(60);
	device_start();
	for (int i = 0; i < STREAMS; i++)
		stream[i] = stream_new();
	restart();
	test_two();
	test_slots();
	test_model();
	test_questions();
	test_later();
	test_drop();
	test_names();
	test_wait();
	test_end();
	heap_end();
	device_end();
	return done_testing();
}
