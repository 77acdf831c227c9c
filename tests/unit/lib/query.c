/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which block an address lies in, and the walk over all of them: order, no gap,
 * no overlap, states, streams and holes, against what the test itself did.
 */
#include "fixture.h"

enum { BLOCKS = 400 };

static struct {
	char *ptr;
	size_t bytes;
	gpumem_stream stream;
} blocks[BLOCKS];

static gpumem_pool *pool;

/* ---- query ---- */

static bool finds(size_t at, size_t offset)
{
	struct gpumem_block found = GPUMEM_INIT(struct gpumem_block);

	return gpumem_query(blocks[at].ptr + offset, &found) == GPUMEM_OK &&
	       found.size == sizeof(found) && found.ptr == blocks[at].ptr &&
	       found.requested_bytes == blocks[at].bytes &&
	       found.bytes >= blocks[at].bytes &&
	       found.stream == blocks[at].stream && found.pool == pool &&
	       found.state == GPUMEM_BLOCK_LIVE;
}

/* The first and the last byte, and some between. */
static bool finds_all_over(size_t at)
{
	bool right = finds(at, 0) && finds(at, blocks[at].bytes - 1);

	for (int i = 0; i < 20; i++)
		right &= finds(at, (size_t)rand() % blocks[at].bytes);
	return right;
}

static size_t random_bytes(void)
{
	size_t r = (size_t)rand();

	switch (r % 4) {
	case 0:
		return 1 + r % 3000;
	case 1:
		return 1 + r % (64 * KIB);
	case 2:
		return 1 + r % (600 * KIB);
	default:
		return 1 + r % (9 * MIB);
	}
}

static void queries(gpumem_stream other)
{
	unsigned long wrong = 0;

	for (size_t i = 0; i < BLOCKS; i++) {
		blocks[i].bytes = random_bytes();
		blocks[i].stream = i % 3 ? NULL : other;
		blocks[i].ptr =
			new_block(pool, blocks[i].bytes, blocks[i].stream);
	}
	for (size_t i = 0; i < BLOCKS; i++)
		wrong += !finds_all_over(i);
	is_uint(wrong, 0, "every byte leads to its block");
}

static void large_query(void)
{
	struct gpumem_block found = GPUMEM_INIT(struct gpumem_block);
	const size_t gib = (size_t)1 << 30;
	char *ptr = new_block(pool, gib + 5, NULL);
	bool right = true;

	for (size_t offset = 0; offset < gib; offset += 37 * MIB + 4097)
		right &= gpumem_query(ptr + offset, &found) == GPUMEM_OK &&
			 found.ptr == ptr;
	ok(right, "inside a block of 1 GiB");
	is_status(gpumem_query(ptr + gib + 4, &found), GPUMEM_OK, "its end");
	is_ptr(found.ptr, ptr, "is its own");
	is_uint(found.requested_bytes, gib + 5, "requested");
	is_uint(found.bytes, gib + 256, "rounded to 256");
	if (!gpumem_query(ptr + found.bytes, &found))
		ok(found.ptr != ptr, "beyond it is another");
	must(gpumem_free(ptr, NULL));
	is_status(gpumem_query(ptr + gib / 2, &found), GPUMEM_BAD_POINTER,
		  "freed: nothing is there");
}

static void other_pools(void)
{
	struct gpumem_block found = GPUMEM_INIT(struct gpumem_block);
	gpumem_pool *other = new_pool(0);
	char *ptr = new_block(other, 100 * KIB, NULL);

	must(gpumem_query(ptr + 99 * KIB, &found));
	is_ptr(found.pool, other, "the pool is that of the block");
	must(gpumem_pool_destroy(other, GPUMEM_DESTROY_FORCE));
	is_status(gpumem_query(ptr + 99 * KIB, &found), GPUMEM_BAD_POINTER,
		  "a pool that is gone has no blocks");
}

/* ---- visit ---- */

struct walk {
	uintptr_t end;
	bool vm;
	unsigned long gaps, overlaps, wrong, live, pending, holes;
	unsigned left; /* to see before it ends */
};

