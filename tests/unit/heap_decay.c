/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Decay in invented time: what was not used for a period goes, and within a
 * ninth of it more; what was used stays. However time passes, whatever the
 * driver says, and as exactly with segments as with pages.
 */
#include "heap_fixture.h"

#define PAGE (2 * MIB)
#define MS ((uint64_t)1000 * 1000)

enum { PERIOD_MS = 800, TICK_MS = PERIOD_MS / GM_DECAY_TICKS };

static struct gm_arena *arena;
static uint64_t now_ms;
static unsigned unsound;

static void restart(const char *vm)
{
	if (arena)
		heap_end();
	option("vm", vm);
	heap_start();
	arena = arena_of(NULL);
	now_ms = 5000;
	unsound = 0;
}

static void step(void)
{
	bool leaving;

	pthread_mutex_lock(&heap.mutex);
	(void)gm_decay_step(&heap, now_ms * MS);
	leaving = heap.space.leaving_bytes > 0;
	pthread_mutex_unlock(&heap.mutex);
	if (leaving || heap_check()) {
		if (!unsound++)
			diag("at %" PRIu64 " ms: %s", now_ms, last_text());
	}
}

/* Somebody is there each millisecond. Returns when `reserved` first fell, or
 * the end. */
static uint64_t pass(uint64_t until_ms)
{
	uint64_t fell_ms = until_ms, before = heap.books.reserved.current;

	for (; now_ms < until_ms; now_ms++) {
		step();
		if (fell_ms == until_ms && heap.books.reserved.current < before)
			fell_ms = now_ms;
	}
	return fell_ms;
}

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
	is_uint(heap.decay.bytes, 3 * PAGE, "what went is counted");
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
	struct gm_arena *heir;
	uint64_t freed, fell;

	restart(vm);
	heir = arena_of(stream);
	pass(now_ms + 2 * PERIOD_MS);
	block_give(arena, block(arena, PAGE));
	freed = now_ms;
	pass(now_ms + 5);
	must(gm_stream_sync(device, NULL));
	gm_arenas_adopt(&heap, heir);
	is_uint(heir->index.bytes, PAGE, "another stream has it");
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
	for (; heap.books.reserved.current && visits < 100; visits++) {
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
	void *ptr = gm_local_pop(local, 0, heap.classes.of[0].bytes, 100);

	gm_local_push(local, 0, heap.classes.of[0].bytes, (uintptr_t)ptr,
		      slot.mark);
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
	uint64_t until;

	restart(vm);
	local = fill_cache(arena);
	for (until = now_ms + 3 * PERIOD_MS; now_ms < until;) {
		use_cache(local);
		pass(now_ms + PERIOD_MS / 4);
	}
	ok(gm_local_holds(local), "a cache that is used is left alone");
	is_uint(heap_reserved(), PAGE, "with its memory");
	pass(now_ms + PERIOD_MS / 4 * 3);
	ok(gm_local_holds(local), "for a period");
	pass(now_ms + 3 * TICK_MS);
	ok(!gm_local_holds(local), "then it is emptied");
	pass(now_ms + PERIOD_MS + 2 * TICK_MS);
	is_uint(heap_reserved(), 0, "and its memory goes");
	is_uint(unsound, 0, "all in order after each step");
}

/* Nobody looks at the caches meanwhile: that folds them in. */
static void pass_unseen(uint64_t until_ms)
{
	pthread_mutex_lock(&heap.mutex);
	for (; now_ms < until_ms; now_ms++)
		(void)gm_decay_step(&heap, now_ms * MS);
	pthread_mutex_unlock(&heap.mutex);
}

/* Idle for long, then used just before the chore that would empty it. */
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
	ok(gm_depot_count(&arena->depot, 0) > 0, "and so is its depot");
	use_cache(local);
	pass(now_ms + PERIOD_MS - 2 * TICK_MS);
	ok(gm_local_holds(local), "for a period");
	pass(now_ms + 4 * TICK_MS);
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
	ok(gm_depot_count(&arena->depot, 0) > 0, "there is a depot");
	for (int i = 0; i < 16; i++) {
		use_cache(local);
		pass(now_ms + PERIOD_MS / 4);
	}
	ok(gm_depot_count(&arena->depot, 0) > 0, "it stays while one works");
	pass(now_ms + PERIOD_MS + 3 * TICK_MS);
	is_uint(gm_depot_count(&arena->depot, 0), 0, "and goes when none does");
	is_uint(gm_depot_host_bytes(&arena->depot), 0, "with its batches");
	pass(now_ms + PERIOD_MS + 2 * TICK_MS);
	is_uint(heap_reserved(), 0, "and all memory after it");
	is_uint(unsound, 0, "all in order after each step");
}

