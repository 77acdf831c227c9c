/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Hooks of ranges, and pins: no address is told as mapped that is not, none is
 * taken away untold, and what is pinned stays. A long random run of blocks on
 * streams that lag, trims, limits, decay and calls of the driver that fail; the
 * hook keeps a table of its own, reads what it is told of, and after each step
 * the table is what the pool says, and what a hook that comes late hears.
 */
#include "ranges.h"

enum { BLOCKS = 300, STREAMS = 3, PINS = 8 };

static struct table told, late;
static gpumem_pool *pool;
static gpumem_stream streams[STREAMS];
static struct {
	void *ptr;
	int stream;
} blocks[BLOCKS];
static struct {
	const char *ptr;
	size_t bytes;
} pins[PINS];
static bool ends; /* the pool does */
static unsigned long mapped_count, unmapped_count, sleep_count;

static void check_pins(const struct gpumem_range *range)
{
	const char *from = range->ptr, *to = from + range->bytes;

	for (size_t i = 0; i < PINS; i++)
		if (pins[i].bytes && pins[i].ptr < to &&
		    from < pins[i].ptr + pins[i].bytes)
			wrong(&told, "unmapped while pinned");
}

static void hear(gpumem_pool *of, const struct gpumem_range *range, void *user)
{
	uintptr_t from = (uintptr_t)range->ptr;

	if (of != pool || range->size != sizeof(*range) || !range->bytes)
		wrong(user, "a bad range");
	touch(range);
	if (range->kind == GPUMEM_RANGE_MAPPED) {
		mapped_count += user == &told;
		add(user, from, from + range->bytes);
	} else if (range->kind == GPUMEM_RANGE_UNMAPPING) {
		unmapped_count += user == &told;
		take(user, from, from + range->bytes);
		if (!ends)
			check_pins(range);
	} else {
		wrong(user, "a kind that is none");
	}
}

/* ---- the pool's own word ---- */

static bool look(const struct gpumem_block *block, void *user)
{
	uintptr_t from = (uintptr_t)block->ptr;

	if (*(const bool *)user && block->state != GPUMEM_BLOCK_HOLE &&
	    !has(&told, from, from + block->bytes))
		wrong(&told, "a block has memory, untold");
	return true;
}

static uint64_t sum(const struct table *table)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < table->count; i++)
		bytes += table->of[i].to - table->of[i].from;
	return bytes;
}

/* Spare handles are mapped nowhere; free_bytes has them, and no block. */
static void compare(void)
{
	struct gpumem_stats s = stats_of(pool);
	bool awake = !s.sleeping.current;

	must(gpumem_block_visit(pool, look, &awake));
	late = (struct table){0};
	must(gpumem_range_hook_add(pool, hear, &late));
	must(gpumem_range_hook_remove(pool, hear, &late));
	if (late.wrong || late.count != told.count ||
	    memcmp(late.of, told.of, told.count * sizeof(told.of[0])))
		wrong(&told, "who comes late hears something else");
	if (sum(&told) - s.stale_bytes > s.reserved.current ||
	    sum(&told) + s.sleeping.current < s.active.current)
		wrong(&told, "the sum is another");
	must(gpumem_pool_check(pool));
}

/* ---- a random run ---- */

static uint64_t state;

static uint64_t draw(uint64_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % below;
}

static size_t draw_size(void)
{
	return draw(4) ? (size_t)1 << (8 + draw(16))
		       : (size_t)((1 + draw(40)) * MIB / 4);
}

static void use(size_t at)
{
	int stream = (int)draw(STREAMS);

	if (blocks[at].ptr) {
		must(gpumem_free(blocks[at].ptr, streams[blocks[at].stream]));
		blocks[at].ptr = NULL;
	} else if (gpumem_alloc(pool, draw_size(), streams[stream],
				&blocks[at].ptr) == GPUMEM_OK) {
		blocks[at].stream = stream;
		must(gpumem_fill(device, blocks[at].ptr, 1, 1,
				 streams[stream]));
	} else {
		blocks[at].ptr = NULL;
	}
}

/* Anywhere in what is told, which may be about to go: that is refused. */
static void pin_anywhere(size_t i)
{
	const struct piece *piece = &told.of[draw(told.count)];
	size_t bytes = piece->to - piece->from;
	const char *ptr = (const char *)piece->from + draw(bytes);

	bytes = 1 + draw(piece->to - (uintptr_t)ptr);
	if (bytes > 4 * MIB)
		bytes = 4 * MIB;
	if (gpumem_range_pin(pool, ptr, bytes, "test") != GPUMEM_OK)
		return;
	pins[i].ptr = ptr;
	pins[i].bytes = bytes;
}

