/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The counters of a pool: hits, misses, retries, failures, trims, bytes moved,
 * and the calls of the driver by slot, against what the device says of itself;
 * and structs of callers that are older or newer than the library.
 */
#include "fixture.h"
#include <stdatomic.h>
#include <stddef.h>

static bool vm;

static void hits_and_misses(void)
{
	gpumem_pool *pool = new_pool(8 * MIB);
	struct gpumem_stats s = stats_of(pool);

	is_uint(s.hits + s.misses, 0, "a fresh pool counts nothing");
	must(gpumem_free(new_block(pool, 1000, NULL), NULL));
	s = stats_of(pool);
	is_uint(s.misses, 1, "the first block calls the driver");
	is_uint(s.hits, 0, "and is no hit");
	for (int i = 0; i < 10; i++)
		must(gpumem_free(new_block(pool, 900, NULL), NULL));
	must(gpumem_free(new_block(pool, MIB, NULL), NULL));
	must(gpumem_free(new_block(pool, MIB, NULL), NULL));
	s = stats_of(pool);
	is_uint(s.hits, 12, "what is there already is a hit, small or large");
	is_uint(s.misses, 1, "and no miss");
	must(gpumem_pool_destroy(pool, 0));
}

static void retries_and_failures(void)
{
	gpumem_pool *pool = new_pool(8 * MIB);
	struct gpumem_stats s;
	void *ptr = NULL, *kept[3];
	uint64_t misses;

	for (int i = 0; i < 3; i++)
		kept[i] = new_block(pool, 2 * MIB, NULL);
	s = stats_of(pool);
	is_uint(s.hits + s.misses, 3, "hits + misses: the allocations");
	is_uint(s.retries + s.ooms, 0, "none was tried again");
	misses = s.misses;
	is_status(gpumem_alloc(pool, 5 * MIB, NULL, &ptr), GPUMEM_LIMIT,
		  "too much");
	s = stats_of(pool);
	is_uint(s.hits, 3 - misses, "a failure is no hit");
	is_uint(s.misses, misses, "and no miss");
	is_uint(s.retries, 0, "where live blocks are in the way none is tried");
	is_uint(s.ooms, 1, "but failed");
	is_status(gpumem_alloc(pool, SIZE_MAX, NULL, &ptr), GPUMEM_NO_MEMORY,
		  "far too much");
	is_uint(stats_of(pool).ooms, 2, "failed for memory too");
	must(gpumem_alloc(pool, 0, NULL, &ptr));
	is_uint(stats_of(pool).hits + stats_of(pool).misses, 3,
		"no bytes are no allocation");
	for (int i = 0; i < 3; i++)
		must(gpumem_free(kept[i], NULL));
	must(gpumem_pool_reset_stats(pool, 0));
	is_uint(stats_of(pool).hits + stats_of(pool).misses, 3,
		"a reset of the peaks leaves counters");
	must(gpumem_pool_reset_stats(pool, GPUMEM_RESET_TOTALS));
	s = stats_of(pool);
	is_uint(s.hits + s.misses + s.retries + s.ooms + s.trims, 0,
		"one of the totals does not");
	must(gpumem_free(new_block(pool, 1000, NULL), NULL));
	is_uint(stats_of(pool).hits + stats_of(pool).misses, 1,
		"and counting goes on");
	must(gpumem_pool_destroy(pool, 0));
}

static void wait_open(void *open)
{
	while (!atomic_load((atomic_bool *)open))
		usleep(1000);
}

