/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The advice of an out of memory while a capture forbids frees: what to do
 * before it, not what can only be done after it. Other states are in advice.c.
 */
#include "advice.h"

enum { BLOCKS = 30 };

/* What other streams have free cannot be given back, nor moved, until the
 * capture ends; and nothing is live that could be freed. */
static void test_capture(void)
{
	gpumem_stream captured, other;
	gpumem_graph *graph;
	gpumem_pool *pool;
	void *held[BLOCKS], *ptr;

	option("host.capture_frees", "off");
	device_start("64MiB", true);
	option("host.capture_frees", NULL);
	captured = new_stream();
	other = new_stream();
	pool = new_pool(0);
	for (int i = 0; i < BLOCKS; i++)
		held[i] = new_block(pool, 2 * MIB, other);
	for (int i = 0; i < BLOCKS; i++)
		must(gpumem_free(held[i], other));
	must(gpumem_graph_create(pool, &graph));
	must(gpumem_graph_begin(graph, captured));
	must(gpumem_host_capture(0, captured, true));
	is_status(gpumem_alloc(pool, 8 * MIB, captured, &ptr), GPUMEM_NO_MEMORY,
		  "8 MiB in a capture are refused");
	ok(strstr(last_text(), "is being captured") &&
		   strstr(last_text(), "gpumem_pool_trim") &&
		   !strstr(last_text(), "free those"),
	   "the advice is for before the capture");
	advises_told();
	if (tap.failed)
		diag("%s", last_text());
	must(gpumem_host_capture(0, captured, false));
	must(gpumem_free(new_block(pool, 8 * MIB, captured), captured));
	must(gpumem_graph_end(graph, captured));
	must(gpumem_graph_destroy(graph, captured));
	is_uint(gpumem_host_capture_violations(), 0, "it was not disturbed");
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, captured));
	must(gpumem_stream_destroy(device, other));
	ok(device_end(), "nothing is left");
}

int main(void)
{
	alarm(60);
	gpumem_oom_set(told_note, &told);
	test_capture();
	return done_testing();
}
