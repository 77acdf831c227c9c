/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where the memory of a device is: the rows add up to its total after each step
 * of a random program, whether its streams are idle or busy, and each agrees
 * with what the statistics, the tags and a walk over the blocks say. argv[1]:
 * a seed.
 */
#include "rows.h"
#include "tags.h"

enum { POOLS = 2, STREAMS = 3, BLOCKS = 160, OUTSIDE = 5 * 1024 * 1024 };

static const char *const pool_name[POOLS] = {"first", "second"};
static gpumem_pool *pool[POOLS];
static gpumem_stream stream[STREAMS];
static gpumem_graph *graph;
static uint32_t tag[4];

static struct {
	void *ptr;
	unsigned pool, stream;
} block[BLOCKS];
static unsigned blocks;

static const char *fault; /* what disagreed first */

static void agrees(ull got, ull want, const char *what)
{
	if (got == want || fault)
		return;
	fault = what;
	diag("%s: %llu in the table, not %llu", what, got, want);
	diag("%s", rows.text);
}

/* ---- what else is known ---- */

static void compare_tags(unsigned i)
{
	tags_read(pool[i]);
	for (unsigned t = 0; t < tags_seen; t++) {
		const struct gpumem_tag *row = &tags_row[t];
		ull bytes = 0, count = 0;

		for (unsigned r = 0; r < rows.count; r++)
			if (!strcmp(rows.row[r].pool, pool_name[i]) &&
			    !strcmp(rows.row[r].what, "live") &&
			    !strcmp(rows.row[r].tag, row->path)) {
				bytes += rows.row[r].bytes;
				count += rows.row[r].blocks;
				agrees(rows.row[r].limit_bytes,
				       row->limit_bytes, "the limit of a tag");
				agrees(rows.row[r].held_bytes, row->held_bytes,
				       "what a tag holds of its limit");
			}
		agrees(bytes, row->bytes.current, "bytes of a tag");
		agrees(count, row->blocks.current, "blocks of a tag");
	}
}

static ull walked[5];

static bool walk(const struct gpumem_block *at, void *unused)
{
	(void)unused;
	walked[at->state] += at->bytes;
	if (at->state == GPUMEM_BLOCK_LIVE)
		walked[0] += at->requested_bytes;
	return true;
}

static void compare_pool(unsigned i)
{
	const char *name = pool_name[i];
	struct gpumem_stats stats;

	memset(walked, 0, sizeof(walked));
	must(gpumem_block_visit(pool[i], walk, NULL));
	stats = stats_of(pool[i]);
	agrees(rows_sum(name, NULL), stats.reserved.current, "a pool");
	agrees(rows_sum(name, "live"), walked[0], "live, as walked");
	agrees(rows_sum(name, "rounding"),
	       walked[GPUMEM_BLOCK_LIVE] - walked[0], "rounding, as walked");
	agrees(rows_sum(name, "pending") + rows_sum(name, "held"),
	       walked[GPUMEM_BLOCK_PENDING], "pending, as walked");
	agrees(rows_sum(name, "cached"), stats.cached_bytes, "cached");
	agrees(rows_sum(name, "graph"), stats.graph_bytes, "graphs");
	agrees(rows_sum(name, "page_part"), stats.page_part_bytes, "pages");
	agrees(rows_sum(name, "handle_part") + rows_sum(name, "segment_part"),
	       stats.handle_part_bytes, "handles");
	agrees(rows_sum(name, "slab_part"), stats.slab_part_bytes, "slabs");
	agrees(rows_sum(name, "stale"), stats.stale_bytes, "stale");
	agrees(rows_sum(name, "bookkeeping"), stats.host_bytes, "bookkeeping");
	compare_tags(i);
}

static void compare(void)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	struct gpumem_stats stats;

	rows_read(device);
	must(gpumem_device_memory(device, &memory));
	agrees(rows.total_bytes, memory.total_bytes, "the device");
	agrees(rows_sum(NULL, NULL), memory.total_bytes, "the sum of all");
	agrees(rows_sum(NULL, "free"), memory.free_bytes, "free");
	agrees(rows_sum(NULL, "outside"), OUTSIDE, "outside");
	for (unsigned i = 0; i < POOLS; i++)
		compare_pool(i);
	stats = stats_of(pool[0]);
	if (unlawful(&stats) && !fault)
		fault = "the law of the statistics";
}

/* ---- the program ---- */

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

/* With a small device it is full most of the time: then an allocation has to
 * end, too. */
static void world_start(const char *capacity, bool vm, bool busy)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);

	option("host.page", vm ? "256KiB" : "64KiB");
	option("handle_max", "1MiB");
	/* It reads a clock. */
	option("decay_ms", "0");
	device_start(capacity, vm);
	must(gpumem_host_outside(0, OUTSIDE));
	for (unsigned i = 0; i < STREAMS; i++) {
		stream[i] = new_stream();
		must(gpumem_host_hold(0, stream[i], busy));
	}
	for (unsigned i = 0; i < POOLS; i++) {
		config.name = pool_name[i];
		must(gpumem_pool_create(device, &config, &pool[i]));
	}
}

