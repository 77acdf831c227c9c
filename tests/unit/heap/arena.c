/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Arenas: finding, cutting and merging. When free memory is completed is in
 * fence.c, how it passes from stream to stream in transfer.c. */
#include "fixture.h"

static void test_find(void)
{
	char a, b;
	struct gm_arena *arena = arena_of(&a), *other = arena_of(&b);

	is_ptr(arena_of(&a), arena, "a stream has one arena");
	ok(other != arena && arena_of(NULL) != arena, "and not another's");
	is_ptr(gm_arena_find(&heap, &a), arena, "which is found");
	is_ptr(gm_arena_find(&heap, &arena), NULL, "if there is one");
	gm_arenas_drop(arena);
	is_ptr(gm_arena_find(&heap, &a), NULL, "not when it was dropped");
	ok(arena_of(&a) != arena, "a new stream of that name has a new one");
	heap_end();
	heap_start();
}

static size_t largest(const struct gm_arena *arena)
{
	const struct gm_extent *extent = gm_index_largest(&arena->index);

	return extent ? extent->bytes : 0;
}

/* Random sizes and alignments out of a fixed amount of memory. */
static void test_carve(void)
{
	enum { BLOCKS = 64 };
	static struct gm_extent *live[BLOCKS];
	struct gm_arena *arena = arena_of(NULL);
	long rounds = scaled(20000, 2000), unsound = 0;
	size_t bytes = 0, free_bytes, alignment = 1;
	unsigned wrong = 0;

	must(heap_grow(&heap, arena, 16 * MIB, heap.unit));
	free_bytes = arena->index.bytes;
	for (long i = 0; i < rounds; i++) {
		struct gm_extent **at = &live[chance(BLOCKS)];

		if (*at) {
			free_bytes += (*at)->bytes;
			block_give(arena, *at);
			*at = NULL;
		} else {
			bytes = GM_SMALL_MAX + heap.unit * (1 + chance(2048));
			alignment = heap.unit << chance(13);
			*at = block_fit(arena, bytes, alignment);
			wrong += !*at && largest(arena) >= bytes + alignment;
		}
		if (*at) {
			wrong += (*at)->bytes != bytes;
			wrong += (*at)->address % alignment != 0;
			free_bytes -= bytes;
		}
		wrong += arena->index.bytes != free_bytes;
		if (i % 64 == 0)
			unsound += heap_check() != GPUMEM_OK;
	}
	is_uint(wrong, 0, "blocks are exact, aligned, and found if they fit");
	is_int(unsound, 0, "and nothing is lost between them");
	for (int i = 0; i < BLOCKS; i++) {
		if (live[i])
			block_give(arena, live[i]);
		live[i] = NULL;
	}
	is_uint(arena->index.count, 1, "all given back, it is one piece");
	heap_end();
	heap_start();
}

/* Neighbours merge if they are of one stream, and the newest free counts. */
static void test_merge(void)
{
	char name;
	struct gm_arena *arena = arena_of(NULL), *other = arena_of(&name);
	struct gm_extent *block_[5], *merged;
	uint64_t seqno;

	for (int i = 0; i < 5; i++)
		block_[i] = block(arena, MIB);
	block_give(arena, block_[0]);
	block_give(other, block_[2]);
	block_give(arena, block_[1]);
	seqno = arena->seqno;
	ok(gm_extent_is(block_[2], GM_EXTENT_FREE) && block_[2]->bytes == MIB,
	   "another stream's free memory is not joined");
	merged = block_[0];
	is_ptr(gm_arena_fit(arena, NULL, 2 * MIB, heap.unit), merged,
	       "a stream's own is");
	is_uint(merged->seqno, seqno, "the newest free counts");
	must(gm_nodes_reserve(&heap.nodes, 2));
	merged = gm_arena_carve(merged, MIB, heap.unit);
	is_uint(next_of(merged)->seqno, seqno, "in what is left of it too");
	gm_arena_insert(arena, merged);
	is_uint(arena->seqno, seqno, "putting back is no free");
	is_uint(block_[0]->seqno, seqno, "and keeps the seqno");
	is_uint(block_[0]->bytes, 2 * MIB, "and merges");
	must(gm_nodes_reserve(&heap.nodes, 2));
	merged = gm_arena_carve(merged, MIB, heap.unit);
	gm_extent_set(merged, GM_EXTENT_LARGE);
	gm_arena_release(arena,
			 gm_arena_carve(next_of(merged), MIB, heap.unit));
	gm_arena_insert(arena, merged);
	is_uint(block_[0]->seqno, seqno + 1, "though the newest is behind");
	seqno = arena->seqno;
	block_give(other, block_[3]);
	ok(other->seqno > seqno && other->seqno == heap.seqno &&
		   block_[2]->seqno == other->seqno &&
		   block_[2]->bytes == 2 * MIB,
	   "sequence numbers are the whole heap's");
	sound("merged");
	heap_end();
	heap_start();
}

static void test_merge_front(void)
{
	struct gm_arena *arena = arena_of(NULL);
	struct gm_extent *first = block(arena, MIB), *second;

	second = block(arena, MIB);
	block(arena, MIB);
	block_give(arena, second);
	block_give(arena, first);
	ok(first->bytes == 2 * MIB && first->seqno == arena->seqno,
	   "whichever is freed first, the newest free counts");
	sound("merged to the front");
	heap_end();
	heap_start();
}

int main(void)
{
	alarm(60);
	device_start();
	heap_start();
	test_find();
	test_carve();
	test_merge();
	test_merge_front();
	heap_end();
	device_end();
	return done_testing();
}
