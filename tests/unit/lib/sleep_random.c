/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Random programs that sleep and wake: blocks of all fates on streams that lag
 * behind, freed and allocated while others sleep, by tag and all, to whatever
 * store, under limits, with a neighbour on the device. A model knows what each
 * block has to hold.
 */
#include "sleep.h"

enum { PAGE = 256 * KIB, BLOCKS = 24, STREAMS = 3, TAGS = 6 };

static struct {
	unsigned char *ptr;
	size_t bytes;
	uint32_t number;
	unsigned tag, stream;
	bool asleep; /* it may not be looked at */
} block[BLOCKS];

static gpumem_pool *pool;
static gpumem_stream stream[STREAMS];
static uint32_t tag[TAGS];
static gpumem_sleep fate[TAGS];
static uint32_t next_number;
static unsigned long wrong, cycles, sleeps, wakes, refused;

static void must_be(bool right, const char *what, unsigned long cycle)
{
	if (right)
		return;
	if (wrong++ < 10)
		diag("cycle %lu: %s: %s", cycle, what, last_text());
}

static size_t random_size(void)
{
	switch (random_below(4)) {
	case 0:
		return 1 + random_below(16 * KIB);
	case 1:
		return 1 + random_below(PAGE);
	case 2:
		return 1 + random_below(3 * PAGE);
	default:
		return PAGE * (1 + random_below(2));
	}
}

static void allocate(unsigned i)
{
	block[i].tag = (unsigned)random_below(TAGS);
	block[i].stream = (unsigned)random_below(STREAMS);
	block[i].bytes = random_size();
	must(gpumem_tag_set(tag[block[i].tag]));
	if (gpumem_alloc(pool, block[i].bytes, stream[block[i].stream],
			 (void **)&block[i].ptr))
		block[i].ptr = NULL;
	must(gpumem_tag_set(0));
	block[i].asleep = false;
	block[i].number = ++next_number;
	if (!block[i].ptr)
		return;
	/* What had the memory before may lag behind. */
	must(gpumem_stream_sync(device, stream[block[i].stream]));
	mark_block(block[i].ptr, block[i].bytes, block[i].number);
}

static void release(unsigned i)
{
	must(gpumem_free(block[i].ptr, one_in(3) ? stream[random_below(STREAMS)]
						 : stream[block[i].stream]));
	block[i].ptr = NULL;
}

/* A stream that lags writes what is there already, and so is at work: always
 * the same one, or two would write at once. */
static void work(unsigned i)
{
	unsigned other = block[i].number % STREAMS;

	if (block[i].asleep)
		return;
	must(gpumem_use_on(block[i].ptr, stream[other]));
	must(gpumem_copy(device, block[i].ptr, block[i].ptr, block[i].bytes,
			 stream[other]));
}

static void step(void)
{
	unsigned i = (unsigned)random_below(BLOCKS);

	if (!block[i].ptr)
		allocate(i);
	else if (one_in(2))
		release(i);
	else
		work(i);
}

static bool is_inside(unsigned of, unsigned which)
{
	return which == TAGS || of == which || (which == 1 && of == 4);
}

static void sleep_some(unsigned long cycle)
{
	static const uint32_t flags[] = {0, GPUMEM_SLEEP_RETAIN,
					 GPUMEM_SLEEP_PAGEABLE};
	unsigned which = (unsigned)random_below(2 * TAGS);
	gpumem_status status;

	if (which >= TAGS || !tag[which])
		which = TAGS;
	status = sleep_with(pool, which < TAGS ? tag[which] : 0,
			    flags[random_below(3)], one_in(8) ? "." : NULL);
	must_be(!status, "a sleep", cycle);
	sleeps++;
	for (unsigned i = 0; i < BLOCKS; i++)
		if (block[i].ptr && is_inside(block[i].tag, which) &&
		    fate[block[i].tag] != GPUMEM_SLEEP_STAY)
			block[i].asleep = true;
}

static void look(unsigned long cycle)
{
	for (unsigned i = 0; i < STREAMS; i++)
		must(gpumem_stream_sync(device, stream[i]));
	for (unsigned i = 0; i < BLOCKS; i++)
		if (block[i].ptr && !block[i].asleep)
			must_be(is_marked(block[i].ptr, block[i].bytes,
					  block[i].number),
				"another content", cycle);
}

