/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* A driver that refuses: every call of a long scene fails once, then each slot
 * fails for good, then all do at random. Nothing is lost, and when the driver
 * is well again, everything goes back. */
#include "fixture.h"

enum { BLOCKS = 12, STREAMS = 2, LIVE = 48 };

static struct gm_arena *arena[STREAMS + 1];
static gpumem_stream stream[STREAMS];
static struct gm_extent *live[LIVE];
static struct gm_arena *owner[LIVE];
static unsigned unsound;
static const char *reason;

/* What the counters say is what the device says, and all is in order. */
static void look(void)
{
	if (heap_check()) {
		unsound++;
		reason = last_text();
	}
	if (heap.counters.reserved.current != gpumem_host_used_bytes(0) ||
	    heap.counters.reserved.current !=
		    atomic_load(&device->reserved_bytes))
		unsound++;
}

static volatile uintptr_t *last_word(const struct gm_extent *extent)
{
	return (uintptr_t *)gm_extent_end(extent) - 1;
}

static void take(unsigned i, struct gm_arena *from, size_t bytes,
		 size_t alignment)
{
	struct gm_extent *extent = block_take_aligned(from, bytes, alignment);

	live[i] = extent;
	owner[i] = from;
	if (!extent)
		return;
	*(volatile uintptr_t *)extent->address = i;
	*last_word(extent) = ~(uintptr_t)i;
}

static void give(unsigned i)
{
	struct gm_extent *extent = live[i];

	if (!extent)
		return;
	if (*(volatile uintptr_t *)extent->address != i ||
	    *last_word(extent) != ~(uintptr_t)i)
		bail("a live block was taken away");
	block_give(owner[i], extent);
	live[i] = NULL;
}

/* Growth, free memory in pieces, moves, trims; whatever may fail may fail. */
static void scene(void)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		take(i, arena[i % 2], 3 * MIB + i * heap.unit, heap.unit);
		look();
	}
	for (unsigned i = 0; i < BLOCKS; i += 3)
		give(i);
	look();
	take(BLOCKS, arena[2], 9 * MIB, heap.unit);
	look();
	take(BLOCKS + 1, arena[0], 4 * MIB, 4 * MIB);
	look();
	gm_heap_transfer(arena[2]);
	look();
	(void)heap_trim(30 * MIB);
	look();
	for (unsigned i = 1; i < BLOCKS; i += 3)
		give(i);
	take(0, arena[2], 20 * MIB, heap.unit);
	look();
	(void)heap_trim(0);
	look();
}

static void begin(void)
{
	heap_start();
	arena[0] = arena_of(NULL);
	for (int i = 0; i < STREAMS; i++)
		arena[i + 1] = arena_of(stream[i]);
	unsound = 0;
}

/* The driver is well: all goes back. False: something is left. */
static bool end(void)
{
	bool empty;

	must(gpumem_host_faults(NULL));
	for (unsigned i = 0; i < LIVE; i++)
		give(i);
	look();
	for (int i = 0; i <= STREAMS; i++)
		gm_arena_poll(arena[i], NULL, true);
	gm_heap_transfer(arena[0]);
	must(heap_trim(0));
	look();
	empty = heap.counters.reserved.current == 0;
	/* And the heap is as good as new. */
	take(0, arena[0], 8 * MIB, heap.unit);
	empty = empty && live[0];
	give(0);
	look();
	heap_end();
	return empty;
}

/* The nth call fails, for every n; with '+', all from there on. */
static void test_each(const char *plus)
{
	unsigned bad = 0, left = 0;
	uint64_t n = 1, calls;
	char fault[32];

	do {
		begin();
		snprintf(fault, sizeof(fault), "*@%" PRIu64 "%s", n, plus);
		must(gpumem_host_faults(fault));
		scene();
		calls = gpumem_host_calls();
		if (unsound)
			diag("%s: %s", fault, reason ? reason : "the sums");
		left += !end();
		bad += unsound;
	} while (n++ < calls);
	is_uint(bad, 0, "*@N%s: %" PRIu64 " calls, each refused: all in order",
		plus, n - 2);
	is_uint(left, 0, "*@N%s: afterwards nothing is left", plus);
}

