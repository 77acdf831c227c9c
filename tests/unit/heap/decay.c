/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Decay in invented time: what was not used for a period goes, and within a
 * ninth of it more; what was used stays. However time passes, and as exactly
 * with segments as with pages. What the driver says: decay_driver.c.
 */
#include "decay.h"

/* Blocks that are pages, or segments: between live ones. */
static void test_exact(const char *vm)
{
	struct gm_extent *extent[6];
	uint64_t start, fell;

	restart(vm);
	for (int i = 0; i < 6; i++)
		extent[i] = block(arena, PAGE);
	start = now_ms;
	pass(start + 10);
	block_give(arena, extent[0]);
	block_give(arena, extent[2]);
	pass(start + 510);
	block_give(arena, extent[4]);
	fell = pass(start + 10 + PERIOD_MS + TICK_MS + 5);
	ok(fell >= start + 10 + PERIOD_MS, "nothing goes before its period");
	is_uint(heap_reserved(), 4 * PAGE, "what was not used for one is gone");
	fell = pass(start + 510 + PERIOD_MS + TICK_MS + 5);
	ok(fell >= start + 510 + PERIOD_MS, "what was used later goes later");
	is_uint(heap_reserved(), 3 * PAGE, "what is in use stays");
	is_uint(heap.counters.decayed_bytes, 3 * PAGE, "what went is counted");
	pass(now_ms + 3 * PERIOD_MS);
	is_uint(heap_reserved(), 3 * PAGE, "for ever");
	is_uint(unsound, 0, "all in order after each step");
}

/* Used again and again: it stays; then it goes. */
static void test_used(const char *vm)
{
	uint64_t last, fell = 0;

	restart(vm);
	for (int i = 0; i < 4; i++) {
		block_give(arena, block(arena, 3 * PAGE));
		last = now_ms;
		fell = pass(now_ms + PERIOD_MS - 1);
	}
	is_uint(heap_reserved(), 3 * PAGE, "what is used stays");
	fell = pass(now_ms + TICK_MS + 10);
	ok(fell >= last + PERIOD_MS && !heap_reserved(), "until it is not");
	is_uint(unsound, 0, "all in order after each step");
}

/* Passed on to another stream, which has no use for it: it is as young as it
 * was. */
static void test_passed_on(const char *vm)
{
	gpumem_stream stream = stream_new();
	struct gm_arena *receiver;
	uint64_t freed, fell;

	restart(vm);
	receiver = arena_of(stream);
	pass(now_ms + 2 * PERIOD_MS);
	block_give(arena, block(arena, PAGE));
	freed = now_ms;
	pass(now_ms + 5);
	must(gm_stream_sync(device, NULL));
	gm_heap_transfer(receiver, NULL, true);
	is_uint(receiver->index.bytes, PAGE, "another stream has it");
	fell = pass(freed + PERIOD_MS + TICK_MS + 5);
	ok(fell >= freed + PERIOD_MS, "it is not older for that");
	is_uint(heap_reserved(), 0, "and goes in time");
	is_uint(unsound, 0, "all in order after each step");
	must(gm_stream_destroy(device, stream));
}

/* Pauses, and a clock that stands still. */
static void test_time(const char *vm)
{
	uint64_t freed, fell;

	restart(vm);
	pass(now_ms + PERIOD_MS);
	block_give(arena, block(arena, 2 * PAGE));
	for (int i = 0; i < 2000; i++)
		step();
	is_uint(heap_reserved(), 2 * PAGE, "no time, no decay");
	now_ms += 3600 * 1000;
	block_give(arena, block(arena, 2 * PAGE));
	freed = now_ms;
	fell = pass(freed + PERIOD_MS + TICK_MS + 5);
	ok(fell >= freed + PERIOD_MS, "a pause makes nothing old that is used");
	is_uint(heap_reserved(), 0, "and keeps nothing young");
	is_uint(unsound, 0, "all in order after each step");
}

/* Somebody comes less than once in a tick, or in a period. */
static void test_seldom(const char *vm, uint64_t pause_ms)
{
	unsigned visits = 0;

	restart(vm);
	block_give(arena, block(arena, 3 * PAGE));
	for (; heap.counters.reserved.current && visits < 100; visits++) {
		step();
		now_ms += pause_ms;
	}
	ok(visits >= PERIOD_MS / pause_ms && visits <= 20,
	   "who comes each %" PRIu64 " ms helps, too: %u times", pause_ms,
	   visits);
}

/* ---- caches ---- */