static void wake_some(unsigned long cycle)
{
	unsigned which = (unsigned)random_below(2 * TAGS);
	gpumem_status status;

	if (which >= TAGS || !tag[which])
		which = TAGS;
	status = wake(pool, which < TAGS ? tag[which] : 0);
	if (status) {
		must_be(status == GPUMEM_NO_MEMORY || status == GPUMEM_LIMIT,
			"a wake", cycle);
		refused++;
		return;
	}
	wakes++;
	for (unsigned i = 0; i < BLOCKS; i++) {
		if (!block[i].ptr || !block[i].asleep ||
		    !is_inside(block[i].tag, which))
			continue;
		block[i].asleep = false;
		if (fate[block[i].tag] == GPUMEM_SLEEP_KEEP)
			continue;
		/* Whatever it has, it is memory. */
		mark_block(block[i].ptr, block[i].bytes, block[i].number);
	}
}

static void check(unsigned long cycle)
{
	struct gpumem_stats stats = stats_of(pool);
	const char *law = unlawful(&stats);

	must_be(!gpumem_pool_check(pool), "not sound", cycle);
	must_be(!law, law ? law : "", cycle);
	must_be(stats.reserved.current == gpumem_host_used_bytes(0),
		"the device gave another number of bytes", cycle);
}

/* Others use some of the device; or there is a limit. */
static void neighbours(bool on)
{
	must(gpumem_host_outside(0, on ? random_below(24 * MIB) : 0));
}

static void cycle(unsigned long number)
{
	for (uint64_t i = random_below(12); i > 0; i--)
		step();
	sleep_some(number);
	check(number);
	if (one_in(4))
		sleep_some(number);
	for (uint64_t i = random_below(12); i > 0; i--)
		step();
	look(number);
	if (one_in(4))
		neighbours(true);
	wake_some(number);
	neighbours(false);
	if (one_in(8))
		must(gpumem_pool_trim(pool, 0, NULL));
	if (one_in(2))
		wake_some(number);
	check(number);
	look(number);
}

/* Where a limit is in the way of all. */
static bool release_any(void)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		if (block[i].ptr) {
			release(i);
			return true;
		}
	return false;
}

/* Work is done when somebody waits for it. */
static void hold(bool on)
{
	for (unsigned i = 0; i < STREAMS; i++)
		must(gpumem_host_hold(0, stream[i], on));
}

static void program(unsigned long seed, unsigned long length)
{
	random_seed(seed);
	device_start("24MiB", true);
	pool = new_pool(seed % 2 ? 12 * MIB : 0);
	for (unsigned i = 0; i < STREAMS; i++)
		stream[i] = new_stream();
	hold(seed % 3 == 0);
	for (unsigned long i = 0; i < length; i++)
		cycle(cycles++);
	neighbours(false);
	while (wake(pool, 0) && release_any())
		;
	for (unsigned i = 0; i < BLOCKS; i++)
		block[i].asleep = block[i].asleep &&
				  fate[block[i].tag] != GPUMEM_SLEEP_KEEP;
	look(cycles);
	for (unsigned i = 0; i < BLOCKS; i++)
		if (block[i].ptr)
			release(i);
	hold(false);
	must(gpumem_pool_destroy(pool, 0));
	for (unsigned i = 0; i < STREAMS; i++)
		must(gpumem_stream_destroy(device, stream[i]));
	must_be(device_end(), "memory is left behind", cycles);
}

int main(void)
{
	static const char *const path[TAGS] = {NULL,	"keeps",    "drops",
					       "zeros", "keeps/in", "stays"};
	static const gpumem_sleep said_of[TAGS] = {
		GPUMEM_SLEEP_KEEP, GPUMEM_SLEEP_KEEP,	 GPUMEM_SLEEP_DROP,
		GPUMEM_SLEEP_ZERO, GPUMEM_SLEEP_INHERIT, GPUMEM_SLEEP_STAY};
	long programs = scaled(100, 4);

	alarm(1200);
	option("page", "256KiB");
	option("host.page", "256KiB");
	for (unsigned i = 0; i < TAGS; i++) {
		tag[i] = path[i] ? tag_of(path[i], said_of[i]) : 0;
		fate[i] = said_of[i] ? said_of[i] : GPUMEM_SLEEP_KEEP;
	}
	for (long i = 1; i <= programs && !wrong; i++)
		program((unsigned long)i, 50);
	is_uint(wrong, 0, "%lu cycles, %lu sleeps, %lu wakes, %lu refused",
		cycles, sleeps, wakes, refused);
	ok(refused > 0 || programs < 100, "some wakes found no memory");
	return done_testing();
}
