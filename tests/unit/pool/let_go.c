/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What other threads do with a pool while one of them grows it: its mutex is
 * free during the driver's calls. The driver of these tests lets another thread
 * run in the middle of such a call, to its end, and there the pool is looked
 * at, used, and changed; then the call succeeds or is refused. No clock, and no
 * chance.
 */
#include "loader/loader.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/option.h"
#include "device/loss.h"
#include "pool/pool.h"
#include "../../tap.h"
#include <gpumem/host.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define PAGE (2 * MIB)

static const char *last_text(void)
{
	static _Thread_local struct gpumem_error error;

	error.size = sizeof(error);
	gm_error_get(&error);
	return error.text;
}

#define must(call)                                                             \
	do {                                                                   \
		if (call)                                                      \
			bail("line %d: %s: %s", __LINE__, #call, last_text()); \
	} while (0)

static struct gpumem_device *device;
static struct gpumem_pool *pool;
static const struct gpumem_backend *honest;

/* ---- the driver ---- */

/* In the next call of the slot by this thread fn runs in another one, and then
 * the call is refused or not. */
static struct {
	const char *slot;
	unsigned skip; /* so many calls before */
	void (*fn)(void);
	gpumem_status refuse;
} next;

static _Thread_local bool is_main;
static _Atomic unsigned created; /* pages or segments, by other threads */

static void *run_fn(void *unused)
{
	void (*fn)(void) = next.fn;

	(void)unused;
	fn();
	gm_locals_end_call();
	return NULL;
}

static gpumem_status meanwhile(const char *slot)
{
	pthread_t thread;

	if (!is_main)
		atomic_fetch_add(&created, 1);
	if (!is_main || !next.slot || strcmp(next.slot, slot) != 0)
		return GPUMEM_OK;
	if (next.skip && next.skip--)
		return GPUMEM_OK;
	next.slot = NULL;
	if (next.fn && pthread_create(&thread, NULL, run_fn, NULL))
		bail("no thread");
	if (next.fn)
		pthread_join(thread, NULL);
	return next.refuse;
}

static gpumem_status my_create(void *handle, uint64_t bytes, gpumem_page *page)
{
	gpumem_status status = meanwhile("page_create");

	return status ? status : honest->page_create(handle, bytes, page);
}

static gpumem_status my_map(void *handle, uint64_t address,
			    const gpumem_page *pages, size_t count,
			    uint64_t page_bytes)
{
	gpumem_status status = meanwhile("map");

	return status ? status
		      : honest->map(handle, address, pages, count, page_bytes);
}

static gpumem_status my_alloc(void *handle, uint64_t bytes, uint64_t *address)
{
	gpumem_status status = meanwhile("alloc");

	return status ? status : honest->alloc(handle, bytes, address);
}

static void expect(const char *slot, void (*fn)(void), gpumem_status refuse)
{
	next.slot = slot;
	next.fn = fn;
	next.refuse = refuse;
	atomic_store(&created, 0);
}

static void is_over(const char *slot)
{
	ok(!next.slot, "%s: it happened", slot);
}

/* ---- the pool ---- */

static const char *slot; /* in which things happen */
static gpumem_stream stream;

static void pool_start(uint64_t limit_bytes)
{
	const struct gpumem_pool_config config = {.size = sizeof(config),
						  .limit_bytes = limit_bytes};

	must(gm_pool_create(device, &config, &pool));
}

static void pool_end(void)
{
	must(gm_pool_destroy(pool, false));
	is_uint(gpumem_host_used_bytes(0), 0, "%s: nothing is left", slot);
}

static gpumem_status allocate(size_t bytes, gpumem_stream on, void **ptr_out)
{
	const struct gm_request request = {
		.bytes = bytes, .alignment = 1, .stream = on};

	return gm_pool_alloc(pool, &request, ptr_out);
}

static void *block(size_t bytes)
{
	void *ptr;

	must(allocate(bytes, NULL, &ptr));
	return ptr;
}

static void give(void *ptr)
{
	must(gm_heap_free_own(ptr));
}

static void sound(const char *what)
{
	if (!is_status(gm_pool_check(pool), GPUMEM_OK, "%s: %s", slot, what))
		diag("%s", last_text());
}

static uint64_t reserved(void)
{
	struct gpumem_stats stats;

	gm_pool_stats(pool, &stats);
	return stats.reserved.current;
}

/* ---- looked at ---- */

static void look(void)
{
	struct gpumem_stats stats;

	ok(!pthread_mutex_trylock(&pool->heap.mutex), "%s: the mutex is free",
	   slot);
	pthread_mutex_unlock(&pool->heap.mutex);
	sound("all is in order");
	gm_pool_stats(pool, &stats);
	ok(stats.requested.current <= stats.allocated.current &&
		   stats.allocated.current <= stats.active.current &&
		   stats.active.current <= stats.reserved.current,
	   "%s: and adds up", slot);
	is_status(gm_pool_destroy(pool, false), GPUMEM_BUSY,
		  "%s: the pool cannot go", slot);
	is_status(gm_pool_destroy(pool, true), GPUMEM_BUSY, "%s: nor by force",
		  slot);
}

static void test_looked_at(void)
{
	void *ptr;

	pool_start(0);
	expect(slot, look, GPUMEM_OK);
	ptr = block(5 * PAGE);
	is_over(slot);
	sound("grown");
	give(ptr);
	pool_end();
}

/* Handles of two sizes: the larger ones are there already. */
static void test_sizes(gpumem_status refuse)
{
	void *base, *ptr;

	pool_start(0);
	base = block(256 * PAGE);
	expect(slot, look, refuse);
	next.skip = 1;
	is_status(allocate(17 * PAGE, NULL, &ptr), refuse, "%s: two sizes",
		  slot);
	is_over(slot);
	sound("grown by two sizes");
	if (refuse == GPUMEM_OK)
		give(ptr);
	give(base);
	pool_end();
}

/* ---- used ---- */

static void *taken[2];

/* What is free serves, from slabs, caches and free memory. */
static void use(void)
{
	for (int i = 0; i < 4; i++) {
		void *small = block(1000), *large = block(MIB);

		give(small);
		give(large);
	}
	is_uint(atomic_load(&created), 0, "%s: what is free serves", slot);
}

static void test_used(void)
{
	void *ptr, *small;

	pool_start(0);
	small = block(1000);
	give(block(2 * PAGE));
	expect(slot, use, GPUMEM_OK);
	ptr = block(8 * PAGE);
	is_over(slot);
	sound("used");
	give(ptr);
	give(small);
	pool_end();
}

/* The free memory beside the new one goes to somebody else. */
static void take_neighbour(void)
{
	taken[0] = block(2 * PAGE - 4 * MIB / 1024);
	sound("the neighbour is taken");
}

static void trim(void)
{
	uint64_t released;

	must(gm_heap_trim(&pool->heap, 0, &released));
}

/* A trim takes the neighbour away; it then gives way to the growth. */
static pthread_t trimmer;
static bool trims;

static void *trim_thread(void *unused)
{
	(void)unused;
	trim();
	return NULL;
}

static void start_trim(void)
{
	if (pthread_create(&trimmer, NULL, trim_thread, NULL))
		bail("no thread");
	trims = true;
	while (!atomic_load(&device->gate->paused))
		sched_yield();
	sound("a trim has begun");
}

static void end_trim(void)
{
	if (trims)
		pthread_join(trimmer, NULL);
	trims = false;
}

static void test_neighbour(void (*fn)(void))
{
	void *first, *ptr;

	pool_start(0);
	taken[0] = NULL;
	first = block(PAGE);
	give(block(2 * PAGE));
	ptr = block(2 * PAGE);
	give(ptr);
	expect(slot, fn, GPUMEM_OK);
	ptr = block(6 * PAGE);
	end_trim();
	is_over(slot);
	memset(ptr, 1, 6 * PAGE);
	sound("grown all the same");
	give(ptr);
	if (taken[0])
		give(taken[0]);
	give(first);
	pool_end();
}

/* ---- the stream goes ---- */

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
	expect(slot, drop, GPUMEM_OK);
	must(allocate(bytes, stream, &ptr));
	is_over(slot);
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
	expect(slot, begin_graph, GPUMEM_OK);
	must(allocate(bytes, stream, &ptr));
	is_over(slot);
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

/* ---- two grow ---- */

static pthread_t second;
static gpumem_status second_status;

static void *grow_too(void *unused)
{
	(void)unused;
	second_status = allocate(6 * PAGE, NULL, &taken[1]);
	gm_locals_end_call();
	return NULL;
}

static void start_second(void)
{
	unsigned waiting = 0;

	if (pthread_create(&second, NULL, grow_too, NULL))
		bail("no thread");
	while (!waiting) {
		sched_yield();
		pthread_mutex_lock(&pool->heap.mutex);
		waiting = pool->heap.space->growth.waiting;
		pthread_mutex_unlock(&pool->heap.mutex);
	}
	is_uint(atomic_load(&created), 0, "%s: the second waits", slot);
	sound("two grow");
}

static void test_two(uint64_t limit_bytes, gpumem_status expected)
{
	struct gpumem_stats stats;
	void *ptr;

	pool_start(limit_bytes);
	expect(slot, start_second, GPUMEM_OK);
	ptr = block(6 * PAGE);
	is_over(slot);
	pthread_join(second, NULL);
	is_status(second_status, expected, "%s: the second", slot);
	gm_pool_stats(pool, &stats);
	ok(!limit_bytes || stats.reserved.peak <= limit_bytes,
	   "%s: within the limit", slot);
	is_uint(stats.misses, 1u + (expected == GPUMEM_OK), "%s: misses", slot);
	sound("both are over");
	give(ptr);
	if (expected == GPUMEM_OK)
		give(taken[1]);
	pool_end();
}

/* What is being created is not reserved yet, and counts. */
static void near_limit(void)
{
	uint64_t holds;

	is_status(gm_pool_set_limit(pool, 0, 6 * PAGE), GPUMEM_BUSY,
		  "%s: a limit below what is on its way", slot);
	ok(gm_heap_resize(taken[0], 4 * PAGE, NULL, &holds) != GPUMEM_OK,
	   "%s: a block does not grow beyond it", slot);
	is_uint(reserved(), 2 * PAGE, "%s: nothing was taken for it", slot);
	sound("near the limit");
}

static void test_limit(void)
{
	void *ptr, *hole, *behind;

	pool_start(8 * PAGE);
	taken[0] = block(PAGE);
	hole = block(4 * PAGE);
	behind = block(PAGE);
	give(hole);
	trim();
	expect(slot, near_limit, GPUMEM_OK);
	ptr = block(6 * PAGE);
	is_over(slot);
	ok(reserved() <= 8 * PAGE, "%s: the limit holds", slot);
	sound("at the limit");
	give(ptr);
	give(behind);
	give(taken[0]);
	pool_end();
}

/* An attempt beyond the soft limit stays one, and others are none: more handles
 * than are created at a time. */
static void near_soft_limit(void)
{
	is_uint(gm_limit_room(&pool->heap), 0,
		"%s: the soft limit is that of others", slot);
	give(block(1000));
}

static void test_soft_limit(void)
{
	void *ptr, *small;

	pool_start(0);
	small = block(1000);
	must(gm_pool_set_limit(pool, PAGE, 0));
	expect(slot, near_soft_limit, GPUMEM_OK);
	is_status(allocate(70 * PAGE, NULL, &ptr), GPUMEM_OK,
		  "%s: beyond the soft limit", slot);
	is_over(slot);
	sound("beyond it");
	give(ptr);
	give(small);
	pool_end();
}

/* ---- it fails ---- */

static void test_refused(void (*fn)(void), gpumem_status status)
{
	void *first, *ptr = NULL;

	pool_start(0);
	first = block(MIB);
	expect(slot, fn, status);
	is_status(allocate(6 * PAGE, NULL, &ptr), status, "%s: refused", slot);
	is_over(slot);
	sound("it failed");
	give(block(6 * PAGE));
	give(first);
	sound("and then it grows");
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
	expect(slot, begin_capture, GPUMEM_DRIVER);
	is_status(allocate(6 * PAGE, NULL, &ptr), GPUMEM_DRIVER,
		  "%s: refused, and a capture has begun", slot);
	is_over(slot);
	sound("captured");
	is_uint(gpumem_host_capture_violations(), 0, "%s: it is not disturbed",
		slot);
	must(gpumem_host_capture(0, stream, false));
	give(own);
	pool_end();
}

/* ---- a child ---- */

static void fork_child(void)
{
	pid_t child = fork();
	int result = -1;
	void *ptr;

	if (child < 0)
		bail("no child");
	if (child == 0)
		_exit(allocate(MIB, NULL, &ptr) == GPUMEM_FORKED ? 0 : 1);
	waitpid(child, &result, 0);
	is_int(result, 0, "%s: a child is told what it is", slot);
}

static void test_fork(void)
{
	void *ptr;

	pool_start(0);
	expect(slot, fork_child, GPUMEM_OK);
	ptr = block(3 * PAGE);
	is_over(slot);
	give(ptr);
	pool_end();
}

static void test_slot(const char *name, bool pool_has_pages)
{
	slot = name;
	test_looked_at();
	test_used();
	if (pool_has_pages) {
		test_neighbour(take_neighbour);
		test_neighbour(start_trim);
	}
	test_dropped(6 * PAGE);
	test_dropped(1000);
	test_graph(6 * PAGE);
	test_graph(1000);
	test_two(0, GPUMEM_OK);
	test_two(8 * PAGE, GPUMEM_LIMIT);
	test_refused(NULL, GPUMEM_DRIVER);
	test_capture();
	test_fork();
}

/* Ends the device: last. Other threads hear of it too. */
static void lose(void)
{
	void *ptr;

	(void)gm_device_lose(device);
	is_status(allocate(1000, NULL, &ptr), GPUMEM_LOST,
		  "%s: the device is lost", slot);
}

static void test_lost(void)
{
	void *ptr;

	slot = "page_create";
	pool_start(0);
	(void)block(1000);
	expect(slot, lose, GPUMEM_LOST);
	is_status(allocate(6 * PAGE, NULL, &ptr), GPUMEM_LOST,
		  "%s: so is the growth", slot);
	is_over(slot);
	must(gm_pool_destroy(pool, true));
}

static void take_over_driver(void)
{
	static struct gpumem_backend ops;

	honest = device->ops;
	ops = *honest;
	ops.page_create = my_create;
	ops.map = my_map;
	ops.alloc = my_alloc;
	device->ops = &ops;
}

int main(void)
{
	const struct gm_backend *host;

	alarm(60);
	is_main = true;
	gm_fork_init();
	must(gm_backend_find("host", &host));
	must(gm_option_set("host.capacity", "1GiB"));
	must(gm_device_open("host:0", &device));
	must(gm_stream_create(device, &stream));
	take_over_driver();
	test_slot("page_create", true);
	test_limit();
	test_soft_limit();
	test_slot("map", true);
	test_sizes(GPUMEM_OK);
	test_sizes(GPUMEM_DRIVER);
	must(gm_option_set("vm", "off"));
	test_slot("alloc", false);
	must(gm_option_set("vm", NULL));
	test_lost();
	device->ops = honest;
	return done_testing();
}
