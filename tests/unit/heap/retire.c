/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Stale places that have completed are unmapped a few at a time: how many while
 * the mutex is kept, and what others meet while it is not. The driver of these
 * tests looks at the mutex in each call.
 */
#include "fixture.h"
#include "../device/hooked.h"
#include <sched.h>

#define PAGE (2 * MIB)
#define FAR (256 * MIB)

static gpumem_stream stream;
static struct gm_arena *arena;
static struct hold hold;

/* What the driver unmapped for this thread, in handles. */
static _Thread_local struct {
	size_t kept; /* since it last met the mutex free */
	size_t most; /* of these */
	size_t all;
	unsigned free; /* calls that met it so */
	bool checks;   /* where the mutex is free the heap must be sound */
	bool unsound;
	void (*once)(void); /* called in the next call */
} seen;

static gpumem_status watch_unmap(const char *slot, size_t count)
{
	void (*once)(void) = seen.once;
	bool locked;

	if (strcmp(slot, "unmap"))
		return GPUMEM_OK;
	locked = pthread_mutex_trylock(&heap.mutex) != 0;
	seen.once = NULL;
	if (!locked) {
		pthread_mutex_unlock(&heap.mutex);
		seen.kept = 0;
		seen.free++;
		seen.unsound |= seen.checks && heap_check() != GPUMEM_OK;
	}
	seen.all += count;
	seen.kept += count;
	if (seen.kept > seen.most)
		seen.most = seen.kept;
	if (once)
		once();
	return GPUMEM_OK;
}

static void forget(void)
{
	seen.kept = seen.most = seen.all = seen.free = 0;
}

/* Eight pages; four are freed, and the stream is at work on them. */
static void begin(void)
{
	struct gm_extent *freed;

	heap_start();
	stream = stream_new();
	arena = arena_of(stream);
	touch(block(arena, PAGE));
	freed = block(arena, 4 * PAGE);
	touch(block(arena, 3 * PAGE));
	hold_begin(&hold, stream);
	block_give(arena, freed);
	no_waste();
	forget();
}

static void end(bool busy)
{
	if (busy)
		hold_end(&hold, stream);
	must(heap_trim(0));
	is_uint(heap.space->stale.handles, 0, "a trim leaves nothing stale");
	must(gm_stream_destroy(device, stream));
	heap_end();
}

/* One to four of the pages are lent, and the block is freed at once. */
static void lend(unsigned i)
{
	block_give(arena,
		   block_take_aligned(arena, (1 + i % 4) * PAGE, FAR >> i % 4));
}

static void make_stale(size_t handles)
{
	for (unsigned i = 0; heap.space->stale.handles < handles; i++)
		lend(i);
}

static void test_trim(void)
{
	begin();
	block_give(arena, block(arena, 12 * PAGE));
	touch(block_take_aligned(arena, 12 * PAGE, 2 * FAR));
	make_stale(200);
	is_uint(seen.all, 0, "what is at work stays mapped");
	hold_end(&hold, stream);
	seen.checks = true;
	must(heap_trim(0));
	seen.checks = false;
	ok(seen.all >= 200, "a trim unmaps all");
	is_uint(seen.most, GM_STEP_HANDLES,
		"a few in each call, and the mutex is free");
	ok(!seen.unsound, "whoever looks meanwhile finds the heap sound");
	sound("trimmed");
	end(false);
}

/* With much that is stale each lending unmaps twice as much as it lends. */
static void test_amortised(void)
{
	struct gm_extent *again;
	size_t free_pages;

	begin();
	make_stale(40);
	heap.space->stale.places = 10;
	lend(3);
	is_uint(seen.all, 0, "what is at work stays mapped, however much");
	hold_end(&hold, stream);
	gm_arena_poll(arena, NULL, true);
	free_pages = arena->index.whole_pages;
	again = block_fit(arena, free_pages * PAGE, PAGE);
	ok(again && free_pages >= 3, "%zu pages lie together", free_pages);
	hold_begin(&hold, stream);
	block_give(arena, again);
	forget();
	touch(block_take_aligned(arena, free_pages * PAGE,
				 2 * (again->address & -again->address)));
	is_uint(seen.all, 2 * free_pages, "twice as many are unmapped");
	is_uint(seen.most, seen.all, "in one go");
	sound("amortised");
	end(true);
}

