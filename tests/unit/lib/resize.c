/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem_resize() by one thread on one stream: what a block holds then, what it
 * grows into, its content, the statistics, and when the answer is no. Other
 * streams are resize_order.c's, failures of the driver resize_faults.c's.
 */
#include "fixture.h"

static gpumem_pool *pool;
static bool vm;

/* Pages, and the smallest segments, are so large on host:0. */
enum { PAGE = 2 * MIB, LOOK = 4 * KIB };

static void start(void)
{
	pool = new_pool(0);
}

static void stop(const char *name)
{
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "%s: sound", name);
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	is_uint(gpumem_host_used_bytes(0), 0, "%s: nothing is left", name);
}

static uint64_t resized(void *ptr, size_t bytes)
{
	uint64_t usable = 0;

	must(gpumem_resize(ptr, bytes, NULL, &usable));
	return usable;
}

static void refused(void *ptr, size_t bytes, const char *what)
{
	struct gpumem_stats before = stats_of(pool), after;
	uint64_t usable = 77;

	said(gpumem_resize(ptr, bytes, NULL, &usable), GPUMEM_BUSY, what);
	after = stats_of(pool);
	is_uint(usable, 77, "%s: no output is touched", what);
	ok(!memcmp(&before.requested, &after.requested,
		   sizeof(before.requested)) &&
		   before.allocated.current == after.allocated.current &&
		   before.active.total == after.active.total &&
		   before.ooms == after.ooms && before.retries == after.retries,
	   "%s: nothing has changed", what);
}

static void fill(void *ptr, size_t bytes, uint8_t value)
{
	must(gpumem_fill(device, ptr, value, bytes, NULL));
}

static void holds(const void *ptr, size_t bytes, uint8_t value,
		  const char *what)
{
	static unsigned char seen[PAGE];
	size_t wrong = 0;

	if (bytes > sizeof(seen))
		bytes = sizeof(seen);
	must(gpumem_copy(device, seen, ptr, bytes, NULL));
	must(gpumem_stream_sync(device, NULL));
	for (size_t i = 0; i < bytes; i++)
		wrong += seen[i] != value;
	is_uint(wrong, 0, "%s: the content is kept", what);
}

static void is_block(const void *ptr, size_t requested, size_t bytes)
{
	struct gpumem_block info = GPUMEM_INIT(struct gpumem_block);

	must(gpumem_query((const char *)ptr + requested - 1, &info));
	ok(info.ptr == ptr && info.requested_bytes == requested &&
		   info.bytes == bytes,
	   "a block of %zu bytes, %zu requested", bytes, requested);
}

static void small_slots(void)
{
	struct gpumem_stats stats;
	void *ptr, *aligned;

	start();
	ptr = new_block(pool, 1000, NULL);
	fill(ptr, 1000, 0x31);
	is_uint(resized(ptr, 700), 1024, "a small block holds its slot");
	is_block(ptr, 700, 1024);
	is_uint(resized(ptr, 1024), 1024, "and can be as large");
	holds(ptr, 700, 0x31, "small");
	refused(ptr, 1025, "beyond the slot");
	refused(ptr, SIZE_MAX, "a small block of all bytes");
	is_uint(resized(ptr, 1), 1024, "one byte keeps the slot");
	stats = stats_of(pool);
	is_uint(stats.requested.current, 1, "so many are requested");
	is_uint(stats.requested.peak, 1024, "that was the peak");
	is_uint(stats.requested.total, 1000 + 324, "and all increases");
	is_uint(stats.allocated.total, 1024, "nothing more was allocated");
	is_uint(stats.hits + stats.misses, 1, "a resize is no allocation");
	must(gpumem_alloc_aligned(pool, 100, 4096, NULL, &aligned));
	is_uint(resized(aligned, 4096), 4096, "all of an aligned slot");
	must(gpumem_resize(aligned, 5, NULL, NULL));
	must(gpumem_free(aligned, NULL));
	is_status(gpumem_resize(aligned, 5, NULL, NULL), GPUMEM_BAD_POINTER,
		  "a small block that was freed");
	is_status(gpumem_resize((char *)ptr + 1, 5, NULL, NULL),
		  GPUMEM_BAD_POINTER, "not the start of a small block");
	stop("small");
}

