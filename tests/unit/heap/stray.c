/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Pointers to no block, in 16 KiB where a block of somebody else begins: what
 * lies there may be freed while the pointer is looked up without the mutex. */
#include "fixture.h"
#include "heap/block.h"

enum { GRANULE = 1 << GM_GRANULE_SHIFT };

static struct gm_extent *first, *second;

/* Two blocks, of which the second begins in the last 16 KiB of the first. */
static void make(void)
{
	struct gm_arena *arena = arena_of(NULL);

	first = block(arena, GRANULE + GRANULE / 2);
	second = block(arena, MIB);
	if (next_of(first) != second)
		bail("the blocks do not lie beside each other");
}

static void *inside(void)
{
	return (void *)(second->address - GRANULE / 4);
}

static void end(void)
{
	block_give(first->arena, first);
	heap_end();
}

/* As if the entry had been read just before the block was freed. */
static void test_freed(void)
{
	uintptr_t address = second->address;

	ok(gm_extent_heap(second) == &heap, "a live extent has its heap");
	block_give(second->arena, second);
	ok(!gm_extent_heap(second), "a free one has none, but a number");
	gm_map_set(address, (uintptr_t)second);
	is_status(gm_heap_free((void *)address, NULL), GPUMEM_BAD_POINTER,
		  "what was freed is not freed again");
	is_status(gm_heap_free(inside(), NULL), GPUMEM_BAD_POINTER,
		  "nor is what lies beside it");
	gm_map_set(address, 0);
	sound("and the heap is in order");
}

static _Atomic bool stop;

/* The block goes and comes as under any call that takes the slow path. */
static void *come_and_go(void *unused)
{
	(void)unused;
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		pthread_mutex_lock(&heap.mutex);
		block_give(second->arena, second);
		second = block(arena_of(NULL), MIB);
		pthread_mutex_unlock(&heap.mutex);
	}
	return NULL;
}

static void test_beside(void)
{
	long rounds = scaled(200000, 2000), refused = 0;
	void *ptr = inside();
	pthread_t thread;

	pthread_create(&thread, NULL, come_and_go, NULL);
	for (long i = 0; i < rounds; i++)
		refused += gm_heap_free(ptr, NULL) == GPUMEM_BAD_POINTER;
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	is_int(refused, rounds,
	       "a pointer beside a block that comes and goes "
	       "is never one");
	sound("and the heap is in order");
}

int main(void)
{
	alarm(60);
	device_start();
	heap_start();
	make();
	test_freed();
	second = block(first->arena, MIB);
	test_beside();
	block_give(second->arena, second);
	end();
	device_end();
	return done_testing();
}
