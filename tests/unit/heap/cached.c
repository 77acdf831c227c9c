/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Large blocks in the caches of threads: used again for their size, as many and
 * as large as there is room for. */
#include "fixture.h"

static struct gm_arena *arena;
static struct gm_local *local;

static void restart(void)
{
	if (arena)
		heap_end();
	heap_start();
	arena = arena_of(NULL);
	must(gm_local_of(&heap, arena, &local));
}

/* A large block as the user has it. */
static char *large(size_t bytes)
{
	return (char *)block(arena, bytes)->address;
}

static void test_large(void)
{
	char *a = large(MIB), *b = large(2 * MIB);
	struct gm_extent *extent = (struct gm_extent *)gm_map_get((uintptr_t)a);

	ok(!gm_local_free(a + 256, NULL) && !gm_local_free(a + MIB / 2, NULL),
	   "not its beginning");
	ok(!gm_local_free(a, &arena), "freed on another stream");
	extent->more = GM_MORE_SHARED;
	ok(!gm_local_free(a, NULL), "used by other streams");
	extent->more = 0;
	extent->arena = arena_of(&arena);
	ok(!gm_local_free(a, NULL), "another stream's block");
	extent->arena = arena;
	ok(gm_local_free(a, NULL) && gm_local_free(b, NULL), "large and freed");
	ok(!gm_local_free(a, NULL), "but once");
	is_uint(gm_locals_cached_bytes(&heap), 3 * MIB, "both are ready");
	sound("large ones ready");
	ok(!gm_local_alloc(&heap, MIB + 1, NULL) &&
		   !gm_local_alloc(&heap, MIB - 256, NULL) &&
		   !gm_local_alloc(&heap, 2 * MIB, &arena),
	   "not for another size or stream");
	is_ptr(gm_local_alloc(&heap, MIB - 255, NULL), a,
	       "for what rounds to its size");
	is_uint(extent->requested, MIB - 255, "as which it is known");
	ok(gm_extent_is(extent, GM_EXTENT_LARGE), "and live");
	is_ptr(gm_local_alloc(&heap, 2 * MIB, NULL), b, "each for its own");
	ok(!gm_local_alloc(&heap, 2 * MIB, NULL), "and once");
	sound("large ones live");
	is_uint(heap.counters.requested.current, 3 * MIB - 255,
		"requested bytes");
	ok(gm_local_free(a, NULL) && gm_local_free(b, NULL), "freed again");
	gm_local_flush(local);
	is_uint(gm_map_get((uintptr_t)a) | gm_map_get((uintptr_t)b), 0,
		"flushed, the map forgets them");
	is_uint(arena->index.count, 1, "and all is in one piece");
	sound("large ones flushed");
}

/* Blocks whose sizes have their place in common. */
static void test_large_sets(void)
{
	size_t bytes = MIB + heap.unit;
	char *a = large(MIB), *b;

	while (gm_cached_set_of(&local->cached, bytes) !=
	       gm_cached_set_of(&local->cached, MIB))
		bytes += heap.unit;
	b = large(bytes);
	ok(gm_local_free(b, NULL), "a block of %zu bytes", bytes);
	ok(!gm_local_alloc(&heap, MIB, NULL), "is not one of 1 MiB");
	ok(gm_local_free(a, NULL), "which goes to the same place");
	is_ptr(gm_local_alloc(&heap, bytes, NULL), b, "each goes out");
	is_ptr(gm_local_alloc(&heap, MIB, NULL), a, "as what it is");
	ok(gm_local_free(a, NULL) && gm_local_free(b, NULL), "freed again");
	is_ptr(gm_local_alloc(&heap, MIB, NULL), a, "in the other order");
	is_ptr(gm_local_alloc(&heap, bytes, NULL), b, "too");
	sound("one place");
}

