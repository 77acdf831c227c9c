/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The program's events: what they stand for as streams work, are recorded
 * again, imported and captured; two streams in order by them alone; blocks that
 * wait for one. What is refused is in events_refused.c, blocks freed after
 * events in free_after.c.
 */
#include "events.h"

static void is_over(gpumem_event *event, const char *what)
{
	is_status(gpumem_event_query(event), GPUMEM_OK, "%s: over", what);
}

static void is_busy(gpumem_event *event, const char *what)
{
	is_status(gpumem_event_query(event), GPUMEM_NOT_READY, "%s: not ready",
		  what);
}

static void test_records(void)
{
	gpumem_event *event = new_event();
	struct gate gate;

	is_over(event, "never recorded");
	is_status(gpumem_event_sync(event), GPUMEM_OK, "nor waited for");
	gate_launch(&gate, a, NULL, 0);
	is_over(event, "work without a record");
	must(gpumem_event_record(event, a));
	is_busy(event, "recorded after it");
	must(gpumem_event_record(event, b));
	is_over(event, "recorded again where there is no work");
	must(gpumem_event_record(event, a));
	is_busy(event, "and again where there is");
	gate_open(&gate);
	is_status(gpumem_event_sync(event), GPUMEM_OK, "waited for");
	ok(atomic_load(&gate.passed), "the work is over then");
	is_over(event, "the event");
	must(gpumem_event_destroy(event));
}

/* B's copy comes after A's fill, which waits at a gate. */
static void test_order(void)
{
	gpumem_pool *pool = new_pool(0);
	unsigned char *ptr = new_block(pool, MIB, a), host = 0;
	gpumem_event *event = new_event(), *other = new_event();
	struct gate gate;

	must(gpumem_fill(device, ptr, 1, MIB, a));
	must(gpumem_stream_sync(device, a));
	gate_launch(&gate, a, NULL, 0);
	must(gpumem_fill(device, ptr, 2, MIB, a));
	must(gpumem_event_record(event, a));
	is_status(gpumem_stream_wait(device, b, event), GPUMEM_OK, "B waits");
	/* What becomes of the event does not matter to those who wait. */
	must(gpumem_event_record(event, NULL));
	must(gpumem_event_destroy(event));
	must(gpumem_copy(device, &host, ptr + MIB - 1, 1, b));
	must(gpumem_event_record(other, b));
	is_busy(other, "B's work, which waits for A's");
	gate_open(&gate);
	must(gpumem_event_sync(other));
	is_uint(host, 2, "the copy on B came after the fill on A");
	must(gpumem_event_destroy(other));
	must(gpumem_free(ptr, a));
	must(gpumem_pool_destroy(pool, 0));
}

static void test_imports(void)
{
	gpumem_event *event = new_event(), *copy = NULL, *slow;
	void *native = &native;
	struct gate gate, second;

	is_status(gpumem_event_native(event, &native), GPUMEM_INVALID,
		  "never recorded: nothing of the vendor's");
	ok(native == &native, "%s", last_text());
	gate_launch(&gate, a, NULL, 0);
	must(gpumem_event_record(event, a));
	is_status(gpumem_event_native(event, &native), GPUMEM_OK,
		  "the vendor's event");
	is_status(gpumem_event_import(device, native, &slow), GPUMEM_OK,
		  "imported");
	gate_launch(&second, b, NULL, 0);
	must(gpumem_event_record(event, b));
	must(gpumem_event_native(event, &native));
	is_status(gpumem_event_import(device, native, &copy), GPUMEM_OK,
		  "imported when it stands for other work");
	must(gpumem_event_destroy(event));
	is_busy(slow, "the first import");
	is_busy(copy, "the second one");
	gate_finish(&second, b);
	is_over(copy, "the second does not wait for the first");
	is_busy(slow, "the first");
	must(gpumem_event_record(copy, a));
	is_busy(copy, "an import that is recorded");
	gate_finish(&gate, a);
	is_over(slow, "the first");
	must(gpumem_event_destroy(copy));
	must(gpumem_event_destroy(slow));
	is_status(gpumem_event_import(device, native, &copy), GPUMEM_INVALID,
		  "what was destroyed cannot be imported");
	is_status(gpumem_event_import(device, &gate, &copy), GPUMEM_INVALID,
		  "nor what is none");
}