static void pin_or_unpin(void)
{
	size_t i = draw(PINS), at = draw(BLOCKS);
	struct gpumem_block block = GPUMEM_INIT(struct gpumem_block);

	if (pins[i].bytes) {
		must(gpumem_range_unpin(pool, pins[i].ptr, pins[i].bytes,
					"test"));
		pins[i].bytes = 0;
	} else if (told.count && draw(2)) {
		pin_anywhere(i);
	} else if (blocks[at].ptr) {
		must(gpumem_query(blocks[at].ptr, &block));
		if (gpumem_range_pin(pool, block.ptr, block.bytes, "test") !=
		    GPUMEM_OK) {
			if (!stats_of(pool).sleeping.current)
				wrong(&told, "a block cannot be pinned");
			return;
		}
		pins[i].ptr = block.ptr;
		pins[i].bytes = block.bytes;
	}
}

/* What fails is not lost, and is told again. */
static void break_driver(void)
{
	static const char *const slots[] = {"map",  "unmap", "page_create",
					    "free", "alloc", "page_destroy"};
	char faults[64];

	snprintf(faults, sizeof(faults), "%s@%d%s", slots[draw(6)],
		 1 + (int)draw(3), draw(4) ? "" : "+");
	must(gpumem_host_faults(draw(3) ? NULL : faults));
}

static void step_stream(void)
{
	gpumem_stream stream = streams[1 + draw(STREAMS - 1)];

	must(gpumem_host_step(0, stream,
			      gpumem_host_queued(0, stream) - draw(3)));
}

/* Is refused while a block of it is pinned. */
static void sleep_or_wake(void)
{
	struct gpumem_slept slept = GPUMEM_INIT(struct gpumem_slept);

	for (int i = 1; i < STREAMS; i++)
		must(gpumem_host_step(0, streams[i],
				      gpumem_host_queued(0, streams[i])));
	for (size_t i = draw(2) ? 0 : PINS; i < PINS; i++)
		if (pins[i].bytes) {
			must(gpumem_range_unpin(pool, pins[i].ptr,
						pins[i].bytes, "test"));
			pins[i].bytes = 0;
		}
	if (!stats_of(pool).sleeping.current)
		sleep_count += gpumem_pool_sleep(pool, NULL, &slept) ==
				       GPUMEM_OK &&
			       slept.kept_bytes;
	else
		GPUMEM_IGNORE(gpumem_pool_wake(pool, 0, &slept));
}

static void step(void)
{
	uint64_t kind = draw(101);

	if (kind < 80)
		use(draw(BLOCKS));
	else if (kind < 84)
		GPUMEM_IGNORE(gpumem_pool_trim(pool, draw(64) * MIB, NULL));
	else if (kind < 87)
		GPUMEM_IGNORE(gpumem_pool_set_limit(
			pool, draw(2) ? 0 : (64 + draw(256)) * MIB));
	else if (kind < 92)
		step_stream();
	else if (kind < 95)
		break_driver();
	else if (kind < 97)
		sleep_or_wake();
	else
		pin_or_unpin();
}

static void end_run(void)
{
	must(gpumem_host_faults(NULL));
	for (size_t i = 0; i < BLOCKS; i++)
		if (blocks[i].ptr)
			use(i);
	for (size_t i = 0; i < PINS; i++)
		pins[i].bytes = 0;
	said(gpumem_pool_destroy(pool, 0), GPUMEM_BUSY, "pins hold the pool");
	ok(strstr(last_text(), "pinned by \"test\""), "by name: %s",
	   last_text());
	ends = true;
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	ends = false;
	is_uint(told.count, 0, "at its end all is told");
	for (size_t i = 0; i < STREAMS; i++) {
		if (i)
			must(gpumem_host_hold(0, streams[i], false));
		must(gpumem_stream_destroy(device, streams[i]));
	}
}

static void run(const char *name, bool vm, uint64_t seed, const char *decay)
{
	long steps = scaled(1200, 600);

	option("decay_ms", decay);
	device_start("1GiB", vm);
	told = (struct table){0};
	mapped_count = unmapped_count = sleep_count = 0;
	state = seed;
	for (size_t i = 0; i < STREAMS; i++) {
		streams[i] = new_stream();
		if (i)
			must(gpumem_host_hold(0, streams[i], true));
	}
	pool = new_pool(0);
	use(0);
	must(gpumem_range_hook_add(pool, hear, &told));
	for (long i = 0; i < steps && !told.wrong; i++) {
		step();
		compare();
	}
	is_uint(told.wrong, 0, "%s: %s", name,
		told.wrong ? told.how : "all is told, and nothing else");
	ok(mapped_count > 5 && unmapped_count > 5,
	   "of %lu ranges that were mapped and %lu that were not any more",
	   mapped_count, unmapped_count);
	ok(!vm || sleep_count, "and it slept %lu times", sleep_count);
	must(gpumem_host_faults(NULL));
	must(gpumem_pool_set_limit(pool, 0));
	must(vm ? gpumem_pool_wake(pool, 0, NULL) : GPUMEM_OK);
	while (!pins[0].bytes)
		pin_or_unpin();
	end_run();
	is_uint(told.wrong, 0, "also at the end");
	ok(device_end(), "all memory is back");
}