/* What it gives up is free, what it gives up was behind it. */
static void large_ends(void)
{
	struct gpumem_stats stats;
	char *ptr, *next;

	start();
	ptr = new_block(pool, MIB, NULL);
	fill(ptr, MIB, 0x32);
	is_uint(resized(ptr, 300000), 300032,
		"a large block gives its end back");
	is_block(ptr, 300000, 300032);
	stats = stats_of(pool);
	is_uint(stats.requested.current, 300000, "requested");
	is_uint(stats.allocated.current, 300032, "allocated");
	is_uint(stats.active.current, 300032, "active");
	is_uint(stats.allocated.peak, MIB, "the peak stays");
	next = new_block(pool, 600 * KIB, NULL);
	is_ptr(next, ptr + 300032, "the next block is there");
	fill(next, 600 * KIB, 0x33);
	refused(ptr, 300033, "with a block behind it");
	is_uint(resized(ptr, 300032), 300032, "up to what it holds");
	must(gpumem_free(next, NULL));
	ok(stats_of(pool).cached_bytes > 0, "the thread's cache has that");
	is_uint(resized(ptr, 800000), 800000, "and gives it back to grow");
	holds(ptr, 300000, 0x32, "grown");
	stats = stats_of(pool);
	is_uint(stats.allocated.current, 800000, "allocated");
	is_uint(stats.hits + stats.misses, 2, "a resize is no allocation");
	is_uint(resized(ptr, 1), 16 * KIB + 256, "the smallest large block");
	is_block(ptr, 1, 16 * KIB + 256);
	must(gpumem_free(ptr, NULL));
	is_status(gpumem_resize(ptr, 5, NULL, NULL), GPUMEM_BAD_POINTER,
		  "a large block that was freed");
	stop("large");
}

/* Addresses without memory behind it. */
static void into_hole(void)
{
	uint64_t reserved, mapped;
	char *ptr;

	start();
	ptr = new_block(pool, MIB, NULL);
	fill(ptr, MIB, 0x34);
	is_uint(resized(ptr, PAGE), PAGE, "all of the first page");
	if (!vm) {
		refused(ptr, PAGE + 1, "at the end of its segment");
		stop("segments");
		return;
	}
	mapped = calls_of(pool, GPUMEM_CALL_MAP).count;
	is_uint(resized(ptr, 10 * PAGE - 5), 10 * PAGE - 0, "into the hole");
	is_uint(calls_of(pool, GPUMEM_CALL_MAP).count, mapped + 1,
		"by one call");
	holds(ptr, MIB, 0x34, "grown into a hole");
	fill(ptr, 10 * PAGE - 5, 0x35);
	holds(ptr + 9 * PAGE, PAGE - 5, 0x35, "the new end");
	reserved = stats_of(pool).reserved.current;
	is_uint(reserved, 10 * PAGE, "reserved is what it took");
	refused(ptr, SIZE_MAX, "all bytes");
	refused(ptr, (size_t)1 << 46, "more than the device has");
	must(gpumem_resize(ptr, 300 * KIB, NULL, NULL));
	must(gpumem_pool_trim(pool, 0, NULL));
	is_uint(stats_of(pool).reserved.current, PAGE, "its end can go");
	stop("hole");
}

