/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The gauges of a pool against a model, after every call of a lone thread on
 * one stream: current, peak and total of requested, allocated, active, blocks,
 * reserved and segments, with resets in between; pending blocks too. Nothing
 * here is allowed to be off by a byte. The counters are in counts.c.
 */
#include "fixture.h"

enum { LIVE = 300 };

/* As struct gpumem_gauge says: peak is the highest of current, total the sum of
 * all that was added, both since the last reset. */
struct model {
	struct gpumem_gauge requested, allocated, active, reserved, blocks;
};

static struct {
	void *ptr;
	uint64_t requested, bytes;
} live[LIVE];

static size_t live_count;
static struct model model;
static gpumem_pool *pool;
static unsigned long wrong;

static void add(struct gpumem_gauge *gauge, uint64_t n)
{
	gauge->current += n;
	gauge->total += n;
	if (gauge->peak < gauge->current)
		gauge->peak = gauge->current;
}

static void reset(struct gpumem_gauge *gauge, bool totals)
{
	gauge->peak = gauge->current;
	if (totals)
		gauge->total = 0;
}

static void compare(const char *name, const struct gpumem_gauge *got,
		    const struct gpumem_gauge *want)
{
	if (got->current == want->current && got->peak == want->peak &&
	    got->total == want->total)
		return;
	if (wrong++ < 5)
		diag("%s: got %" PRIu64 "/%" PRIu64 "/%" PRIu64
		     ", expected %" PRIu64 "/%" PRIu64 "/%" PRIu64,
		     name, got->current, got->peak, got->total, want->current,
		     want->peak, want->total);
}

/* What the device gave out is the one figure that the model takes from
 * elsewhere: no other pool uses the device. */
static void see_reserved(void)
{
	uint64_t now = gpumem_host_used_bytes(0);

	if (now >= model.reserved.current)
		add(&model.reserved, now - model.reserved.current);
	else
		model.reserved.current = now;
}

static void compare_all(void)
{
	struct gpumem_stats stats;
	const char *law;

	see_reserved();
	stats = stats_of(pool);
	compare("requested", &stats.requested, &model.requested);
	compare("allocated", &stats.allocated, &model.allocated);
	compare("active", &stats.active, &model.active);
	compare("blocks", &stats.blocks, &model.blocks);
	/* A call may take and give back: peak and total are then the pool's
	 * word alone. */
	if (stats.reserved.current != model.reserved.current ||
	    stats.reserved.peak < model.reserved.peak ||
	    stats.reserved.total < model.reserved.total)
		compare("reserved", &stats.reserved, &model.reserved);
	law = unlawful(&stats);
	if (law && wrong++ < 5)
		diag("the law is broken: %s", law);
}

static size_t random_bytes(void)
{
	size_t r = (size_t)rand();

	if (r % 3 == 0)
		return 1 + (r >> 4) % (3 * MIB);
	return 1 + (r >> 4) % (r % 3 == 1 ? 64 * KIB : 3 * KIB);
}

/* What a block may hold beyond what was asked for: less than a unit, or than a
 * fifth of itself where it is small. */
static void see_rounding(uint64_t asked, uint64_t bytes)
{
	uint64_t most = bytes / 5 > 256 && bytes <= 64 * KIB ? bytes / 5 : 256;

	if ((bytes < asked || bytes - asked >= most) && wrong++ < 5)
		diag("%" PRIu64 " bytes became %" PRIu64, asked, bytes);
}

static void allocate(void)
{
	struct gpumem_block found = GPUMEM_INIT(struct gpumem_block);
	size_t bytes = random_bytes();
	void *ptr = new_block(pool, bytes, NULL);

	must(gpumem_query(ptr, &found));
	see_rounding(bytes, found.bytes);
	live[live_count].ptr = ptr;
	live[live_count].requested = bytes;
	live[live_count++].bytes = found.bytes;
	add(&model.requested, bytes);
	add(&model.allocated, found.bytes);
	add(&model.active, found.bytes);
	add(&model.blocks, 1);
}

/* Gives the bytes that were allocated. */
static uint64_t release(gpumem_stream stream)
{
	size_t at = (size_t)rand() % live_count;
	uint64_t bytes = live[at].bytes;

	must(gpumem_free(live[at].ptr, stream));
	model.requested.current -= live[at].requested;
	model.allocated.current -= bytes;
	model.active.current -= bytes;
	model.blocks.current--;
	live[at] = live[--live_count];
	return bytes;
}

static void reset_all(bool totals)
{
	must(gpumem_pool_reset_stats(pool, totals ? GPUMEM_RESET_TOTALS : 0));
	see_reserved();
	reset(&model.requested, totals);
	reset(&model.allocated, totals);
	reset(&model.active, totals);
	reset(&model.reserved, totals);
	reset(&model.blocks, totals);
}

static void step(void)
{
	int r = rand() % 1000;

	if (r < 4)
		reset_all(r % 2);
	else if (r < 14)
		must(gpumem_pool_trim(pool, (uint64_t)(r - 4) * 10 * MIB,
				      NULL));
	else if (live_count < LIVE && (!live_count || r % 2))
		allocate();
	else
		release(NULL);
}

static void lone_thread(void)
{
	long steps = scaled(300000, 30000);

	for (long i = 0; i < steps; i++) {
		step();
		/* Not at every step: what caches did meanwhile must come out
		 * right too. */
		if (rand() % 8 == 0)
			compare_all();
	}
	is_uint(wrong, 0, "every gauge is exact over %ld calls", steps);
}

