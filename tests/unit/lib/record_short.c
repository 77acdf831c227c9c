/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Events of 4 bytes: what repeats takes little of the file, and each event says
 * what it would say in full, whatever another one like it had been.
 */
#include "record.h"

#include <time.h>

#define GIB ((uint64_t)1 << 30)

enum { PAIRS = 20000, PAUSE_NS = 20000000 };

static void pair(gpumem_pool *pool, size_t bytes, gpumem_stream stream)
{
	must(gpumem_free(new_block(pool, bytes, stream), stream));
}

/* ---- what repeats ---- */

static void test_repeats(size_t bytes)
{
	gpumem_pool *pool = new_pool(0);
	struct recording recording;

	pair(pool, bytes, NULL);
	begin();
	for (unsigned i = 0; i < PAIRS; i++)
		pair(pool, bytes, NULL);
	recording = end();
	whole(&recording, "what repeats");
	ok(recording.shorts >= 2 * PAIRS * 9 / 10,
	   "of %d pairs of %zu bytes %zu events are short", PAIRS, bytes,
	   recording.shorts);
	ok(recording.chunks <= 4, "they take %zu chunks", recording.chunks);
	is_uint(recording.peak_bytes, bytes, "the peak");
	rec_free(&recording);
	must(gpumem_pool_destroy(pool, 0));
}

/* ---- what almost repeats ---- */

static uint32_t tags[2];

struct said {
	uint64_t bytes;
	gpumem_stream stream;
	unsigned pool;
	bool tagged;
};

static struct said wanted(gpumem_stream stream, unsigned turn)
{
	return (struct said){.bytes = turn & 1 ? 1000 : 1001,
			     .stream = turn & 4 ? stream : NULL,
			     .pool = turn >> 3 & 1,
			     .tagged = turn & 2};
}

static void say(gpumem_pool *const *pools, const struct said *said)
{
	must(gpumem_tag_set(tags[said->tagged]));
	pair(pools[said->pool], said->bytes, said->stream);
}

/* `first` is the number of the first of the pools. */
static bool is_said(const struct rec *event, const struct said *said,
		    uint8_t kind, uint16_t first)
{
	return event->kind == kind && event->bytes == said->bytes &&
	       event->stream == (uint64_t)(uintptr_t)said->stream &&
	       (event->pool == first) == !said->pool &&
	       !event->tag == !said->tagged;
}

/* Blocks, in one order of one thread. */
static size_t keep_blocks(struct recording *recording)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->count; i++)
		if (rec_is_block(&recording->event[i]))
			recording->event[count++] = recording->event[i];
	return count;
}

static void test_almost(void)
{
	gpumem_pool *pools[] = {new_pool(0), new_pool(0)};
	gpumem_stream stream = new_stream();
	struct recording recording;
	size_t wrong = 0;
	uint16_t first;

	must(gpumem_tag_intern("short", &tags[1]));
	begin();
	for (unsigned turn = 0; turn < PAIRS; turn++) {
		struct said said = wanted(stream, turn);

		say(pools, &said);
	}
	must(gpumem_tag_set(0));
	recording = end();
	whole(&recording, "what almost repeats");
	is_uint(keep_blocks(&recording), 2 * PAIRS, "its events");
	first = recording.event[0].pool;
	for (unsigned turn = 0; turn < PAIRS; turn++) {
		struct said said = wanted(stream, turn);
		const struct rec *event = &recording.event[2 * (size_t)turn];

		wrong += !is_said(event, &said, GPUMEM_RECORD_ALLOC, first) ||
			 !is_said(event + 1, &said, GPUMEM_RECORD_FREE, first);
	}
	is_uint(wrong, 0, "no size, tag, stream or pool is another's");
	ok(recording.shorts > 2 * PAIRS * 9 / 10, "and %zu are short",
	   recording.shorts);
	rec_free(&recording);
	must(gpumem_pool_destroy(pools[0], 0));
	must(gpumem_pool_destroy(pools[1], 0));
}

/* ---- sizes, and times, that a short event has no room for ---- */

static void test_huge(void)
{
	static const uint64_t sizes[] = {4 * GIB - 1, 4 * GIB, 4 * GIB + 1,
					 16 * MIB - 1, 16 * MIB};
	enum { SIZES = sizeof(sizes) / sizeof(sizes[0]), TURNS = 10 };
	gpumem_pool *pool = new_pool(0);
	struct recording recording;
	size_t wrong = 0;

	begin();
	for (unsigned i = 0; i < SIZES * TURNS; i++)
		pair(pool, sizes[i / TURNS], NULL);
	recording = end();
	whole(&recording, "huge ones");
	is_uint(keep_blocks(&recording), 2 * SIZES * TURNS, "their events");
	for (size_t i = 0; i < 2 * SIZES * TURNS; i++)
		wrong += recording.event[i].bytes != sizes[i / TURNS / 2];
	is_uint(wrong, 0, "have their sizes");
	rec_free(&recording);
	must(gpumem_pool_destroy(pool, 0));
}

static double ns_of(const struct recording *recording, uint64_t units)
{
	const struct gpumem_record_header *header = &recording->header;

	return (double)units * (double)(header->end_ns - header->begin_ns) /
	       (double)(header->end_ticks - header->begin_ticks);
}

static void test_pause(void)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	gpumem_pool *pool = new_pool(0);
	struct recording recording;
	const struct rec *event;
	double ns;

	pair(pool, 500, NULL);
	begin();
	pair(pool, 500, NULL);
	pair(pool, 500, NULL);
	nanosleep(&pause, NULL);
	pair(pool, 500, NULL);
	recording = end();
	whole(&recording, "a pause");
	is_uint(keep_blocks(&recording), 6, "its events");
	event = recording.event;
	ns = ns_of(&recording, event[4].time - event[3].time);
	ok(ns >= 0.99 * PAUSE_NS, "it is there: %.0f ns", ns);
	rec_free(&recording);
	must(gpumem_pool_destroy(pool, 0));
}

int main(void)
{
	folder_make();
	device_start("64GiB", true);
	test_repeats(300);
	test_repeats(2 * MIB);
	test_almost();
	test_huge();
	test_pause();
	ok(device_end(), "all given back");
	folder_remove();
	return done_testing();
}
