/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory of captured graphs: what a capture saw goes to nothing else, though it
 * was freed, until the graph is destroyed and its last work is over.
 */
#include "fixture.h"

enum { BLOCKS = 64 };

static gpumem_pool *pool;
static gpumem_graph *graph;
static gpumem_stream stream, other;

/* Of the graph: blocks of all kinds, allocated and freed while capturing. */
static uintptr_t first[BLOCKS];
static size_t size[BLOCKS];

static size_t size_of(int i)
{
	static const size_t sizes[] = {256, 4 * KIB, 16 * KIB, 100 * KIB,
				       3 * MIB};

	return sizes[i % 5];
}

static void capture(bool on)
{
	must(gpumem_host_capture(0, stream, on));
}

static void record_graph(void)
{
	void *ptr[BLOCKS];

	must(gpumem_graph_begin(graph, stream));
	capture(true);
	for (int i = 0; i < BLOCKS; i++) {
		must(gpumem_alloc(pool, size_of(i), stream, &ptr[i]));
		first[i] = (uintptr_t)ptr[i];
		size[i] = size_of(i);
	}
	for (int i = 0; i < BLOCKS; i++)
		must(gpumem_free(ptr[i], stream));
	capture(false);
	must(gpumem_graph_end(graph, stream));
}

static bool is_private(uintptr_t address, size_t bytes)
{
	for (int i = 0; i < BLOCKS; i++)
		if (address < first[i] + size[i] && first[i] < address + bytes)
			return true;
	return false;
}

/* Allocates and frees everything that fits on a stream: does any of it lie in
 * the graph's memory? */
static unsigned overlaps(gpumem_stream on)
{
	static void *ptr[4096];
	unsigned found = 0, count = 0;

	while (count < 4096) {
		size_t bytes = size_of((int)count);

		if (gpumem_alloc(pool, bytes, on, &ptr[count]))
			break;
		found += is_private((uintptr_t)ptr[count], bytes);
		count++;
	}
	while (count)
		must(gpumem_free(ptr[--count], on));
	return found;
}

static uint64_t reserved(void)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);

	must(gpumem_pool_stats(pool, &stats));
	return stats.reserved.current;
}

static void check(const char *when)
{
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "sound: %s", when);
}

static void start(bool vm)
{
	device_start("256MiB", vm);
	pool = new_pool(128 * MIB);
	stream = new_stream();
	other = new_stream();
	must(gpumem_graph_create(pool, &graph));
}

static void end(void)
{
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_stream_destroy(device, other));
	ok(device_end(), "nothing is left");
	is_uint(gpumem_host_capture_violations(), 0, "no capture is disturbed");
}

/* What the thread had ready before is none of the graph's, and the other way
 * round. */
static void test_private(bool vm)
{
	void *ready[5], *again;
	unsigned shared = 0;
	uint64_t kept;

	start(vm);
	for (int i = 0; i < 5; i++)
		must(gpumem_alloc(pool, size_of(i), stream, &ready[i]));
	for (int i = 0; i < 5; i++)
		must(gpumem_free(ready[i], stream));
	record_graph();
	check("recorded");
	for (int i = 0; i < 5; i++) {
		must(gpumem_alloc(pool, size_of(i), stream, &again));
		shared += is_private((uintptr_t)again, size_of(i));
		must(gpumem_free(again, stream));
	}
	is_uint(shared, 0, "its own stream gets other memory afterwards");
	is_uint(overlaps(stream), 0, "also when it takes all there is");
	is_uint(overlaps(other), 0, "so do others");
	must(gpumem_pool_trim(pool, 0, NULL));
	kept = reserved();
	ok(kept >= 12 * 3 * MIB, "a trim leaves it alone");
	is_uint(overlaps(NULL), 0, "and what comes later, too");
	check("after the trim");
	must(gpumem_graph_destroy(graph, stream));
	ok(overlaps(other) > 0, "the graph gone, its memory serves others");
	must(gpumem_pool_trim(pool, 0, NULL));
	is_uint(reserved(), 0, "and goes back");
	check("destroyed");
	end();
}

static void test_again(void)
{
	uintptr_t before[BLOCKS];
	unsigned known = 0;
	uint64_t kept;

	start(true);
	record_graph();
	for (int i = 0; i < BLOCKS; i++)
		before[i] = first[i];
	kept = reserved();
	record_graph();
	ok(reserved() == kept, "a second capture takes no more");
	for (int i = 0; i < BLOCKS; i++)
		known += is_private(before[i], 1);
	ok(known > BLOCKS / 2, "it uses the memory of the first");
	must(gpumem_graph_destroy(graph, NULL));
	end();
}