/* A handle that goes back alone while the mutex is kept. */
static void test_leave(void)
{
	gpumem_page page = 0;
	size_t places;

	begin();
	make_stale(100);
	page = gm_page_at(&heap.spans,
			  gm_node(&heap.nodes, heap.space->stale.ring)->address)
		       ->handle;
	hold_end(&hold, stream);
	places = heap.space->stale.handles;
	pthread_mutex_lock(&heap.mutex);
	forget();
	ok(!gm_stale_clear_now(&heap, page), "it has more places than that");
	is_uint(seen.most, GM_STALE_HOLD, "so many are unmapped in one go");
	is_uint(heap.space->stale.handles, places - GM_STALE_HOLD,
		"and no other handle's");
	do
		forget();
	while (!gm_stale_clear_now(&heap, page));
	pthread_mutex_unlock(&heap.mutex);
	ok(seen.most <= GM_STALE_HOLD, "the rest in the end");
	ok(heap.space->stale.handles > 0, "others have theirs");
	sound("left");
	end(false);
}

/* ---- beside another thread ---- */

static struct {
	_Atomic bool began;
	gpumem_status status;
	uint64_t bytes;
	pthread_t thread;
} other;

static void *release(void *arg)
{
	const struct gm_release leave = {.bytes = PAGE, .newest = UINT64_MAX};

	(void)arg;
	pthread_mutex_lock(&heap.mutex);
	atomic_store(&other.began, true);
	other.status = gm_space_release(&heap, &leave, &other.bytes);
	pthread_mutex_unlock(&heap.mutex);
	return NULL;
}

/* Until it is in the driver, or waits. */
static void start_release(void)
{
	if (pthread_create(&other.thread, NULL, release, NULL))
		bail("no thread");
	while (!atomic_load(&other.began))
		sched_yield();
	pthread_mutex_lock(&heap.mutex);
	is_uint(heap.space->stale.retiring != 0, 1, "a place is in the driver");
	ok(!gm_stale_clear_now(
		   &heap,
		   gm_page_at(&heap.spans,
			      gm_node(&heap.nodes, heap.space->stale.retiring)
				      ->address)
			   ->handle),
	   "and its handle does not go back meanwhile");
	pthread_mutex_unlock(&heap.mutex);
}

/* A handle goes back only when no other thread is unmapping it. */
static void test_threads(void)
{
	begin();
	make_stale(40);
	hold_end(&hold, stream);
	pthread_mutex_lock(&heap.mutex);
	gm_arena_poll(arena, NULL, true);
	seen.once = start_release;
	must(gm_stale_retire_all(&heap));
	pthread_mutex_unlock(&heap.mutex);
	pthread_join(other.thread, NULL);
	is_int(other.status, GPUMEM_OK, "the other one waits for it");
	is_uint(other.bytes, PAGE, "and gives its handle back");
	is_uint(heap_reserved(), 7 * PAGE, "the driver has it");
	sound("beside each other");
	end(false);
}

/* No addresses are left but stale ones, which a growth unmaps by and by. */
static void test_addresses(void)
{
	struct gm_extent *freed;

	option("space", "64MiB");
	begin();
	for (size_t pages = 5; pages <= 7; pages++) {
		freed = block(arena, pages * PAGE);
		touch(block(arena, PAGE));
		block_give(arena, freed);
	}
	is_uint(heap.space->stale.bytes, (4 + 5 + 6) * PAGE, "all was lent");
	touch(block(arena, 7 * PAGE));
	is_ptr(block_take(arena, 6 * PAGE), NULL, "no addresses are left");
	hold_end(&hold, stream);
	forget();
	seen.checks = true;
	touch(block(arena, 6 * PAGE));
	seen.checks = false;
	ok(!seen.unsound && seen.all > 0, "sound meanwhile");
	ok(seen.free > 0, "the mutex was free");
	sound("addresses");
	end(false);
	option("space", NULL);
}

/* What does not unmap stays stale, and all memory is still there. */
static void test_failed(void)
{
	begin();
	make_stale(50);
	hold_end(&hold, stream);
	must(gpumem_host_faults("unmap@3+"));
	ok(heap_trim(0) != GPUMEM_OK, "the driver refuses");
	must(gpumem_host_faults(""));
	sound("refused");
	end(false);
}

int main(void)
{
	alarm(120);
	device_start();
	hook_driver(device, (struct hooks){watch_unmap, NULL});
	test_trim();
	test_amortised();
	test_leave();
	test_threads();
	test_addresses();
	test_failed();
	unhook_driver(device);
	device_end();
	return done_testing();
}