/* A slot goes round in this thread's cache. */
static void use_cache(struct gm_local *local)
{
	struct gm_bin *bin = &local->bin[0];
	struct gm_slot slot = bin->slot[bin->count - 1];

	gm_local_use(local);
	(void)gm_local_pop(local, &heap.classes.of[0], 0, 100, 0);
	gm_local_push(local, 0, heap.classes.of[0].bytes, &slot, 100);
}

static struct gm_local *fill_cache(struct gm_arena *from)
{
	struct gm_local *local;

	must(gm_local_of(&heap, from, &local));
	slab_new(from, 0);
	if (!gm_local_refill(local, 0))
		bail("no slots");
	return local;
}

static void test_caches(const char *vm)
{
	struct gm_local *local;
	uint64_t until, used = 0, fell;

	restart(vm);
	local = fill_cache(arena);
	for (until = now_ms + 3 * PERIOD_MS; now_ms < until;) {
		use_cache(local);
		used = now_ms;
		pass(now_ms + TICK_MS / 2);
	}
	ok(gm_local_holds(local), "a cache that is used is left alone");
	is_uint(heap_reserved(), PAGE, "with its memory");
	pass(used + TICK_MS - 1);
	ok(gm_local_holds(local), "for a tick");
	pass(used + 2 * TICK_MS + 5);
	ok(!gm_local_holds(local), "then it is emptied");
	fell = pass(used + PERIOD_MS + 3 * TICK_MS + 5);
	ok(fell >= used + PERIOD_MS,
	   "its memory does not go before its period");
	is_uint(heap_reserved(), 0, "and goes a period after that");
	is_uint(unsound, 0, "all in order after each step");
}

/* Idle for long, then used just before the purge step that would empty it. */
static void test_woken(void)
{
	gpumem_stream stream = stream_new();
	struct gm_local *local, *first;

	restart("on");
	local = fill_cache(arena);
	gm_local_spill(local, 0);
	first = fill_cache(arena_of(stream));
	while (gm_local_holds(first))
		pass_unseen(now_ms + 1);
	use_cache(local);
	pass_unseen(now_ms + TICK_MS / 2);
	ok(gm_local_holds(local), "a cache that woke up is left alone");
	ok(gm_depot_count(&arena->slabs->depot, 0) > 0, "and so is its depot");
	use_cache(local);
	pass(now_ms + TICK_MS - 1);
	ok(gm_local_holds(local), "for a tick");
	pass(now_ms + TICK_MS + 5);
	ok(!gm_local_holds(local), "and emptied then");
	must(gm_stream_destroy(device, stream));
}

/* Depots go when all caches are idle. */
static void test_depots(void)
{
	struct gm_local *local;

	restart("on");
	local = fill_cache(arena);
	gm_local_spill(local, 0);
	ok(gm_depot_count(&arena->slabs->depot, 0) > 0, "there is a depot");
	for (int i = 0; i < 16; i++) {
		use_cache(local);
		pass(now_ms + TICK_MS / 2);
	}
	ok(gm_depot_count(&arena->slabs->depot, 0) > 0,
	   "it stays while one works");
	pass(now_ms + 3 * TICK_MS);
	is_uint(gm_depot_count(&arena->slabs->depot, 0), 0,
		"and goes when none does");
	is_uint(gm_depot_host_bytes(&arena->slabs->depot),
		arena->slabs->depot.shard_count * sizeof(struct gm_shard),
		"with its batches");
	pass(now_ms + PERIOD_MS + 2 * TICK_MS);
	is_uint(heap_reserved(), 0, "and all memory after it");
	is_uint(unsound, 0, "all in order after each step");
}

static void test_never(void)
{
	unsigned due = 0;

	option("decay_ms", "0");
	restart("on");
	for (int i = 0; i < 1000; i++)
		due += gm_decay_visit(&heap.policy->decay);
	is_uint(due, 0, "with no period nobody asks for the time");
	option("decay_ms", "800");
	restart("on");
	for (int i = 0; i < 1000; i++)
		due += gm_decay_visit(&heap.policy->decay);
	ok(due > 0 && due < 100, "with one somebody does now and then");
}

int main(void)
{
	static const char *const mode[] = {"on", "off"};

	alarm(120);
	device_start();
	option("decay_ms", "800");
	for (int i = 0; i < 2; i++) {
		test_exact(mode[i]);
		test_used(mode[i]);
		test_passed_on(mode[i]);
		test_time(mode[i]);
		test_seldom(mode[i], 2 * TICK_MS);
		test_seldom(mode[i], 2 * PERIOD_MS);
		test_caches(mode[i]);
	}
	test_woken();
	test_depots();
	test_never();
	heap_end();
	device_end();
	return done_testing();
}
