/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Waiting until what streams may use is completed: of one, dropped or not, and
 * of any, while other threads may have the heap's mutex. */
#include "transfer.h"

static _Atomic bool done;

static void work(void *arg)
{
	usleep(2000);
	atomic_store((_Atomic bool *)arg, true);
}

static void test_wait(void)
{
	gpumem_stream stream = stream_new();
	struct gm_arena *arena = arena_of(stream);

	atomic_store(&done, false);
	must(gpumem_host_launch(0, stream, work, &done));
	block_give(arena, block(arena, MIB));
	gm_arena_wait(arena);
	ok(atomic_load(&done), "what may still be used is waited for");
	is_uint(arena->completed, arena->seqno, "then all is completed");
	gm_arena_wait(arena);
	atomic_store(&done, false);
	must(gpumem_host_launch(0, stream, work, &done));
	slab_new(arena, 0);
	must(gm_heap_drop(arena));
	gm_arena_wait(arena);
	ok(atomic_load(&done), "of a dropped stream too");
	is_uint(arena->completed, arena->seqno, "then all is completed");
	must(gm_stream_destroy(device, stream));
	restart();
}

/* gm_arenas_wait() gives the mutex up: else this thread could not end the work
 * that it waits for. */
static void *ender(void *arg)
{
	struct hold *hold = arg;

	pthread_mutex_lock(&heap.mutex);
	pthread_mutex_lock(&hold->mutex);
	hold->ended = true;
	pthread_cond_signal(&hold->more);
	pthread_mutex_unlock(&hold->mutex);
	pthread_mutex_unlock(&heap.mutex);
	return NULL;
}

static void test_wait_any(void)
{
	gpumem_stream stream = stream_new();
	struct gm_arena *arena = arena_of(stream);
	struct hold hold;
	pthread_t thread;

	block_give(arena, block(arena, MIB));
	pthread_mutex_lock(&heap.mutex);
	ok(!gm_arenas_wait(&heap), "idle streams are not waited for");
	hold_begin(&hold, stream);
	block_give(arena, block(arena, MIB));
	pthread_create(&thread, NULL, ender, &hold);
	ok(gm_arenas_wait(&heap), "a busy one is");
	is_uint(arena->completed, arena->seqno, "until something is completed");
	pthread_mutex_unlock(&heap.mutex);
	pthread_join(thread, NULL);
	must(gm_stream_destroy(device, stream));
	restart();
}

/* Work that was queued before the capture, and that of others, is waited for;
 * of the captured stream no event is recorded meanwhile. */
static void test_captured(void)
{
	gpumem_stream captured = stream_new(), other = stream_new();
	struct gm_arena *own = arena_of(captured), *beside = arena_of(other);
	struct hold over = HOLD;
	uint64_t records;

	over.ended = true;
	must(gpumem_host_hold(0, captured, true));
	must(gpumem_host_hold(0, other, true));
	must(gpumem_host_launch(0, other, hold_run, &over));
	block_give(beside, block(beside, MIB));
	gm_arena_poll(beside, NULL, true);
	must(gpumem_host_capture(0, captured, true));
	block_give(own, block(own, MIB));
	records = calls(GPUMEM_CALL_EVENT_RECORD);
	pthread_mutex_lock(&heap.mutex);
	ok(gm_arenas_wait(&heap), "another stream's work is waited for");
	ok(!gm_arenas_wait(&heap), "the captured one's is not");
	pthread_mutex_unlock(&heap.mutex);
	is_uint(calls(GPUMEM_CALL_EVENT_RECORD), records, "nor recorded");
	is_uint(beside->completed, beside->seqno, "it is over");
	must(gpumem_host_capture(0, captured, false));
	must(gpumem_host_hold(0, captured, false));
	must(gpumem_host_hold(0, other, false));
	is_uint(gpumem_host_capture_violations(), 0, "nothing is disturbed");
	must(gm_stream_destroy(device, captured));
	must(gm_stream_destroy(device, other));
	restart();
}

int main(void)
{
	alarm(60);
	device_start();
	restart();
	test_wait();
	test_wait_any();
	test_captured();
	heap_end();
	device_end();
	return done_testing();
}
