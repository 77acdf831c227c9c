/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Without virtual memory: where a small block goes. It keeps the segment that
 * it lies in, so of those free extents that it fits best it takes the one in the
 * smallest segment, unless others keep that anyway.
 */
#include "fixture.h"

enum { LOOKS = 16, PART = 32, PIECES = 8 };

static struct gm_arena *arena;
static struct gm_extent *small, *large;

/* A segment of 4 MiB with a rest of 512 KiB, and one of so many with 256. */
static void begin(const char *vm, size_t mib)
{
	option("vm", vm);
	must(gm_device_open("host:0", &device));
	heap_start();
	arena = arena_of(NULL);
	small = block(arena, 3584 * KIB);
	large = block(arena, mib * MIB - 256 * KIB);
}

static void end(void)
{
	heap_end();
	device_end();
}

/* The extent behind a block is where so many bytes would go. */
static bool is_behind(const struct gm_extent *extent, size_t bytes)
{
	const struct gm_extent *fit = gm_arena_fit(arena, bytes, heap.unit);

	return fit && fit->address == gm_extent_end(extent);
}

static void test_smaller(void)
{
	begin("off", 16);
	is_uint(heap_reserved(), 20 * MIB, "two segments");
	ok(is_behind(small, 64 * KIB), "a small block: in the smaller segment");
	ok(is_behind(small, 256 * KIB), "also what fits the other exactly");
	end();
	begin("off", 8);
	ok(is_behind(small, 8 * MIB / PART - heap.unit),
	   "what is less than that part of a segment");
	ok(is_behind(large, 8 * MIB / PART), "what is not: where it fits best");
	end();
}

static void test_larger(void)
{
	begin("off", 16);
	touch(block(arena, 512 * KIB));
	ok(is_behind(large, 64 * KIB), "there is no other: the larger");
	sound("the larger");
	end();
}

/* Pieces on one side of where it fits best. */
static void test_pieces(void)
{
	begin("off", 16);
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

	begin("off", 16);
	other = block(arena, 512 * KIB);
	front = block(arena, 64 * KIB);
	for (unsigned i = 0; i < count; i++)
		touch(block(arena, 16 * KIB));
	block_give(arena, other);
	block_give(arena, front);
	fit = gm_arena_fit(arena, 64 * KIB, heap.unit);
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
	begin("off", 16);
	for (unsigned i = 2; i < LOOKS; i++)
		touch(block(arena, 16 * MIB - 256 * KIB));
	ok(is_behind(small, 64 * KIB), "so many are looked at");
	touch(block(arena, 16 * MIB - 256 * KIB));
	ok(!is_behind(small, 64 * KIB), "and no more");
	end();
}

static void test_virtual(void)
{
	struct gm_extent *a, *b;

	begin("on", 16);
	a = block(arena, 2 * MIB);
	touch(block(arena, 2 * MIB));
	b = block(arena, 4 * MIB);
	touch(block(arena, 2 * MIB));
	block_give(arena, a);
	block_give(arena, b);
	is_uint((uintptr_t)gm_arena_fit(arena, 64 * KIB, heap.unit),
		(uintptr_t)gm_index_fit(&arena->index, 64 * KIB),
		"with virtual memory: where it fits best");
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
	test_virtual();
	return done_testing();
}