/* What a busy stream has is not live, so a trim may help; it does not. */
static void retry_of_busy(void)
{
	gpumem_stream stream = new_stream();
	gpumem_pool *pool;
	atomic_bool open = false;
	void *ptr;

	must(gpumem_option_set("wait", "off"));
	pool = new_pool(8 * MIB);
	must(gpumem_option_set("wait", NULL));
	ptr = new_block(pool, 4 * MIB, stream);
	must(gpumem_host_launch(0, stream, wait_open, &open));
	must(gpumem_free(ptr, stream));
	is_status(gpumem_alloc(pool, 6 * MIB, NULL, &ptr), GPUMEM_LIMIT,
		  "a stream is at work on what there is");
	is_uint(stats_of(pool).retries, 1, "it was tried again");
	is_uint(stats_of(pool).ooms, 1, "and failed");
	atomic_store(&open, true);
	must(gpumem_stream_sync(device, stream));
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, stream));
}

/* Whether a pool only grows is asked of what was freed since the last one. */
static void trims_begin_anew(void)
{
	gpumem_pool *pool;
	void *first, *block;
	uint64_t before;

	if (!vm)
		return;
	pool = new_pool(0);
	first = new_block(pool, 2048 * MIB, NULL);
	must(gpumem_free(new_block(pool, 128 * MIB, NULL), NULL));
	must(gpumem_pool_trim(pool, 0, NULL));
	before = stats_of(pool).reserved.current;
	block = new_block(pool, 2 * MIB, NULL);
	is_uint(stats_of(pool).reserved.current - before, 16 * MIB,
		"what was freed before a trim does not count");
	must(gpumem_free(block, NULL));
	must(gpumem_free(first, NULL));
	must(gpumem_pool_destroy(pool, 0));
}

static void trims(void)
{
	gpumem_pool *pool = new_pool(0);
	uint64_t released = 1;

	for (int i = 0; i < 5; i++)
		must(gpumem_pool_trim(pool, UINT64_MAX, &released));
	is_uint(released, 0, "an empty pool releases nothing");
	is_uint(stats_of(pool).trims, 5, "five trims");
	must(gpumem_free(new_block(pool, 3 * MIB, NULL), NULL));
	is_uint(trim_all(pool, NULL, 0), 0, "a trim gives all back");
	is_uint(stats_of(pool).trims, 9, "each is counted");
	must(gpumem_pool_destroy(pool, 0));
}

/* Works the pool hard enough that every slot is called. */
static void work(gpumem_pool *pool, gpumem_stream stream)
{
	void *ptr[40];

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < 40; i++)
			ptr[i] = new_block(pool, i * 100 * KIB + 1,
					   i % 2 ? stream : NULL);
		for (size_t i = 0; i < 40; i++)
			must(gpumem_free(ptr[i], i % 3 ? stream : NULL));
		must(gpumem_pool_trim(pool, 0, NULL));
		must(gpumem_stream_sync(device, stream));
		must(gpumem_stream_sync(device, NULL));
		must(gpumem_pool_trim(pool, 0, NULL));
	}
}

static void driver_calls(void)
{
	gpumem_stream stream = new_stream();
	gpumem_pool *pool;
	struct gpumem_stats s;
	uint64_t syncs = 6, counted;

	must(gpumem_host_faults(""));
	pool = new_pool(0);
	work(pool, stream);
	s = stats_of(pool);
	counted = gpumem_host_calls();
	is_uint(s.driver_calls + syncs, counted,
		"the device counted as many calls as the pool");
	ok(s.driver_ns > 0, "they took time");
	is_uint(calls_of(pool, GPUMEM_CALL_VA_RESERVE).count > 0, vm,
		"va_reserve");
	is_uint(calls_of(pool, GPUMEM_CALL_ALLOC).count > 0, !vm, "alloc");
	is_uint(calls_of(pool, GPUMEM_CALL_PAGE_CREATE).count > 0, vm,
		"page_create");
	is_uint(calls_of(pool, GPUMEM_CALL_MAP).count > 0, vm, "map");
	is_uint(calls_of(pool, GPUMEM_CALL_UNMAP).count > 0, vm, "unmap");
	ok(calls_of(pool, GPUMEM_CALL_EVENT_RECORD).count > 0, "event_record");
	ok(calls_of(pool, GPUMEM_CALL_EVENT_QUERY).count > 0, "event_query");
	ok(calls_of(pool, GPUMEM_CALL_CAPTURE_ID).count > 0, "capture_id");
	must(gpumem_pool_reset_stats(pool, GPUMEM_RESET_TOTALS));
	is_uint(stats_of(pool).driver_calls, 0, "a reset forgets them");
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, stream));
}

