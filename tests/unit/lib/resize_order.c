/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem_resize() and streams: what other streams have freed is taken when they
 * have finished with it, what a block gives up is used again when all have, and
 * memory of graphs stays theirs. Other threads' caches keep what they have.
 */
#include "fixture.h"

enum { PAGE = 2 * MIB };

static const char *kind;
static gpumem_pool *pool;
static gpumem_stream a, b;
static struct gate gate;

/* Side by side, in one page or segment, on stream A but for the second. */
static char *x, *y, *z;

static void start(bool vm, gpumem_stream *of_y)
{
	kind = vm ? "pages" : "segments";
	device_start("256MiB", vm);
	pool = new_pool(0);
	a = new_stream();
	b = new_stream();
	x = new_block(pool, 512 * KIB, a);
	y = new_block(pool, 512 * KIB, a);
	z = new_block(pool, MIB, a);
	if (y != x + 512 * KIB || z != y + 512 * KIB)
		bail("the blocks do not lie side by side");
	if (!of_y)
		return;
	/* The place of Y becomes free memory, and Y a block of B's there. */
	must(gpumem_free(y, a));
	must(gpumem_stream_sync(device, a));
	must(gpumem_pool_set_limit(pool, PAGE));
	y = new_block(pool, 512 * KIB, *of_y);
	if (y != x + 512 * KIB)
		bail("the block of the other stream is elsewhere");
}

static void stop(const char *name)
{
	sound(pool, "%s, %s: the pool is sound", name, kind);
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_stream_destroy(device, b));
	if (a)
		must(gpumem_stream_destroy(device, a));
	ok(device_end(), "%s, %s: the device is empty", name, kind);
	is_uint(gpumem_host_capture_violations(), 0,
		"%s, %s: no capture is disturbed", name, kind);
}

static uint64_t holds(const void *ptr)
{
	struct gpumem_block info = GPUMEM_INIT(struct gpumem_block);

	must(gpumem_query(ptr, &info));
	return info.bytes;
}

/* Y leaves the thread's cache: other sizes of its stream take its memory. */
static void empty_cache(void)
{
	must(gpumem_pool_trim(pool, UINT64_MAX, NULL));
}

static void others_free_memory(bool vm)
{
	static const char name[] = "another stream's free memory";

	start(vm, &b);
	gate_launch(&gate, b, NULL, 0);
	must(gpumem_free(y, b));
	empty_cache();
	is_status(gpumem_resize(x, MIB, a, NULL), GPUMEM_BUSY,
		  "%s, %s: not while that is busy", name, kind);
	gate_finish(&gate, b);
	is_status(gpumem_resize(x, MIB, a, NULL), GPUMEM_OK,
		  "%s, %s: then it is taken", name, kind);
	is_uint(holds(x), MIB, "%s, %s: all of it", name, kind);
	stop(name);
}

/* X is to be used on B, so what A has freed must be over. */
static void on_another_stream(bool vm)
{
	static const char name[] = "grown on another stream";

	start(vm, NULL);
	gate_launch(&gate, a, NULL, 0);
	must(gpumem_free(y, a));
	is_status(gpumem_resize(x, MIB, b, NULL), GPUMEM_BUSY,
		  "%s, %s: not while its own is busy", name, kind);
	is_status(gpumem_resize(x, MIB, a, NULL), GPUMEM_OK,
		  "%s, %s: on its own it is in order", name, kind);
	must(gpumem_resize(x, 512 * KIB, a, NULL));
	gate_finish(&gate, a);
	is_status(gpumem_resize(x, MIB, b, NULL), GPUMEM_OK,
		  "%s, %s: then on the other one too", name, kind);
	gate_launch(&gate, b, NULL, 0);
	must(gpumem_free(x, a));
	is_uint(stats_of(pool).pending_bytes, MIB,
		"%s, %s: which its free waits for", name, kind);
	gate_finish(&gate, b);
	stop(name);
}

/* The end is used by B for all that the pool knows. */
static void shrunk_on_another_stream(bool vm, bool small)
{
	static const char name[] = "shrunk on another stream";
	uint64_t usable, bytes = small ? 4 * KIB : 512 * KIB;
	char *block;

	start(vm, NULL);
	block = small ? new_block(pool, bytes, a) : x;
	gate_launch(&gate, b, block, bytes);
	must(gpumem_resize(block, bytes / 2, b, &usable));
	is_uint(usable, bytes, "%s, %s: it keeps its end", name, kind);
	must(gpumem_resize(block, bytes / 4, a, &usable));
	is_uint(usable, bytes, "%s, %s: while it is used there", name, kind);
	is_uint(stats_of(pool).requested.current,
		bytes / 4 + 512 * KIB + MIB + (small ? 512 * KIB : 0),
		"%s, %s: and less is requested", name, kind);
	must(gpumem_free(block, a));
	is_uint(stats_of(pool).pending_bytes, bytes,
		"%s, %s: all of it waits for that stream", name, kind);
	gate_finish(&gate, b);
	stop(name);
}

static void shrunk_large(bool vm)
{
	shrunk_on_another_stream(vm, false);
}