static void world_end(void)
{
	if (graph)
		step_graph();
	while (blocks) {
		unsigned i = --blocks;

		must(gpumem_free(block[i].ptr, stream[block[i].stream]));
	}
	for (unsigned i = 0; i < STREAMS; i++)
		must(gpumem_stream_sync(device, stream[i]));
	for (unsigned i = 0; i < POOLS; i++)
		must(gpumem_pool_destroy(pool[i], 0));
	for (unsigned i = 0; i < STREAMS; i++)
		must(gpumem_stream_destroy(device, stream[i]));
	must(gpumem_host_outside(0, 0));
	ok(device_end(), "nothing is left");
}

static void test_random(bool vm, bool busy, long steps)
{
	ull seen[8] = {0};
	static const char *const what[] = {"pending", "cached",	   "page_part",
					   "busy",    "slab_part", "graph",
					   "whole",   "live"};

	world_start("64MiB", vm, busy);
	must(gpumem_tag_set_limit(pool[0], tag[1], 8 * MIB));
	for (long i = 0; i < steps && !fault; i++) {
		step();
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

/* ---- what is said, and how ---- */

static bool said(const char *part)
{
	return strstr(rows.text, part) != NULL;
}

static void test_text(void)
{
	char line[100];
	void *ptr;

	world_start("1GiB", true, true);
	must(gpumem_tag_set(tag[1]));
	ptr = new_block(pool[0], 3 * MIB, stream[0]);
	must(gpumem_tag_set(0));
	must(gpumem_use_on(ptr, stream[1]));
	rows.used = 0;
	must(gpumem_device_report(device, 0, rows_write, &rows));
	ok(!strncmp(rows.text, "host:0: 1.00 GiB\npool \"first\"\n", 30),
	   "it begins with the device and its first pool");
	ok(said("      3.00 MiB    0.3 %  live, 1 block, tag \"weights\"\n"),
	   "a tag");
	must(gpumem_tag_set_limit(pool[0], tag[1], 1024 * MIB));
	rows.used = 0;
	must(gpumem_device_report(device, 0, rows_write, &rows));
	ok(said("tag \"weights\", limit 1.00 GiB, 3.00 MiB held\n"),
	   "and its limit");
	ok(said("\npool \"second\"\n"), "the other pool");
	ok(said("\noutside the pools\n      5.00 MiB    0.5 %  outside "
		"gpumem\n"),
	   "what is outside");
	ok(said("\nprocesses that use the device\n"), "processes");
	must(gpumem_free(ptr, stream[0]));
	rows.used = 0;
	must(gpumem_device_report(device, 0, rows_write, &rows));
	snprintf(line, sizeof(line), "pending, until stream %#llx has",
		 (ull)(uintptr_t)stream[1]);
	ok(said(line), "%s", line);
	diag("%s", rows.text);
	world_end();
}

/* Memory that is not the device's is no part of its total. */
static void test_kinds(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *pinned = NULL;
	void *ptr;

	world_start("1GiB", true, false);
	config.name = "pinned";
	config.kind = GPUMEM_KIND_PINNED;
	must(gpumem_pool_create(device, &config, &pinned));
	ptr = new_block(pinned, MIB, stream[0]);
	compare();
	ok(!fault, "the sum is the device's");
	ok(rows_sum("pinned", "live") == MIB && !rows_sum("pinned", NULL),
	   "pinned memory is beside it");
	must(gpumem_free(ptr, stream[0]));
	must(gpumem_pool_destroy(pinned, 0));
	world_end();
}

/* A driver that does not answer: its status, and nothing is written. */
static void test_fails(void)
{
	world_start("1GiB", true, false);
	must(gpumem_host_faults("memory_info@1:driver"));
	rows.used = 0;
	is_status(gpumem_device_report(device, 0, rows_write, &rows),
		  GPUMEM_DRIVER, "the driver does not say what is free");
	is_int((long)rows.used, 0, "nothing was written");
	must(gpumem_host_faults("device_processes@1:driver"));
	rows_read(device);
	ok(!said("\"processes\""), "nor which processes there are");
	agrees(rows_sum(NULL, NULL), rows.total_bytes, "the sum");
	ok(!fault, "the rest is there");
	must(gpumem_host_faults(""));
	world_end();
}

int main(int argc, char **argv)
{
	long steps = scaled(4000, 400);

	alarm(600);
	random_seed(argc > 1 ? strtoull(argv[1], NULL, 10) : 1);
	must(gpumem_tag_intern("weights", &tag[1]));
	must(gpumem_tag_intern("weights/a", &tag[2]));
	must(gpumem_tag_intern("kv", &tag[3]));
	for (int i = 3; i >= 0; i--)
		test_random(i & 1, i & 2, steps);
	test_text();
	test_kinds();
	test_fails();
	return done_testing();
}
