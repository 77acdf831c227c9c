/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A block that comes from a graph's memory is its own stream's before, during
 * and after the graph: work that is queued there is over before anybody else
 * has the memory, whatever ended the graph meanwhile, and however the block was
 * freed. Here such work reads the block, on a stream that is held.
 */
#include "fixture.h"

static gpumem_pool *pool;
static gpumem_graph *graph;
static gpumem_stream own, other;
static unsigned char *block;
static size_t bytes;
static _Atomic int seen;

static void look(void *arg)
{
	(void)arg;
	atomic_store(&seen, block[bytes / 2]);
}

/* A block of the graph, whose stream is to read it. */
static void start(bool vm, size_t size)
{
	void *ptr;

	device_start("64MiB", vm);
	pool = new_pool(24 * MIB);
	own = new_stream();
	other = new_stream();
	bytes = size;
	must(gpumem_graph_create(pool, &graph));
	must(gpumem_graph_begin(graph, own));
	ptr = new_block(pool, bytes, own);
	must(gpumem_graph_end(graph, own));
	block = ptr;
	must(gpumem_fill(device, ptr, 0x11, bytes, own));
	must(gpumem_stream_sync(device, own));
}

static void work(void)
{
	atomic_store(&seen, -1);
	must(gpumem_host_hold(0, own, true));
	must(gpumem_host_launch(0, own, look, NULL));
}

/* Who gets memory of the pool writes to it. */
static void write_all(gpumem_stream stream)
{
	void *ptr[64];
	unsigned count = 0;

	while (count < 64) {
		size_t size = count % 2 ? 3 * MIB : bytes;

		if (gpumem_alloc(pool, size, stream, &ptr[count]))
			break;
		must(gpumem_fill(device, ptr[count++], 0x22, size, stream));
	}
	must(gpumem_stream_sync(device, stream));
	while (count)
		must(gpumem_free(ptr[--count], stream));
}

static void is_unharmed(const char *what)
{
	must(gpumem_stream_sync(device, own));
	is_uint((uint64_t)atomic_load(&seen), 0x11, "%zu bytes: %s", bytes,
		what);
	sound(pool, "sound");
}

static void end(void)
{
	must(gpumem_host_hold(0, own, false));
	must(gpumem_stream_sync(device, own));
	must(gpumem_stream_sync(device, other));
	trim(pool);
	is_uint(reserved_of(pool), 0, "all of it can go back");
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, own));
	must(gpumem_stream_destroy(device, other));
	ok(device_end(), "nothing is left");
}

static void free_on_own(void)
{
	must(gpumem_free(block, own));
}

static void free_own(void)
{
	must(gpumem_free_own(block));
}

static void free_on_other(void)
{
	must(gpumem_free(block, other));
}

static void (*const frees[])(void) = {free_on_own, free_own, free_on_other};

/* Freed with work behind it, then the graph ends. */
static void test_before(bool vm, size_t size, unsigned how, gpumem_stream *on)
{
	start(vm, size);
	work();
	frees[how]();
	must(gpumem_graph_destroy(graph, *on));
	trim(pool);
	write_all(other);
	is_unharmed("freed before its graph ended");
	end();
}

/* The graph ends, and long after that its stream works on. */
static void test_after(bool vm, size_t size, unsigned how, gpumem_stream *on)
{
	start(vm, size);
	must(gpumem_graph_destroy(graph, *on));
	trim(pool);
	write_all(other);
	work();
	frees[how]();
	trim(pool);
	write_all(other);
	is_unharmed("freed after its graph ended");
	end();
}

/* Pending when the graph ends: what it waits for is over before its own
 * stream's work is. */
static void test_pending(bool vm, size_t size)
{
	static struct gate gate;

	start(vm, size);
	gate_launch(&gate, other, NULL, 0);
	work();
	must(gpumem_free(block, other));
	must(gpumem_graph_destroy(graph, other));
	gate_finish(&gate, other);
	trim(pool);
	write_all(other);
	is_unharmed("pending when its graph ended");
	end();
}

/* The graph's last launch is another stream's, and reads it too. */
static void test_launch(bool vm, size_t size)
{
	start(vm, size);
	atomic_store(&seen, -1);
	must(gpumem_host_hold(0, other, true));
	must(gpumem_host_launch(0, other, look, NULL));
	must(gpumem_graph_destroy(graph, other));
	must(gpumem_free(block, own));
	trim(pool);
	write_all(own);
	must(gpumem_host_hold(0, other, false));
	must(gpumem_stream_sync(device, other));
	is_unharmed("in use by the last launch");
	end();
}