static void test_slot(const char *slot)
{
	char fault[64];

	for (int nth = 1; nth < 8; nth += 3) {
		begin();
		snprintf(fault, sizeof(fault), "%s@%d+", slot, nth);
		must(gpumem_host_faults(fault));
		scene();
		if (!is_uint(unsound, 0, "%s: all in order", fault))
			diag("%s", reason ? reason : "the sums");
		ok(end(), "%s: afterwards nothing is left", fault);
	}
}

static void step(struct hold *hold, unsigned *held)
{
	unsigned i = (unsigned)chance(LIVE), s = (unsigned)chance(STREAMS);
	char fault[32];

	switch (chance(16)) {
	case 0:
		snprintf(fault, sizeof(fault), "*@%d", 1 + (int)chance(12));
		must(gpumem_host_faults(chance(3) ? fault : NULL));
		return;
	case 1:
		(void)heap_trim(chance(64) * MIB);
		return;
	case 2:
		gm_heap_transfer(arena[chance(STREAMS + 1)]);
		return;
	case 3: /* a stream is busy from now on, or no longer */
		must(gpumem_host_faults(NULL));
		if (*held >> s & 1)
			hold_end(&hold[s], stream[s]);
		else
			hold_begin(&hold[s], stream[s]);
		*held ^= 1u << s;
		return;
	default:
		if (live[i])
			give(i);
		else
			take(i, arena[chance(STREAMS + 1)],
			     GM_SMALL_MAX + heap.unit * (1 + chance(16384)),
			     chance(4) ? heap.unit : heap.unit << chance(15));
	}
}

static void test_random(void)
{
	long rounds = scaled(6000, 600);
	struct hold hold[STREAMS];
	unsigned held = 0;

	begin();
	for (long i = 0; i < rounds; i++) {
		step(hold, &held);
		if (i % 4 == 0)
			look();
	}
	must(gpumem_host_faults(NULL));
	for (unsigned s = 0; s < STREAMS; s++)
		if (held >> s & 1)
			hold_end(&hold[s], stream[s]);
	if (!is_uint(unsound, 0, "at random: all in order"))
		diag("%s", reason ? reason : "the sums");
	ok(end(), "at random: afterwards nothing is left");
}

/* A heap that cannot begin leaves nothing; one that cannot end says so. */
static void test_life(bool vm)
{
	const struct gm_heap_config config = {0};
	uint64_t before = atomic_load(&device->reserved_bytes);
	struct gm_heap other;

	if (vm) {
		must(gpumem_host_faults("va_reserve@1+"));
		is_status(gm_heap_init(&other, device, &config),
			  GPUMEM_NO_MEMORY, "without addresses no heap");
		must(gpumem_host_faults("va_reserve@1"));
		option("space", "64GiB");
		is_status(gm_heap_init(&other, device, &config), GPUMEM_OK,
			  "with fewer addresses there is one");
		is_uint(other.spans.first->bytes, 32ull << 30, "half of them");
		is_status(gm_heap_fini(&other), GPUMEM_OK, "which ends");
		option("space", NULL);
	}
	begin();
	take(0, arena[0], 5 * MIB, heap.unit);
	must(gpumem_host_faults(vm ? "page_destroy@1" : "free@1"));
	is_status(gm_heap_fini(&heap), GPUMEM_DRIVER,
		  "a heap whose memory does not go says so");
	live[0] = NULL;
	must(gpumem_host_faults(NULL));
	is_uint(atomic_load(&device->reserved_bytes), before,
		"and has none any more");
}

static void test_all(bool vm)
{
	static const char *const vm_slot[] = {"page_create", "page_destroy",
					      "map", "unmap"};
	static const char *const slot[] = {"event_create", "event_record",
					   "event_query", "capture_id"};

	diag("%s virtual memory", vm ? "with" : "without");
	option("vm", vm ? "on" : "off");
	device_start();
	for (int i = 0; i < STREAMS; i++)
		stream[i] = stream_new();
	test_each("");
	test_each("+");
	for (int i = 0; i < 4; i++) {
		if (vm)
			test_slot(vm_slot[i]);
		test_slot(slot[i]);
	}
	if (!vm) {
		test_slot("alloc");
		test_slot("free");
	}
	test_random();
	test_life(vm);
	gm_device_release(device);
}

int main(void)
{
	alarm(120);
	test_all(true);
	test_all(false);
	return done_testing();
}
