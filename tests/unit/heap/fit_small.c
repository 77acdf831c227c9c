/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Without virtual memory: where a small block goes. It keeps the segment that
 * it lies in, so of those free extents that it fits best it takes the one in
 * the smallest segment, unless others keep that anyway.
 */
#include "fixture.h"

enum { LOOKS = 16, PART = 16, PIECES = 8 };

static struct gm_arena *arena;
static struct gm_extent *small, *large;

/* A segment of 2 MiB with a rest of 512 KiB, and one of so many with 256. */
static void begin(size_t mib)
{
	option("vm", "off");
	must(gm_device_open("host:0", &device));
	heap_start();
	arena = arena_of(NULL);
	small = block(arena, 1536 * KIB);
	large = block(arena, mib * MIB - 256 * KIB);
}

static void end(void)
{
	heap_end();
	device_end();
}

/* Of what is_behind() asks for. */
static struct gm_attempt attempt;

/* The extent behind a block is where so many bytes would go. */
static bool is_behind(const struct gm_extent *extent, size_t bytes)
{
	const struct gm_extent *fit =
		gm_arena_fit(arena, &attempt, bytes, heap.unit);

	return fit && fit->address == gm_extent_end(extent);
}

static void test_smaller(void)
{
	begin(16);
	is_uint(heap_reserved(), 18 * MIB, "two segments");
	ok(is_behind(small, 64 * KIB), "a small block: in the smaller segment");
	ok(is_behind(small, 256 * KIB), "also what fits the other exactly");
	end();
	begin(4);
	ok(is_behind(small, 4 * MIB / PART - heap.unit),
	   "what is less than that part of a segment");
	ok(is_behind(large, 4 * MIB / PART), "what is not: where it fits best");
	end();
}

static void test_larger(void)
{
	begin(16);
	touch(block(arena, 512 * KIB));
	ok(is_behind(large, 64 * KIB), "there is no other: the larger");
	sound("the larger");
	end();
}

/* Pieces on one side of where it fits best. */
static void test_pieces(void)
{
	begin(16);
	for (unsigned i = 1; i < PIECES; i++)
		large = gm_arena_carve(gm_heap_next(&heap, large), 16 * KIB,
				       heap.unit);
	ok(is_behind(small, 64 * KIB), "in pieces, but not many");
	large = gm_arena_carve(gm_heap_next(&heap, large), 16 * KIB, heap.unit);
	ok(is_behind(large, 64 * KIB), "in many: others keep it");
	end();
}

/* On the other side: so many and the rest. */
static bool is_front_of(unsigned count)
{
	struct gm_extent *other, *front;
	const struct gm_extent *fit;
	bool is_front;

	begin(16);
	other = block(arena, 512 * KIB);
	front = block(arena, 64 * KIB);
	for (unsigned i = 0; i < count; i++)
		touch(block(arena, 16 * KIB));
	block_give(arena, other);
	block_give(arena, front);
	fit = gm_arena_fit(arena, NULL, 64 * KIB, heap.unit);
	is_front = fit && fit->address == gm_extent_end(large);
	end();
	return is_front;
}

static void test_behind(void)
{
	ok(!is_front_of(PIECES - 1), "before pieces, but not many");
	ok(is_front_of(PIECES), "before many: others keep it");
}

/* Rests of 256 KiB, each in a segment of 16 MiB, before the small one. */
static void test_looks(void)
{
	begin(16);
	for (unsigned i = 2; i < LOOKS; i++)
		touch(block(arena, 16 * MIB - 256 * KIB));
	ok(is_behind(small, 64 * KIB), "so many are looked at");
	touch(block(arena, 16 * MIB - 256 * KIB));
	ok(!is_behind(small, 64 * KIB), "and no more");
	end();
}

static void test_same_size(void)
{
	begin(16);
	touch(block(arena, 512 * KIB));
	touch(block(arena, 16 * MIB - 512 * KIB));
	ok(is_behind(large, 64 * KIB), "of two as large: where it fits best");
	end();
}

/* One of 8 MiB is unused, and smaller than the one where the block fits best.
 */
static void test_spared(void)
{
	struct gm_extent *unused;

	begin(16);
	touch(block(arena, 512 * KIB));
	unused = block(arena, 8 * MIB);
	block_give(arena, unused);
	ok(!is_behind(large, 64 * KIB), "an unused segment is cut, if smaller");
	arena->idle = true;
	attempt = (struct gm_attempt){.sparing = true, .spared_bytes = 4 * MIB};
	ok(is_behind(large, 64 * KIB), "but not while it is spared");
	attempt.sparing = false;
	end();
}

/* All is one range. What is free at its begin has many pieces behind it, what
 * the block fits best has not. */
static void test_virtual(void)
{
	struct gm_extent *front, *fits;
	uintptr_t address;

	option("vm", "on");
	must(gm_device_open("host:0", &device));
	heap_start();
	arena = arena_of(NULL);
	front = block(arena, 4 * MIB);
	touch(block(arena, 2 * MIB));
	fits = block(arena, 2 * MIB);
	address = fits->address;
	for (unsigned i = 2; i < PIECES; i++)
		touch(block(arena, 2 * MIB));
	block_give(arena, front);
	block_give(arena, fits);
	is_uint(gm_arena_fit(arena, NULL, 64 * KIB, heap.unit)->address,
		address, "with virtual memory: where it fits best");
	end();
}

int main(void)
{
	option("host.capacity", "1GiB");
	test_smaller();
	test_larger();
	test_pieces();
	test_behind();
	test_looks();
	test_same_size();
	test_spared();
	test_virtual();
	return done_testing();
}
