/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where the memory of a device is: the rows add up to its total after each step
 * of a random program, whether its streams are idle or busy, and each agrees
 * with what the statistics, the tags and a walk over the blocks say. argv[1]:
 * a seed.
 */
#include "table.h"

enum { BLOCKS = 160 };

static gpumem_graph *graph;

static struct {
	void *ptr;
	unsigned pool, stream;
} block[BLOCKS];
static unsigned blocks;

static void step_alloc(void)
{
	static const unsigned shift[] = {8, 12, 14, 16, 18, 20, 21, 22};
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	unsigned in = (unsigned)random_below(POOLS);
	unsigned on = (unsigned)random_below(STREAMS);
	size_t bytes = 1 + random_below(1ull << shift[random_below(8)]);
	void *ptr;

	options.tag = tag[random_below(4)];
	if (blocks == BLOCKS || gpumem_alloc_with(pool[in], bytes, stream[on],
						  &options, &ptr, NULL))
		return;
	if (one_in(4))
		must(gpumem_use_on(ptr, stream[random_below(STREAMS)]));
	if (one_in(4))
		must(gpumem_fill(device, ptr, 1, bytes, stream[on]));
	block[blocks].ptr = ptr;
	block[blocks].pool = in;
	block[blocks++].stream = on;
}

static void step_free(void)
{
	unsigned i = (unsigned)random_below(blocks + 1);
	unsigned on = (unsigned)random_below(STREAMS);

	if (i == blocks)
		return;
	if (one_in(2))
		on = block[i].stream;
	must(gpumem_free(block[i].ptr, stream[on]));
	block[i] = block[--blocks];
}

static void step_device(void)
{
	gpumem_stream on = stream[random_below(STREAMS)];

	if (one_in(3))
		must(gpumem_stream_sync(device, on));
	else
		must(gpumem_host_step(0, on, gpumem_host_queued(0, on) / 2));
	if (one_in(8))
		must(gpumem_pool_trim(pool[random_below(POOLS)], 0, NULL));
}

/* Memory of a graph, which keeps it until it is destroyed. */
static void step_graph(void)
{
	gpumem_stream on = stream[STREAMS - 1];
	void *ptr[4];
	int n = 0;

	if (graph) {
		must(gpumem_graph_destroy(graph, on));
		graph = NULL;
		return;
	}
	must(gpumem_graph_create(pool[0], &graph));
	must(gpumem_graph_begin(graph, on));
	while (n < 4 &&
	       !gpumem_alloc(pool[0], 1 + random_below(MIB), on, &ptr[n]))
		n++;
	while (n--)
		must(gpumem_free(ptr[n], on));
	must(gpumem_graph_end(graph, on));
}

static void step(void)
{
	uint64_t pick = random_below(100);

	if (pick < 50)
		step_alloc();
	else if (pick < 90)
		step_free();
	else if (pick < 98)
		step_device();
	else
		step_graph();
}

static void drop_all(void)
{
	if (graph)
		step_graph();
	while (blocks) {
		unsigned i = --blocks;

		must(gpumem_free(block[i].ptr, stream[block[i].stream]));
	}
	for (unsigned i = 0; i < STREAMS; i++)
		must(gpumem_stream_sync(device, stream[i]));
	/* It gives nothing back, but asks what is over. */
	for (unsigned i = 0; i < POOLS; i++)
		must(gpumem_pool_trim(pool[i], UINT64_MAX, NULL));
}

static void test_random(bool vm, bool busy, long steps)
{
	ull seen[8] = {0};
	static const char *const what[] = {"pending", "cached",	   "page_part",
					   "busy",    "slab_part", "graph",
					   "whole",   "live"};

	world_start("64MiB", vm, busy);
	must(gpumem_tag_set_limit(pool[0], tag[1], 8 * MIB));
	/* In the end all is free, and over. */
	for (long i = 0; i <= steps && !fault; i++) {
		if (i < steps)
			step();
		else
			drop_all();
		compare();
		for (unsigned j = 0; j < 8; j++)
			seen[j] += rows_sum(NULL, what[j]);
	}
	ok(!fault, "%s, %s: all rows agree after each of %ld steps%s%s",
	   vm ? "pages" : "segments", busy ? "busy" : "idle", steps,
	   fault ? "; not " : "", fault ? fault : "");
	for (unsigned j = 0; j < 8; j++)
		ok(seen[j] ||
			   (!busy && (!strcmp(what[j], "busy") ||
				      !strcmp(what[j], "pending"))) ||
			   (!vm && !strcmp(what[j], "page_part")),
		   "there were rows: %s", what[j]);
	world_end();
}

int main(int argc, char **argv)
{
	long steps = scaled(4000, 400);

	alarm(600);
	random_seed(argc > 1 ? strtoull(argv[1], NULL, 10) : 1);
	tags_make();
	for (int i = 3; i >= 0; i--)
		test_random(i & 1, i & 2, steps);
	return done_testing();
}