/* ---- pins and hooks, one by one ---- */

static void nothing(gpumem_pool *of, const struct gpumem_range *range,
		    void *user)
{
	(void)of;
	(void)range;
	++*(unsigned *)user;
}

static void pins_one_by_one(bool vm)
{
	uint64_t gone = 0;
	unsigned count = 0, other = 0;
	char *ptr;

	device_start("1GiB", vm);
	pool = new_pool(0);
	ptr = new_block(pool, 20 * MIB, NULL);
	must(gpumem_range_hook_add(pool, nothing, &count));
	ok(count > 0, "who comes late is told");
	said(gpumem_range_hook_remove(pool, nothing, &other), GPUMEM_NOT_FOUND,
	     "another hook");
	must(gpumem_range_pin(pool, ptr + 4 * MIB, MIB, "a"));
	must(gpumem_range_pin(pool, ptr, 20 * MIB, "b"));
	must(gpumem_range_pin(pool, ptr, 20 * MIB, "b"));
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_trim(pool, 0, &gone));
	is_uint(gone, 0, "what is pinned is not given back");
	is_uint(stats_of(pool).unreleasable_bytes,
		stats_of(pool).reserved.current, "and counts so");
	must(gpumem_range_unpin(pool, ptr, 20 * MIB, "b"));
	must(gpumem_pool_trim(pool, 0, &gone));
	is_uint(gone, 0, "while one is left");
	said(gpumem_range_unpin(pool, ptr, 20 * MIB, "c"), GPUMEM_NOT_FOUND,
	     "another's pin");
	must(gpumem_range_unpin(pool, ptr, 20 * MIB, "b"));
	must(gpumem_pool_trim(pool, 0, &gone));
	ok(vm ? gone > 0 && gone < 20 * MIB : gone == 0,
	   "then all but what another has pinned: %llu", (ull)gone);
	must(gpumem_range_unpin(pool, ptr + 4 * MIB, MIB, "a"));
	must(gpumem_pool_trim(pool, 0, &gone));
	ok(gone > 0, "and then that");
	said(gpumem_range_pin(pool, ptr, MIB, "a"), GPUMEM_BAD_POINTER,
	     "what has no memory");
	said(gpumem_range_pin(pool, &gone, sizeof(gone), "a"),
	     GPUMEM_BAD_POINTER, "what is no memory of a device");
	must(gpumem_range_hook_remove(pool, nothing, &count));
	other = count;
	ptr = new_block(pool, 20 * MIB, NULL);
	is_uint(count, other, "a hook that was removed hears nothing");
	said(gpumem_range_pin(pool, ptr, SIZE_MAX, "a"), GPUMEM_BAD_POINTER,
	     "more than there is");
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "all memory is back");
}

/* A growth would give a segment back, and the driver refuses. */
static void refused(void)
{
	void *ptr;

	option("segment_waste", "0");
	device_start("1GiB", false);
	pool = new_pool(0);
	told = (struct table){0};
	unmapped_count = 0;
	must(gpumem_range_hook_add(pool, hear, &told));
	must(gpumem_free(new_block(pool, 20 * MIB, NULL), NULL));
	must(gpumem_host_faults("free@1"));
	ptr = new_block(pool, 40 * MIB, NULL);
	must(gpumem_host_faults(NULL));
	is_uint(unmapped_count, 1, "a segment is about to go");
	compare();
	is_uint(told.wrong, 0, "and stays: %s", told.wrong ? told.how : "told");
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "all memory is back");
	option("segment_waste", NULL);
}

int main(void)
{
	alarm(300);
	is_str(gpumem_range_kind_name(GPUMEM_RANGE_UNMAPPING), "unmapping",
	       "a kind has a word");
	pins_one_by_one(true);
	pins_one_by_one(false);
	refused();
	run("pages", true, 1, "0");
	run("pages, with decay", true, 2, "1");
	option("alias", "off");
	run("pages, each at one place", true, 3, "0");
	option("alias", NULL);
	run("segments", false, 4, "0");
	run("segments, with decay", false, 5, "1");
	return done_testing();
}