static void shrunk_small(bool vm)
{
	shrunk_on_another_stream(vm, true);
}

/* What is given up is A's: B gets it when A has finished. */
static void given_up(bool vm)
{
	static const char name[] = "what is given up";
	void *ptr;

	start(vm, NULL);
	must(gpumem_pool_set_limit(pool, PAGE));
	gate_launch(&gate, a, x, 512 * KIB);
	must(gpumem_resize(x, 256 * KIB, a, NULL));
	option("wait", "off");
	ok(gpumem_alloc(pool, 200 * KIB, a, &ptr) == GPUMEM_OK &&
		   ptr == x + 256 * KIB,
	   "%s, %s: its own stream has it at once", name, kind);
	must(gpumem_free(ptr, a));
	empty_cache();
	is_status(gpumem_resize(x, 512 * KIB, b, NULL), GPUMEM_BUSY,
		  "%s, %s: no other stream has it", name, kind);
	gate_finish(&gate, a);
	is_status(gpumem_alloc(pool, 200 * KIB, b, &ptr), GPUMEM_OK,
		  "%s, %s: until the work is done", name, kind);
	option("wait", NULL);
	stop(name);
}

static void stream_gone(bool vm)
{
	static const char name[] = "a stream that is gone";
	uint64_t usable;

	start(vm, NULL);
	must(gpumem_free(y, a));
	must(gpumem_stream_destroy(device, a));
	a = NULL;
	is_status(gpumem_resize(x, MIB, b, &usable), GPUMEM_OK,
		  "%s, %s: its block grows on another", name, kind);
	must(gpumem_resize(x, 400 * KIB, b, &usable));
	is_uint(usable, MIB, "%s, %s: and keeps its end", name, kind);
	must(gpumem_free(x, b));
	must(gpumem_free(z, b));
	must(gpumem_stream_sync(device, b));
	trim(pool);
	trim(pool);
	is_uint(reserved_of(pool), 0, "%s, %s: all goes back", name, kind);
	stop(name);
}

/* Private memory grows by new pages, or what the graph has freed. */
static void of_a_graph(bool vm)
{
	static const char name[] = "a graph's block";
	gpumem_graph *graph;
	char *p, *q;

	start(vm, NULL);
	must(gpumem_free(y, a));
	must(gpumem_graph_create(pool, &graph));
	must(gpumem_graph_begin(graph, a));
	must(gpumem_host_capture(0, a, true));
	is_status(gpumem_resize(z, MIB / 2, a, NULL), GPUMEM_OK,
		  "%s, %s: another one shrinks while capturing", name, kind);
	p = new_block(pool, 256 * KIB, a);
	q = new_block(pool, 256 * KIB, a);
	if (q != p + 256 * KIB)
		bail("the graph's blocks do not lie side by side");
	must(gpumem_free(q, a));
	is_status(gpumem_resize(p, 512 * KIB, a, NULL), GPUMEM_OK,
		  "%s, %s: into the graph's free memory", name, kind);
	is_status(gpumem_resize(p, 20 * MIB, a, NULL),
		  vm ? GPUMEM_OK : GPUMEM_BUSY, "%s, %s: into a hole", name,
		  kind);
	must(gpumem_resize(p, 256 * KIB, a, NULL));
	must(gpumem_host_capture(0, a, false));
	must(gpumem_graph_end(graph, a));
	must(gpumem_stream_sync(device, a));
	is_status(gpumem_resize(p, MIB, b, NULL), GPUMEM_BUSY,
		  "%s, %s: its own memory is not completed", name, kind);
	is_status(gpumem_resize(p, 300 * KIB, a, NULL), GPUMEM_OK,
		  "%s, %s: on its stream it grows", name, kind);
	must(gpumem_free(p, a));
	must(gpumem_graph_destroy(graph, a));
	stop(name);
}

static void *free_elsewhere(void *ptr)
{
	must(gpumem_free(new_block(pool, 256, a), a));
	must(gpumem_free(ptr, a));
	is_status(gpumem_resize(x, MIB, a, NULL), GPUMEM_OK,
		  "its own cache has it: it is given back");
	must(gpumem_resize(x, 512 * KIB, a, NULL));
	must(gpumem_free(new_block(pool, 512 * KIB, a), a));
	return NULL;
}

static void *look_for_it(void *unused)
{
	is_status(gpumem_resize(x, MIB, a, NULL), GPUMEM_BUSY,
		  "another thread's cache keeps what it has");
	return unused;
}

static void in_caches(bool vm)
{
	pthread_t thread;

	start(vm, NULL);
	free_elsewhere(y);
	if (pthread_create(&thread, NULL, look_for_it, NULL))
		bail("no thread");
	pthread_join(thread, NULL);
	stop("caches");
}

int main(void)
{
	static void (*const tests[])(bool vm) = {
		others_free_memory, on_another_stream, shrunk_large,
		shrunk_small,	    given_up,	       stream_gone,
		of_a_graph,	    in_caches,
	};

	alarm(60);
	for (size_t i = 0; i < 2 * sizeof(tests) / sizeof(tests[0]); i++)
		tests[i / 2](i % 2 == 0);
	return done_testing();
}