/* ---- what the driver says ---- */

static void test_capture(const char *vm)
{
	uint64_t violations = gpumem_host_capture_violations();
	gpumem_stream stream = stream_new();

	restart(vm);
	(void)arena_of(stream);
	block_give(arena, block(arena, 2 * PAGE));
	must(gpumem_host_capture(0, stream, true));
	pass(now_ms + 3 * PERIOD_MS);
	is_uint(heap_reserved(), 2 * PAGE, "nothing goes in a capture");
	is_uint(gpumem_host_capture_violations(), violations,
		"which nothing disturbs");
	must(gpumem_host_capture(0, stream, false));
	pass(now_ms + 2 * TICK_MS);
	is_uint(heap_reserved(), 0, "afterwards it does");
	must(gm_stream_destroy(device, stream));
}

static bool error_is_mine(void)
{
	struct gpumem_error error = {.size = sizeof(error)};

	gm_error_get(&error);
	return error.status == GPUMEM_BUSY &&
	       !strcmp(error.text, "the thread's own");
}

/* One call is refused; later all goes, and is counted. False: no such call. */
static bool refuse(uint64_t n, unsigned *wrong)
{
	struct gm_extent *extent[6];
	char faults[32];
	uint64_t calls, returned;

	for (int i = 0; i < 6; i++)
		extent[i] = block(arena, 3 * PAGE);
	for (int i = 0; i < 6; i += 2)
		block_give(arena, extent[i]);
	returned = heap.returned_bytes + heap.decay.bytes;
	snprintf(faults, sizeof(faults), "*@%" PRIu64, n);
	must(gpumem_host_faults(faults));
	(void)gm_fail(GPUMEM_BUSY, "the thread's own");
	pass_unseen(now_ms + PERIOD_MS + 4 * TICK_MS);
	*wrong += !error_is_mine();
	calls = gpumem_host_calls();
	must(gpumem_host_faults(NULL));
	*wrong += heap_reserved() != 9 * PAGE;
	for (int i = 1; i < 6; i += 2)
		block_give(arena, extent[i]);
	pass(now_ms + PERIOD_MS + 4 * TICK_MS);
	*wrong +=
		heap_reserved() != 0 ||
		heap.returned_bytes + heap.decay.bytes - returned != 36 * PAGE;
	return calls >= n;
}

static void test_refused(const char *vm)
{
	unsigned wrong = 0;
	uint64_t n = 1;

	restart(vm);
	while (refuse(n, &wrong))
		n++;
	ok(n > 5, "%" PRIu64 " calls, each refused", n - 1);
	is_uint(wrong, 0, "all goes a little later, and is counted");
	is_uint(unsound, 0, "all in order after each step");
}

/* What the driver will not take back keeps nothing else here. */
static void test_stuck(const char *vm, const char *slot)
{
	struct gm_extent *extent[9];
	char faults[32];

	restart(vm);
	for (int i = 0; i < 9; i++)
		extent[i] = block(arena, i == 4 ? 3 * PAGE : PAGE);
	for (int i = 0; i < 9; i += 2)
		block_give(arena, extent[i]);
	snprintf(faults, sizeof(faults), "%s@1", slot);
	for (uint64_t until = now_ms + 2 * PERIOD_MS; now_ms < until;) {
		/* The first that is tried in each tick is refused. */
		if (now_ms % TICK_MS == 0)
			must(gpumem_host_faults(faults));
		step();
		now_ms++;
	}
	must(gpumem_host_faults(NULL));
	ok(heap_reserved() <= 7 * PAGE, "%s: nothing else is kept", faults);
	is_uint(unsound, 0, "all in order after each step");
}

static void test_never(void)
{
	unsigned due = 0;

	option("decay_ms", "0");
	restart("on");
	for (int i = 0; i < 1000; i++)
		due += gm_decay_visit(&heap.decay);
	is_uint(due, 0, "with no period nobody asks for the time");
	option("decay_ms", "800");
	restart("on");
	for (int i = 0; i < 1000; i++)
		due += gm_decay_visit(&heap.decay);
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
		test_capture(mode[i]);
		test_refused(mode[i]);
	}
	test_woken();
	test_depots();
	test_stuck("on", "unmap");
	test_stuck("on", "page_destroy");
	test_stuck("off", "free");
	test_never();
	heap_end();
	device_end();
	return done_testing();
}