static bool is_known(const struct gpumem_block *at)
{
	for (size_t i = 0; i < BLOCKS; i++)
		if (blocks[i].ptr == at->ptr)
			return blocks[i].bytes == at->requested_bytes &&
			       blocks[i].stream == at->stream;
	return false;
}

static bool step(const struct gpumem_block *at, void *user)
{
	struct walk *walk = user;
	uintptr_t start = (uintptr_t)at->ptr;

	walk->overlaps += start < walk->end;
	walk->gaps += walk->vm && walk->end && start > walk->end;
	walk->end = start + at->bytes;
	walk->wrong +=
		at->bytes == 0 || at->pool != pool || at->size != sizeof(*at);
	if (at->state == GPUMEM_BLOCK_LIVE) {
		walk->live++;
		walk->wrong += !is_known(at);
	} else {
		walk->wrong += at->requested_bytes != 0;
	}
	walk->pending += at->state == GPUMEM_BLOCK_PENDING;
	walk->holes += at->state == GPUMEM_BLOCK_HOLE;
	return --walk->left > 0;
}

static struct walk visit(bool vm)
{
	struct walk walk = {.vm = vm, .left = 1000000};

	must(gpumem_block_visit(pool, step, &walk));
	is_uint(walk.overlaps, 0, "in order, no overlap");
	is_uint(walk.gaps, 0, "no gap");
	is_uint(walk.wrong, 0, "each block is right");
	return walk;
}

static size_t release_some(gpumem_stream stream, size_t one_in)
{
	size_t count = 0;

	for (size_t i = 0; i < BLOCKS; i += one_in) {
		if (!blocks[i].ptr)
			continue;
		must(gpumem_free(blocks[i].ptr,
				 stream ? stream : blocks[i].stream));
		blocks[i].ptr = NULL;
		count++;
	}
	return count;
}

static void states(bool vm, gpumem_stream other)
{
	gpumem_stream third = new_stream();
	struct gate gate;
	struct walk walk = visit(vm);
	size_t freed, pending;

	is_uint(walk.live, BLOCKS, "all blocks are live");
	is_uint(walk.pending, 0, "none pending");
	freed = release_some(NULL, 2);
	is_uint(visit(vm).live, BLOCKS - freed, "some are freed");
	gate_launch(&gate, third, NULL, 0);
	pending = release_some(third, 3);
	walk = visit(vm);
	is_uint(walk.live, BLOCKS - freed - pending, "more are freed");
	is_uint(walk.pending, pending, "and pending");
	gate_open(&gate);
	must(gpumem_stream_sync(device, third));
	(void)trim_all(pool, &other, 1);
	walk = visit(vm);
	is_uint(walk.pending, 0, "they are over");
	is_uint(walk.live, BLOCKS - freed - pending, "the rest is live");
	if (vm)
		ok(walk.holes > 10, "pages that went back are holes");
	else
		is_uint(walk.holes, 0, "segments have no holes");
	must(gpumem_stream_destroy(device, third));
}

static void ends_early(void)
{
	for (unsigned i = 1; i < 12; i++) {
		struct walk walk = {.left = i};

		must(gpumem_block_visit(pool, step, &walk));
		if (walk.left)
			ok(false, "a visit ends after %u blocks", i);
	}
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "and leaves no lock");
}

int main(void)
{
	gpumem_stream other;
	bool vm;

	open_device(120);
	srand(4);
	vm = has_vm();
	pool = new_pool(0);
	other = new_stream();
	queries(other);
	states(vm, other);
	ends_early();
	large_query();
	other_pools();
	(void)release_some(NULL, 1);
	is_uint(trim_all(pool, &other, 1), 0, "a trim gives all back");
	is_uint(visit(vm).live, 0, "no block is left");
	must(gpumem_stream_destroy(device, other));
	must(gpumem_pool_destroy(pool, 0));
	is_uint(gpumem_host_used_bytes(0), 0, "the device is empty");
	must(gpumem_device_close(device));
	return done_testing();
}