static void failed_calls(void)
{
	gpumem_pool *pool = new_pool(0);
	unsigned call = vm ? GPUMEM_CALL_PAGE_CREATE : GPUMEM_CALL_ALLOC;
	char fault[64];
	struct gpumem_stats s;
	void *ptr;

	snprintf(fault, sizeof(fault), "%s@1+:no_memory",
		 gpumem_call_name(call));
	must(gpumem_host_faults(fault));
	is_status(gpumem_alloc(pool, MIB, NULL, &ptr), GPUMEM_NO_MEMORY,
		  "the driver has none");
	s = stats_of(pool);
	ok(calls_of(pool, call).failed >= 1, "the failure is counted");
	is_uint(calls_of(pool, call).failed, calls_of(pool, call).count,
		"each one");
	is_uint(calls_of(pool, GPUMEM_CALL_MEMORY_INFO).count, 1,
		"the report asked for the free memory");
	is_uint(s.ooms, 1, "one allocation failed");
	must(gpumem_host_faults(""));
	must(gpumem_free(new_block(pool, MIB, NULL), NULL));
	must(gpumem_pool_destroy(pool, 0));
}

/* With one block in two freed, a large one takes its pages out of the gaps. */
static void moved(void)
{
	gpumem_pool *pool = new_pool(0);
	struct gpumem_stats before, after;
	void *ptr[64];

	for (int i = 0; i < 64; i++)
		ptr[i] = new_block(pool, 2 * MIB, NULL);
	for (int i = 0; i < 64; i += 2)
		must(gpumem_free(ptr[i], NULL));
	must(gpumem_pool_trim(pool, UINT64_MAX, NULL));
	must(gpumem_stream_sync(device, NULL));
	before = stats_of(pool);
	(void)new_block(pool, 32 * 2 * MIB, NULL);
	after = stats_of(pool);
	if (vm) {
		is_uint(after.moved_bytes + after.reserved.current -
				before.reserved.current,
			32 * 2 * MIB, "pages are moved or new");
		is_uint(after.misses, before.misses + 1, "moving is no hit");
	} else {
		is_uint(after.moved_bytes, 0, "without pages none move");
		is_uint(after.misses, before.misses + 1, "a miss");
	}
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "the pool is sound");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

/* With one block in two freed while the stream is at work on it, a large one
 * gets the same pages at another address. */
static void stale(void)
{
	gpumem_stream stream = new_stream();
	gpumem_pool *pool = new_pool(32 * 2 * MIB);
	struct gate gate;
	void *ptr[32];

	for (int i = 0; i < 32; i++)
		ptr[i] = new_block(pool, 2 * MIB, stream);
	gate_launch(&gate, stream, NULL, 0);
	for (int i = 0; i < 32; i += 2)
		must(gpumem_free(ptr[i], stream));
	is_uint(stats_of(pool).stale_bytes, 0, "what is free is not stale");
	ptr[0] = NULL;
	if (vm) {
		ptr[0] = new_block(pool, 16 * 2 * MIB, stream);
		is_uint(stats_of(pool).stale_bytes, 16 * 2 * MIB,
			"what serves elsewhere is");
		must(gpumem_pool_trim(pool, 0, NULL));
		is_uint(stats_of(pool).stale_bytes, 16 * 2 * MIB,
			"as long as work may use it");
	}
	gate_open(&gate);
	must(gpumem_stream_sync(device, stream));
	must(gpumem_pool_trim(pool, 0, NULL));
	is_uint(stats_of(pool).stale_bytes, 0, "and no longer");
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "the pool is sound");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_stream_destroy(device, stream));
}

