/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * While a pool grows for a stream, this is dropped, or a graph begins on it;
 * and while it grows in vain, another stream begins to be captured.
 */
#include "let_go.h"

static void drop(void)
{
	must(gm_pool_drop_stream(pool, stream));
	gm_heap_gather(&pool->heap);
	pthread_mutex_unlock(&pool->heap.mutex);
	sound("the stream is gone");
}

static void test_dropped(size_t bytes)
{
	void *ptr;

	pool_start(0);
	expect(drop, GPUMEM_OK);
	must(allocate(bytes, stream, &ptr));
	is_over();
	sound("a block of it");
	give(ptr);
	must(gm_pool_drop_stream(pool, stream));
	trim();
	sound("dropped again");
	pool_end();
}

static struct gpumem_graph *graph;

static void begin_graph(void)
{
	must(gm_graph_begin(graph, stream));
}

static void test_graph(size_t bytes)
{
	void *ptr, *small;

	pool_start(0);
	must(gm_graph_create(pool, &graph));
	expect(begin_graph, GPUMEM_OK);
	must(allocate(bytes, stream, &ptr));
	is_over();
	sound("a graph began");
	must(allocate(1000, stream, &small));
	ok(gm_slab_of_entry(gm_map_get((uintptr_t)small))->arena->graph ==
		   graph,
	   "%s: it has what comes now", slot);
	give(small);
	give(ptr);
	must(gm_graph_end(graph, stream));
	must(gm_graph_destroy(graph, stream));
	sound("and ended");
	pool_end();
}

static void begin_capture(void)
{
	must(gpumem_host_capture(0, stream, true));
}

static void test_capture(void)
{
	void *own, *ptr;

	pool_start(0);
	must(allocate(PAGE, stream, &own));
	expect(begin_capture, GPUMEM_DRIVER);
	is_status(allocate(6 * PAGE, NULL, &ptr), GPUMEM_DRIVER,
		  "%s: refused, and a capture has begun", slot);
	is_over();
	sound("captured");
	is_uint(gpumem_host_capture_violations(), 0, "%s: it is not disturbed",
		slot);
	must(gpumem_host_capture(0, stream, false));
	give(own);
	pool_end();
}

static void test_slot(bool pool_has_pages)
{
	(void)pool_has_pages;
	test_dropped(6 * PAGE);
	test_dropped(1000);
	test_graph(6 * PAGE);
	test_graph(1000);
	test_capture();
}

int main(void)
{
	let_go_start();
	in_each_slot(test_slot);
	unhook_driver(device);
	return done_testing();
}