/* What other streams have free stays theirs: a graph takes what it needs, not
 * all there is, for good. */
static void test_modest(void)
{
	void *large, *ptr;

	start(true);
	must(gpumem_alloc(pool, 100 * MIB, other, &large));
	must(gpumem_free(large, other));
	must(gpumem_stream_sync(device, other));
	must(gpumem_graph_begin(graph, stream));
	must(gpumem_alloc(pool, MIB, stream, &ptr));
	must(gpumem_free(ptr, stream));
	must(gpumem_graph_end(graph, stream));
	is_status(gpumem_alloc(pool, 100 * MIB, other, &large), GPUMEM_OK,
		  "a small graph leaves the others what they had");
	must(gpumem_free(large, other));
	must(gpumem_graph_destroy(graph, stream));
	end();
}

/* Not before its last launch is over. */
static void test_busy(void)
{
	static struct gate gate;

	option("wait", "off");
	start(true);
	option("wait", NULL);
	record_graph();
	gate_launch(&gate, stream, NULL, 0);
	must(gpumem_graph_destroy(graph, stream));
	is_uint(overlaps(other), 0, "while its last launch runs, it is kept");
	gate_open(&gate);
	must(gpumem_stream_sync(device, stream));
	ok(overlaps(other) > 0, "then it is not");
	end();
}

/* Twenty blocks, one after the other. */
static void record_used(bool use)
{
	void *ptr;

	for (int i = 0; i < 20; i++) {
		must(gpumem_alloc(pool, 4 * MIB, stream, &ptr));
		if (use)
			must(gpumem_use_on(ptr, other));
		must(gpumem_free(ptr, stream));
	}
}

/* What another stream uses waits for the end of its capture, as the manual
 * says, and is there for the next one, once the pool has looked. */
static void test_used(bool use, uint64_t wanted)
{
	start(true);
	must(gpumem_graph_begin(graph, stream));
	for (int i = 0; i < 2; i++) {
		capture(true);
		must(gpumem_host_capture(0, other, true));
		record_used(use);
		must(gpumem_host_capture(0, other, false));
		capture(false);
		is_uint(reserved(), wanted,
			use ? "blocks that another stream uses are not used "
			      "again in a capture"
			    : "others are");
		must(gpumem_pool_trim(pool, 0, NULL));
	}
	must(gpumem_graph_end(graph, stream));
	must(gpumem_graph_destroy(graph, stream));
	must(gpumem_pool_trim(pool, 0, NULL));
	is_uint(reserved(), 0, "and go with the graph");
	end();
}

static void test_live(bool vm)
{
	void *small, *large, *pending;

	start(vm);
	must(gpumem_graph_begin(graph, stream));
	must(gpumem_alloc(pool, 512, stream, &small));
	must(gpumem_alloc(pool, 2 * MIB, stream, &large));
	must(gpumem_alloc(pool, 2 * MIB, stream, &pending));
	must(gpumem_graph_end(graph, stream));
	must(gpumem_free(pending, other));
	check("pending");
	must(gpumem_graph_destroy(graph, other));
	check("blocks outlive their graph");
	must(gpumem_free(small, stream));
	must(gpumem_free(large, stream));
	must(gpumem_stream_sync(device, stream));
	must(gpumem_stream_sync(device, other));
	must(gpumem_pool_trim(pool, 0, NULL));
	is_uint(reserved(), 0, "and are freed as any");
	end();
}

/* A block of a graph that ended is freed: it goes back to the graph, not to the
 * thread's cache for that stream. */
