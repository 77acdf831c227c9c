/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Random programs with blocks of several fates in a sleep on streams that are
 * at work: what a block holds stays, no handle is of two fates, and little is
 * wasted. Scenes of which each is about one thing: sleep_order.c.
 */
#include "sleep_held.h"

enum { BLOCKS = 48, TAGS = 4, STREAMS = 3, PAGE = 256 * KIB };

static struct {
	unsigned char *ptr;
	size_t bytes;
	unsigned stream;
	uint8_t value;
} block[BLOCKS];

static unsigned long wrong;

static void look(const gpumem_stream *streams)
{
	for (int i = 0; i < STREAMS; i++)
		must(gpumem_stream_sync(device, streams[i]));
	for (int i = 0; i < BLOCKS; i++)
		for (size_t at = 0; block[i].ptr && at < block[i].bytes;
		     at += KIB)
			wrong += block[i].ptr[at] != block[i].value;
}

/* It frees on its own stream or another, which fills it once more. */
static void end_block(unsigned i, const gpumem_stream *streams)
{
	unsigned on =
		one_in(3) ? (unsigned)random_below(STREAMS) : block[i].stream;

	if (on != block[i].stream) {
		must(gpumem_stream_sync(device, streams[block[i].stream]));
		must(gpumem_use_on(block[i].ptr, streams[on]));
		must(gpumem_fill(device, block[i].ptr, OLD, block[i].bytes,
				 streams[on]));
	}
	must(gpumem_free(block[i].ptr, streams[on]));
	block[i].ptr = NULL;
}

static void step(const gpumem_stream *streams, const uint32_t *tags)
{
	unsigned i = (unsigned)random_below(BLOCKS);

	if (block[i].ptr) {
		end_block(i, streams);
		return;
	}
	block[i].bytes = PAGE / 4 + random_below(32 * PAGE);
	block[i].stream = (unsigned)random_below(STREAMS);
	block[i].value = (uint8_t)random_below(256);
	block[i].ptr =
		tagged_block(pool, block[i].bytes, tags[random_below(TAGS)],
			     streams[block[i].stream]);
	must(gpumem_fill(device, block[i].ptr, block[i].value, block[i].bytes,
			 streams[block[i].stream]));
}

static void test_random(uint64_t seed)
{
	const unsigned long steps = scaled(2000, 400);
	gpumem_stream streams[STREAMS];
	uint32_t tags[TAGS];
	struct gpumem_stats stats;

	random_seed(seed);
	option("page", "256KiB");
	option("host.page", "256KiB");
	begin();
	memcpy(streams, (gpumem_stream[]){a, b, c}, sizeof(streams));
	memcpy(tags, (uint32_t[]){0, x, y, tag_of("z", GPUMEM_SLEEP_KEEP)},
	       sizeof(tags));
	wrong = 0;
	for (unsigned long i = 0; i < steps; i++) {
		step(streams, tags);
		if (i % 16 == 0)
			wrong += gpumem_pool_check(pool) != GPUMEM_OK;
		if (i % 64 == 0)
			look(streams);
	}
	look(streams);
	sound(pool, "seed %llu", (ull)seed);
	is_uint(wrong, 0, "nothing was wrong on the way");
	stats = stats_of(pool);
	ok(stats.reserved.peak <=
		   stats.allocated.peak + stats.allocated.peak / 8,
	   "at most an eighth is wasted: %llu KiB of %llu",
	   (ull)(stats.reserved.peak / KIB), (ull)(stats.allocated.peak / KIB));
	for (unsigned i = 0; i < BLOCKS; i++)
		if (block[i].ptr)
			end_block(i, streams);
	end();
	option("page", NULL);
	option("host.page", NULL);
}

int main(void)
{
	const unsigned long seeds = scaled(6, 3);

	alarm(600);
	for (unsigned long i = 1; i <= seeds; i++)
		test_random(i);
	return done_testing();
}