/* Only so many of a size, and so much of all; then room has to be made. */
static void test_large_room(void)
{
	char *ptr[GM_CACHED_WAYS + 1], *big = large(GM_CACHED_BYTES);
	int back = 0;

	for (int i = 0; i <= GM_CACHED_WAYS; i++)
		ptr[i] = large(MIB);
	ok(gm_local_free(big, NULL), "one as large as all may be");
	ok(!gm_local_free(ptr[0], NULL), "then there is no room");
	gm_local_make_room(local, MIB);
	is_uint(gm_locals_cached_bytes(&heap), 0, "room is made");
	is_uint(gm_map_get((uintptr_t)big), 0, "by giving the large one back");
	while (back <= GM_CACHED_WAYS && gm_local_free(ptr[back], NULL))
		back++;
	is_int(back, GM_CACHED_WAYS, "so many of a size, and no more");
	sound("full");
	gm_local_make_room(local, MIB);
	ok(gm_cached_has_room(&local->cached, MIB) &&
		   gm_local_free(ptr[GM_CACHED_WAYS], NULL),
	   "room is made for the next");
	sound("after making room");
	gm_local_make_room(local, GM_CACHED_BYTES);
	is_uint(gm_locals_cached_bytes(&heap), 0, "and for the largest");
	sound("empty");
}

/* One of any size beyond what is kept by size, which it takes no room from. */
static void test_huge(void)
{
	const size_t bytes = GM_CACHED_BYTES + heap.unit;
	char *huge = large(bytes), *other = large(40 * MIB);
	char *common = large(GM_CACHED_BYTES);

	ok(gm_local_free(huge, NULL), "a huge block is freed");
	ok(gm_local_free(common, NULL), "and leaves room for others");
	ok(!gm_local_free(other, NULL), "but not for a second one");
	is_uint(gm_locals_cached_bytes(&heap), bytes + GM_CACHED_BYTES,
		"both are ready");
	is_uint(gm_locals_largest_bytes(&heap), bytes, "the largest");
	sound("a huge one ready");
	ok(!gm_local_alloc(&heap, 40 * MIB, NULL), "not for another size");
	is_ptr(gm_local_alloc(&heap, bytes, NULL), huge, "for its own");
	ok(!gm_local_alloc(&heap, bytes, NULL), "and once");
	is_uint(gm_locals_largest_bytes(&heap), GM_CACHED_BYTES,
		"then the other one is");
	ok(gm_local_free(huge, NULL), "freed again");
	gm_local_make_room(local, 40 * MIB);
	is_uint(gm_locals_cached_bytes(&heap), GM_CACHED_BYTES,
		"room is made by giving it back");
	is_uint(gm_map_get((uintptr_t)huge), 0, "which the map forgets");
	ok(gm_local_free(other, NULL), "and the other may be");
	gm_locals_flush_huge(&heap);
	is_uint(gm_locals_cached_bytes(&heap), GM_CACHED_BYTES,
		"who needs memory gets it back, and no other");
	is_ptr(gm_local_alloc(&heap, GM_CACHED_BYTES, NULL), common,
	       "which the cache has");
	ok(!gm_local_holds(local), "and nothing else");
	huge = large(bytes);
	ok(gm_local_free(huge, NULL) && gm_local_holds(local),
	   "a huge one alone is something");
	gm_local_flush(local);
	ok(!gm_local_holds(local), "until all goes");
	sound("no huge one");
}

/* A heap may end with cached blocks. */
static void test_end(void)
{
	char *ptr = large(MIB), *huge = large(40 * MIB);

	ok(gm_local_free(ptr, NULL) && gm_local_free(huge, NULL),
	   "ready at the end");
	heap_end();
	is_uint(gm_map_get((uintptr_t)ptr) | gm_map_get((uintptr_t)huge), 0,
		"the map forgets them");
	heap_start();
	ok(!gm_local_alloc(&heap, MIB, NULL), "and so does the thread");
	arena = arena_of(NULL);
	must(gm_local_of(&heap, arena, &local));
	ok(!gm_local_alloc(&heap, MIB, NULL), "with a new cache too");
	is_uint(local->cached.bytes + local->cached.huge_bytes, 0,
		"which is empty");
}

int main(void)
{
	alarm(60);
	/* More than the other rooms need: huge blocks are of 33 MiB and more.
	 */
	option("host.capacity", "256MiB");
	must(gm_device_open("host:0", &device));
	restart();
	test_large();
	restart();
	test_large_sets();
	restart();
	test_large_room();
	restart();
	test_huge();
	restart();
	test_end();
	heap_end();
	device_end();
	return done_testing();
}