static void test_late(void)
{
	void *block[2], *ptr;
	unsigned shared = 0;

	start(true);
	must(gpumem_graph_begin(graph, stream));
	must(gpumem_alloc(pool, 1000, stream, &block[0]));
	must(gpumem_alloc(pool, MIB, stream, &block[1]));
	must(gpumem_graph_end(graph, stream));
	must(gpumem_alloc(pool, 1, stream, &ptr));
	must(gpumem_free(ptr, stream));
	must(gpumem_free(block[0], stream));
	must(gpumem_free(block[1], stream));
	must(gpumem_alloc(pool, 1000, stream, &ptr));
	shared += ptr == block[0];
	must(gpumem_free(ptr, stream));
	must(gpumem_alloc(pool, MIB, stream, &ptr));
	shared += ptr == block[1];
	must(gpumem_free(ptr, stream));
	is_uint(shared, 0, "freed late, a block goes to its graph");
	check("freed late");
	must(gpumem_graph_begin(graph, stream));
	must(gpumem_alloc(pool, MIB, stream, &ptr));
	is_ptr(ptr, block[1], "which uses it again");
	must(gpumem_free(ptr, stream));
	must(gpumem_graph_end(graph, stream));
	must(gpumem_graph_destroy(graph, stream));
	end();
}

/* What the streams that went have free is for all, and not for a graph that has
 * the only stream which is left. */
static void test_left(void)
{
	void *kept, *freed, *ptr;

	start(true);
	must(gpumem_alloc(pool, MIB, stream, &kept));
	must(gpumem_alloc(pool, MIB, stream, &freed));
	must(gpumem_free(freed, stream));
	must(gpumem_pool_drop_stream(pool, stream));
	must(gpumem_graph_begin(graph, NULL));
	must(gpumem_pool_trim(pool, 0, NULL));
	check("trimmed while a graph has the stream");
	must(gpumem_graph_end(graph, NULL));
	must(gpumem_alloc(pool, MIB, other, &ptr));
	is_ptr(ptr, freed, "a trim gives a graph nothing");
	must(gpumem_free(ptr, other));
	must(gpumem_free(kept, other));
	must(gpumem_graph_destroy(graph, NULL));
	end();
}

static void test_refusals(void)
{
	gpumem_graph *second;
	void *ptr;

	start(true);
	must(gpumem_graph_create(pool, &second));
	is_status(gpumem_graph_end(graph, stream), GPUMEM_INVALID,
		  "an end without a beginning");
	must(gpumem_graph_begin(graph, stream));
	is_status(gpumem_graph_begin(graph, stream), GPUMEM_BUSY,
		  "begun twice");
	is_status(gpumem_stream_destroy(device, stream), GPUMEM_BUSY,
		  "such a stream cannot go");
	is_status(gpumem_graph_begin(second, stream), GPUMEM_BUSY,
		  "a stream in two graphs");
	is_status(gpumem_graph_end(second, stream), GPUMEM_INVALID,
		  "the end of another graph");
	must(gpumem_graph_begin(second, other));
	is_status(gpumem_graph_destroy(graph, other), GPUMEM_BUSY,
		  "destroyed while it is used");
	is_status(gpumem_pool_drop_stream(pool, stream), GPUMEM_BUSY,
		  "its stream is dropped");
	must(gpumem_alloc(pool, 100, stream, &ptr));
	must(gpumem_free(ptr, stream));
	must(gpumem_graph_end(second, other));
	must(gpumem_graph_end(graph, stream));
	capture(true);
	is_status(gpumem_graph_destroy(graph, stream), GPUMEM_CAPTURING,
		  "on a stream that is captured");
	capture(false);
	must(gpumem_host_faults("event_record@1+"));
	ok(gpumem_graph_destroy(graph, other) == GPUMEM_DRIVER,
	   "a driver that records nothing");
	must(gpumem_host_faults(NULL));
	check("after refusals");
	is_status(gpumem_pool_destroy(pool, 0), GPUMEM_BUSY,
		  "a pool with graphs stays");
	must(gpumem_graph_destroy(second, NULL));
	must(gpumem_graph_destroy(graph, stream));
	is_status(gpumem_graph_create(NULL, &graph), GPUMEM_INVALID, "no pool");
	is_status(gpumem_graph_create(pool, NULL), GPUMEM_INVALID, "no place");
	is_status(gpumem_graph_begin(NULL, stream), GPUMEM_INVALID, "no graph");
	end();
}

static void test_force(void)
{
	start(true);
	record_graph();
	is_status(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE), GPUMEM_OK,
		  "force takes the graphs, too");
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_stream_destroy(device, other));
	ok(device_end(), "nothing is left");
}

int main(void)
{
	alarm(120);
	test_private(true);
	test_private(false);
	test_again();
	test_modest();
	test_busy();
	test_used(true, 80 * MIB);
	test_used(false, 4 * MIB);
	test_live(true);
	test_live(false);
	test_late();
	test_left();
	test_refusals();
	test_force();
	return done_testing();
}