/* Blocks that another stream still uses leave `allocated` at once, and `active`
 * when it is done. */
static void pending_blocks(void)
{
	gpumem_stream other = new_stream();
	struct gate gate;
	uint64_t bytes = 0, before;

	while (live_count < 40)
		allocate();
	compare_all();
	gate_launch(&gate, other, NULL, 0);
	for (int i = 0; i < 20; i++) {
		uint64_t freed = release(other);

		model.active.current += freed;
		bytes += freed;
		compare_all();
	}
	is_uint(wrong, 0, "pending blocks stay active");
	is_uint(stats_of(pool).pending_bytes, bytes, "and are pending");
	before = stats_of(pool).active.total;
	allocate();
	compare_all();
	gate_open(&gate);
	must(gpumem_stream_sync(device, other));
	must(gpumem_pool_trim(pool, UINT64_MAX, NULL));
	model.active.current -= bytes;
	compare_all();
	is_uint(wrong, 0, "until their stream is done");
	is_uint(stats_of(pool).pending_bytes, 0, "nothing is pending");
	ok(stats_of(pool).active.total > before, "totals only grow");
	must(gpumem_stream_destroy(device, other));
}

static void segments(bool vm)
{
	const struct gpumem_stats stats = stats_of(pool);
	uint64_t made, gone;

	made = calls_of(pool, vm ? GPUMEM_CALL_PAGE_CREATE : GPUMEM_CALL_ALLOC)
		       .count;
	gone = calls_of(pool, vm ? GPUMEM_CALL_PAGE_DESTROY : GPUMEM_CALL_FREE)
		       .count;
	is_uint(stats.segments.current, made - gone, "segments: made - gone");
	is_uint(stats.segments.total, made, "in all: as many as were made");
	ok(stats.segments.peak >= stats.segments.current &&
		   stats.segments.peak <= made,
	   "their peak lies between");
	is_uint(stats.reserved.current, gpumem_host_used_bytes(0),
		"reserved is what the device gave out");
}

static bool find_largest(const struct gpumem_block *block, void *user)
{
	uint64_t *largest = user;

	if (block->state == GPUMEM_BLOCK_FREE && block->bytes > *largest)
		*largest = block->bytes;
	return true;
}

static void is_largest(uint64_t bytes, const char *what)
{
	const struct gpumem_stats stats = stats_of(pool);
	const double part =
		(double)stats.largest_free_bytes / (double)stats.free_bytes;
	uint64_t largest = 0;

	must(gpumem_block_visit(pool, find_largest, &largest));
	is_uint(stats.largest_free_bytes, largest, "%s: as the walk has it",
		what);
	ok(largest >= bytes, "%s: at least %llu bytes", what,
	   (unsigned long long)bytes);
	ok(stats.fragmentation > 0.999999 - part &&
		   stats.fragmentation < 1.000001 - part,
	   "%s: the rest is fragmentation", what);
}

/* Whoever keeps it: free is free. */
static void largest_free(void)
{
	gpumem_stream stream;
	gpumem_graph *graph;
	void *ptr[64];

	must(gpumem_stream_create(device, &stream));
	for (int i = 0; i < 64; i++)
		ptr[i] = new_block(pool, 256, NULL);
	for (int i = 0; i < 64; i++)
		must(gpumem_free(ptr[i], NULL));
	must(gpumem_free(new_block(pool, 20 * 1000 * 1000, NULL), NULL));
	is_largest(20 * 1000 * 1000, "in the thread's cache");
	must(gpumem_free(new_block(pool, 50 * MIB, NULL), NULL));
	is_largest(50 * MIB, "a huge one there");
	must(gpumem_stream_sync(device, NULL));
	must(gpumem_pool_trim(pool, 0, NULL));
	must(gpumem_graph_create(pool, &graph));
	must(gpumem_graph_begin(graph, stream));
	must(gpumem_free(new_block(pool, 9 * MIB, stream), stream));
	must(gpumem_graph_end(graph, stream));
	is_largest(9 * MIB, "kept for a graph");
	must(gpumem_graph_destroy(graph, stream));
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_pool_trim(pool, 0, NULL));
	is_uint(stats_of(pool).largest_free_bytes, 0, "nothing is free");
	must(gpumem_free(new_block(pool, 5000, NULL), NULL));
	ok(stats_of(pool).largest_free_bytes >= 5000, "a small one");
}

int main(void)
{
	bool vm;

	open_device(120);
	vm = has_vm();
	pool = new_pool(0);
	srand(1);
	lone_thread();
	pending_blocks();
	while (live_count)
		release(NULL);
	compare_all();
	reset_all(true);
	for (int i = 0; i < 50; i++)
		allocate();
	compare_all();
	while (live_count)
		release(NULL);
	is_uint(trim_all(pool, NULL, 0), 0, "a trim gives all back");
	compare_all();
	is_uint(wrong, 0, "after the end as well");
	must(gpumem_pool_destroy(pool, 0));

	pool = new_pool(0);
	largest_free();
	must(gpumem_pool_destroy(pool, 0));

	pool = new_pool(0);
	for (int i = 0; i < 30; i++)
		(void)new_block(pool, (size_t)i * 500 * KIB + 1, NULL);
	segments(vm);
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	is_uint(gpumem_host_used_bytes(0), 0, "the device is empty");
	must(gpumem_device_close(device));
	return done_testing();
}