/* ---- every row of the list ---- */

/* Nothing sleeps without virtual memory. */
#define GAUGE_RESETS(name)                                                     \
	ok(before.name.total > 0 || (!vm && !strcmp(#name, "sleeping")),       \
	   #name " was counted");                                              \
	is_uint(after.name.peak, after.name.current, #name ".peak");           \
	is_uint(after.name.total, 0, #name ".total");
#define COUNTER_RESETS(name) is_uint(after.name, 0, #name);
#define VALUE_RESETS(name)
#define RATIO_RESETS(name)
#define RESETS(name, type, unit) type##_RESETS(name)

static void resets(void)
{
	gpumem_stream stream = new_stream();
	gpumem_pool *pool = new_pool(0);
	struct gpumem_stats before, after;
	void *ptr;

	work(pool, stream);
	ptr = new_block(pool, 5 * MIB, NULL);
	if (vm) {
		must(gpumem_pool_sleep(pool, NULL, NULL));
		is_uint(stats_of(pool).sleeping.current,
			stats_of(pool).allocated.current, "what lives sleeps");
		must(gpumem_pool_wake(pool, 0, NULL));
		is_uint(stats_of(pool).sleeping.current, 0, "and wakes");
	}
	must(gpumem_free(ptr, NULL));
	before = stats_of(pool);
	must(gpumem_pool_reset_stats(pool, GPUMEM_RESET_TOTALS));
	after = stats_of(pool);
	GPUMEM_STATS_LIST(RESETS)
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, stream));
}

/* ---- callers of other versions ---- */

/* Bytes of `memory` from `from` on that are not `value`. */
static size_t others(const unsigned char *memory, size_t from, size_t to,
		     unsigned char value)
{
	size_t count = 0;

	for (; from < to; from++)
		count += memory[from] != value;
	return count;
}

static void stats_of_size(gpumem_pool *pool, size_t size)
{
	union {
		struct gpumem_stats stats;
		unsigned char byte[sizeof(struct gpumem_stats) + 128];
	} box;
	const struct gpumem_stats now = stats_of(pool);
	size_t known = size < sizeof(now) ? size : sizeof(now);

	memset(&box, 0xaa, sizeof(box));
	box.stats.size = size;
	is_status(gpumem_pool_stats(pool, &box.stats), GPUMEM_OK,
		  "statistics of %zu bytes", size);
	is_uint(box.stats.size, size, "the size stays");
	is_uint(others(box.byte, known, size, 0), 0, "what is unknown is 0");
	is_uint(others(box.byte, size, sizeof(box), 0xaa), 0,
		"nothing beyond is touched");
	ok(!memcmp(box.byte + sizeof(size_t),
		   (const unsigned char *)&now + sizeof(size_t),
		   known - sizeof(size_t)),
	   "what both know is there");
}

static void versions(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *pool = NULL;

	config.limit_bytes = 64 * MIB;
	must(gpumem_pool_create(device, &config, &pool));
	(void)new_block(pool, 1000, NULL);
	stats_of_size(pool, sizeof(struct gpumem_stats));
	stats_of_size(pool, sizeof(struct gpumem_stats) + 100);
	must(gpumem_pool_set_soft_limit(pool, 5 * MIB));
	must(gpumem_pool_set_limit(pool, 7 * MIB));
	is_uint(stats_of(pool).soft_limit_bytes, 5 * MIB, "the soft limit");
	is_uint(stats_of(pool).limit_bytes, 7 * MIB, "the hard one");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

int main(void)
{
	open_device(120);
	vm = has_vm();
	hits_and_misses();
	retries_and_failures();
	retry_of_busy();
	trims();
	trims_begin_anew();
	driver_calls();
	failed_calls();
	moved();
	stale();
	resets();
	versions();
	must(gpumem_device_close(device));
	return done_testing();
}