/* Its stream goes first: what it did is waited for, and what the launch does;
 * neither is enough. */
static void test_dropped(bool vm, size_t size, bool live)
{
	static struct gate gate;
	gpumem_stream third;

	start(vm, size);
	third = new_stream();
	work();
	if (!live)
		must(gpumem_free(block, own));
	must(gpumem_pool_drop_stream(pool, own));
	must(gpumem_graph_destroy(graph, other));
	if (live)
		must(gpumem_free_own(block));
	trim(pool);
	write_all(third);
	is_unharmed("its stream was dropped");
	must(gpumem_stream_sync(device, other));
	trim(pool);
	is_uint(reserved_of(pool), 0, "it goes back when both are done");

	must(gpumem_graph_create(pool, &graph));
	must(gpumem_graph_begin(graph, own));
	block = new_block(pool, bytes, own);
	must(gpumem_graph_end(graph, own));
	must(gpumem_free(block, own));
	must(gpumem_pool_drop_stream(pool, own));
	gate_launch(&gate, other, block, bytes);
	must(gpumem_graph_destroy(graph, other));
	trim(pool);
	ok(reserved_of(pool), "not while the launch is not over");
	gate_finish(&gate, other);
	must(gpumem_stream_destroy(device, third));
	end();
}

/* A stream that was dropped has no memory of a graph any more, also if another
 * has its handle. */
static void test_same_handle(void)
{
	void *ptr;

	start(true, 3 * MIB);
	must(gpumem_free(block, own));
	must(gpumem_pool_drop_stream(pool, own));
	must(gpumem_graph_begin(graph, own));
	ptr = new_block(pool, bytes, own);
	ok(ptr != (void *)block, "a new stream gets other memory");
	must(gpumem_free(ptr, own));
	must(gpumem_graph_end(graph, own));
	must(gpumem_graph_destroy(graph, own));
	sound(pool, "sound");
	end();
}

/* By force the pool ends with its graphs: after their streams' work. */
static void test_force(bool vm, size_t size, bool live)
{
	start(vm, size);
	work();
	if (!live)
		must(gpumem_free(block, own));
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	is_uint((uint64_t)atomic_load(&seen), 0x11,
		"%zu bytes: force waits for the graph's stream", size);
	must(gpumem_host_hold(0, own, false));
	must(gpumem_stream_destroy(device, own));
	must(gpumem_stream_destroy(device, other));
	ok(device_end(), "nothing is left");
}

static void test_refusals(void)
{
	start(true, 3 * MIB);
	must(gpumem_host_capture(0, own, true));
	is_status(gpumem_graph_destroy(graph, other), GPUMEM_CAPTURING,
		  "a stream that is captured waits for nothing");
	is_status(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE), GPUMEM_BUSY,
		  "nor is it disturbed by force");
	must(gpumem_host_capture(0, own, false));
	must(gpumem_host_faults("stream_wait@1"));
	is_status(gpumem_graph_destroy(graph, other), GPUMEM_DRIVER,
		  "the driver does not let it wait");
	must(gpumem_host_faults(NULL));
	sound(pool, "sound after refusals");
	must(gpumem_free(block, own));
	must(gpumem_graph_destroy(graph, other));
	is_uint(gpumem_host_capture_violations(), 0, "no capture is disturbed");
	end();
}

int main(void)
{
	static const size_t sizes[] = {1000, 200 * KIB, 6 * MIB};

	alarm(300);
	for (unsigned i = 0; i < 6; i++) {
		const bool vm = i % 2;
		const size_t size = sizes[i / 2];

		for (unsigned how = 0; how < 3; how++) {
			test_before(vm, size, how, &other);
			test_before(vm, size, how, &own);
			test_after(vm, size, how, &other);
			test_after(vm, size, how, &own);
		}
		test_pending(vm, size);
		test_launch(vm, size);
		test_dropped(vm, size, false);
		test_dropped(vm, size, true);
		test_force(vm, size, false);
		test_force(vm, size, true);
	}
	test_same_handle();
	test_refusals();
	return done_testing();
}