/* A hole with free memory on both sides. */
static void across(void)
{
	char *x, *hole, *right, *last;

	start();
	x = new_block(pool, PAGE - 64 * KIB, NULL);
	hole = new_block(pool, 2 * PAGE + 64 * KIB, NULL);
	right = new_block(pool, PAGE, NULL);
	last = new_block(pool, PAGE, NULL);
	if (!vm) {
		stop("segments");
		return;
	}
	ok(hole == x + PAGE - 64 * KIB && right == x + 3 * PAGE &&
		   last == x + 4 * PAGE,
	   "the blocks lie side by side");
	must(gpumem_free(hole, NULL));
	must(gpumem_pool_trim(pool, 0, NULL));
	is_uint(stats_of(pool).reserved.current, 3 * PAGE, "a hole is there");
	must(gpumem_free(right, NULL));
	fill(x, PAGE - 64 * KIB, 0x36);
	fill(last, PAGE, 0x37);
	refused(x, 4 * PAGE + 1, "up to the last block and beyond");
	is_uint(stats_of(pool).reserved.current, 3 * PAGE,
		"no page is taken for that");
	is_uint(resized(x, 3 * PAGE + 64 * KIB), 3 * PAGE + 64 * KIB,
		"over free memory, a hole and free memory");
	holds(x, PAGE - 64 * KIB, 0x36, "across");
	is_uint(resized(x, 4 * PAGE), 4 * PAGE, "and the rest");
	fill(x, 4 * PAGE, 0x38);
	holds(last, PAGE, 0x37, "the block behind");
	refused(x, 4 * PAGE + 1, "with a block behind it");
	stop("across");
}

/* Pages that are free elsewhere are moved there, as for any growth. */
static void by_moving(void)
{
	void *elsewhere, *between;
	char *x;

	start();
	elsewhere = new_block(pool, 40 * PAGE, NULL);
	between = new_block(pool, PAGE, NULL);
	x = new_block(pool, PAGE, NULL);
	must(gpumem_free(elsewhere, NULL));
	must(gpumem_pool_set_limit(pool, stats_of(pool).reserved.current));
	if (!vm) {
		refused(x, 2 * PAGE, "a segment of its own");
		stop("segments");
		return;
	}
	/* It lies in this thread's cache, as the last huge one does. */
	must(gpumem_pool_trim(pool, 42 * PAGE, NULL));
	is_uint(resized(x, 20 * PAGE), 20 * PAGE, "grown at the limit");
	is_uint(stats_of(pool).moved_bytes, 19 * PAGE, "by pages that moved");
	is_uint(stats_of(pool).reserved.current, 42 * PAGE, "no more reserved");
	refused(x, 42 * PAGE, "more than the limit");
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "sound");
	must(gpumem_free(between, NULL));
	stop("moved");
}

/* Nothing beyond the soft limit, which is for allocations that nothing else
 * helps. */
static void soft_limit(void)
{
	char *x;

	start();
	x = new_block(pool, PAGE, NULL);
	must(gpumem_pool_set_soft_limit(pool, 2 * PAGE));
	is_status(gpumem_resize(x, 2 * PAGE, NULL, NULL),
		  vm ? GPUMEM_OK : GPUMEM_BUSY, "up to the soft limit");
	refused(x, 3 * PAGE, "beyond the soft limit");
	stop("soft limit");
}

static void pinned(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	void *ptr;

	config.kind = GPUMEM_KIND_PINNED;
	must(gpumem_pool_create(device, &config, &pool));
	ptr = new_block(pool, MIB, NULL);
	memset(ptr, 0x39, MIB);
	is_uint(resized(ptr, PAGE), PAGE, "in a segment of pinned memory");
	is_uint(((unsigned char *)ptr)[MIB - 1], 0x39, "the content is kept");
	refused(ptr, PAGE + 1, "at the end of its segment");
	is_uint(resized(ptr, 1000), 16 * KIB + 256, "and smaller");
	stop("pinned");
}

int main(void)
{
	open_device(60);
	vm = has_vm();
	small_slots();
	large_ends();
	into_hole();
	across();
	by_moving();
	soft_limit();
	pinned();
	must(gpumem_device_close(device));
	return done_testing();
}
