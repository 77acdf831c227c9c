/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The table of tracked blocks against a plain list: random additions, removals
 * and look-ups of addresses that are close together and of some that share
 * their place, through several sizes; and with no memory for a larger table,
 * where what is missed is counted and all else stays known.
 */
#include "base/track.h"
#include "../../tap.h"

#include <stdlib.h>
#include <unistd.h>

enum { PLACES = 3000, STEPS = 200000 };

static struct gm_track track;

/* The list: the serial of each address; 0: it is not there. */
static uint64_t serial[PLACES];
static size_t live;

static bool no_memory; /* of what the table asks for */

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);

void *__wrap_calloc(size_t count, size_t bytes)
{
	return no_memory ? NULL : __real_calloc(count, bytes);
}

static uint64_t random_below(uint64_t end)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % end;
}

/* Half of them are the 256-byte neighbours of a slab, half far apart. */
static uintptr_t address_of(size_t place)
{
	return place & 1 ? 0x7f0000000000u + place * 256
			 : ((uintptr_t)place + 1) << 32;
}

static const struct gm_stack *stack_of(size_t place)
{
	static const char stacks[7];

	/* The table looks into none. */
	return (const void *)&stacks[place % 7];
}

static size_t wrong(void)
{
	size_t count = 0;

	for (size_t i = 0; i < PLACES; i++) {
		const struct gm_track_entry *entry =
			gm_track_find(&track, address_of(i));

		if (!serial[i])
			count += entry != NULL;
		else
			count += !entry || entry->serial != serial[i] ||
				 entry->address != address_of(i) ||
				 entry->stack != stack_of(i);
	}
	return count;
}

static void add(size_t place)
{
	uint64_t mark = gm_track_mark();

	gm_track_add(&track, address_of(place), stack_of(place));
	serial[place] = mark;
	live++;
}

static void drop(size_t place)
{
	gm_track_remove(&track, address_of(place));
	serial[place] = 0;
	live--;
}

static void step(size_t most)
{
	size_t place = random_below(PLACES);

	if (serial[place])
		drop(place);
	else if (live < most)
		add(place);
	else
		gm_track_remove(&track, address_of(place));
}

static void test_random(void)
{
	size_t bad = 0;

	for (unsigned i = 0; i < STEPS; i++) {
		step(i % 20000 < 10000 ? PLACES : 10);
		if (i % 2000 == 0)
			bad += wrong() + (track.used != live);
	}
	is_uint(bad + wrong(), 0, "the table is the list");
	is_uint(track.missed, 0, "with enough memory nothing is missed");
	ok(track.used <= track.room / 4 * 3, "%zu of %zu places are used",
	   track.used, track.room);
	for (size_t i = 0; i < PLACES; i++)
		if (serial[i])
			drop(i);
	is_uint(wrong() + track.used, 0, "and can become empty");
}

static void test_time(void)
{
	uint64_t before = gm_track_now(), mark = gm_track_mark();
	const struct gm_track_entry *entry;

	add(1);
	entry = gm_track_find(&track, address_of(1));
	ok(mark > 0 && entry && entry->serial == mark, "a mark is the next");
	is_uint(gm_track_mark(), mark + 1, "and goes on");
	ok(entry && entry->time_ns >= before &&
		   entry->time_ns <= gm_track_now(),
	   "with its time");
	is_int(entry ? (int)entry->thread : 0, (int)getpid(),
	       "and the main thread's number");
	drop(1);
}

static void test_no_memory(void)
{
	uint64_t mark = gm_track_mark();

	gm_track_fini(&track);
	no_memory = true;
	gm_track_add(&track, address_of(1), NULL);
	ok(!gm_track_find(&track, address_of(1)) && track.missed == 1,
	   "without a table a block is missed");
	gm_track_remove(&track, address_of(1));
	is_uint(gm_track_mark(), mark + 1, "but has had its serial");
	no_memory = false;
	for (size_t i = 0; i < PLACES && track.used < track.room / 4 * 3; i++)
		add(i);
	no_memory = true;
	gm_track_add(&track, address_of(PLACES - 1), NULL);
	is_uint(track.missed, 2,
		"and so is one that the table has no room for");
	is_uint(wrong(), 0, "the others are known");
	no_memory = false;
	add(PLACES - 1);
	is_uint(wrong(), 0, "with memory it goes on");
	gm_track_fini(&track);
	ok(!gm_track_find(&track, address_of(0)), "nothing is left at the end");
}

int main(void)
{
	alarm(120);
	/* The first time takes the table from nothing. */
	add(0);
	drop(0);
	test_random();
	test_time();
	test_no_memory();
	return done_testing();
}