static void test_capture(void)
{
	gpumem_event *event = new_event();
	uint64_t before = gpumem_host_capture_violations();
	struct gate gate;

	gate_launch(&gate, a, NULL, 0);
	must(gpumem_event_record(event, a));
	must(gpumem_host_capture(0, a, true));
	is_busy(event, "an event of before a capture");
	is_uint(gpumem_host_capture_violations(), before,
		"asking spoils no capture");
	is_status(gpumem_event_record(event, a), GPUMEM_CAPTURING,
		  "none is recorded on a captured stream");
	ok(strstr(last_text(), "captured"), "%s", last_text());
	is_status(gpumem_stream_wait(device, a, event), GPUMEM_CAPTURING,
		  "nor waits a captured stream for one");
	ok(strstr(last_text(), "captured"), "%s", last_text());
	is_busy(event, "it stands for what it stood for");
	must(gpumem_host_capture(0, a, false));
	gate_finish(&gate, a);
	is_over(event, "the event");
	must(gpumem_event_destroy(event));
}

/* Pending blocks are no longer live, and may be freed but once. */
static void test_pending(void)
{
	gpumem_pool *pool = new_pool(0);
	struct gpumem_block block = GPUMEM_INIT(struct gpumem_block);
	void *ptr = new_block(pool, 1000, a), *large = new_block(pool, MIB, a);
	gpumem_event *event = new_event();
	uint64_t queries;
	struct gate gate;

	gate_launch(&gate, b, NULL, 0);
	must(gpumem_event_record(event, b));
	must(gpumem_free_after(ptr, event));
	must(gpumem_free_after(large, event));
	is_status(gpumem_query(ptr, &block), GPUMEM_BAD_POINTER, "pending");
	is_status(gpumem_free_after(ptr, event), GPUMEM_BAD_POINTER,
		  "not freed again");
	is_status(gpumem_free_after(large, event), GPUMEM_BAD_POINTER,
		  "nor a large one");
	is_uint(stats_of(pool).blocks.current, 0, "no block is live");
	ok(stats_of(pool).pending_bytes >= 1000 + MIB, "both are pending");
	sound(pool, "the pool is sound");
	queries = calls_of(pool, GPUMEM_CALL_EVENT_QUERY).count;
	trim(pool);
	ok(calls_of(pool, GPUMEM_CALL_EVENT_QUERY).count > queries,
	   "the pool's queries of the event count as its own");
	is_uint(calls_of(pool, GPUMEM_CALL_EVENT_CREATE).count, 0,
		"the program's calls do not");
	gate_finish(&gate, b);
	must(gpumem_event_destroy(event));
	must(gpumem_pool_destroy(pool, 0));
}

/* A poll asks once for an event that many blocks wait for. */
static void test_many(void)
{
	gpumem_pool *pool = new_pool(0);
	gpumem_event *event = new_event();
	uint64_t before;
	void *ptr[64];
	struct gate gate;

	for (int i = 0; i < 64; i++)
		ptr[i] = new_block(pool, 4096, a);
	gate_launch(&gate, b, NULL, 0);
	must(gpumem_event_record(event, b));
	for (int i = 0; i < 64; i++)
		must(gpumem_free_after(ptr[i], event));
	before = calls_of(pool, GPUMEM_CALL_EVENT_QUERY).count;
	trim(pool);
	ok(calls_of(pool, GPUMEM_CALL_EVENT_QUERY).count - before < 16,
	   "%llu queries of one event for 64 blocks",
	   (ull)(calls_of(pool, GPUMEM_CALL_EVENT_QUERY).count - before));
	gate_finish(&gate, b);
	trim(pool);
	is_uint(stats_of(pool).pending_bytes, 0, "all of them end");
	must(gpumem_event_destroy(event));
	must(gpumem_pool_destroy(pool, 0));
}

static void run(bool vm)
{
	diag("virtual memory %s", vm ? "on" : "off");
	events_start(vm);
	test_records();
	test_order();
	test_imports();
	test_capture();
	test_pending();
	test_many();
	events_end();
}

int main(void)
{
	alarm(120);
	run(true);
	run(false);
	return done_testing();
}
