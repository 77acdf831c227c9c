/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A thread that allocates and frees on streams of its own and on common ones,
 * frees what others allocated, and has work on the streams look whether the
 * bytes of its blocks are still what it wrote there. Only the thread itself
 * touches its struct.
 */
#include "block.h"

struct worker {
	struct random random;
	gpumem_stream own;
	size_t count;
	struct block held[HELD_MAX];
};

/* ---- steps ---- */

/* Mostly small, some that a cache keeps, a few that it does not. */
static uint64_t random_bytes(struct random *random)
{
	static const unsigned shift[] = {4,  8,	 9,  10, 11, 12, 14,
					 15, 16, 17, 18, 20, 21, 23};
	unsigned pick = (unsigned)random_below(
		random, sizeof(shift) / sizeof(shift[0]));

	return 1 + random_below(random, UINT64_C(1) << shift[pick]);
}

static gpumem_pool *random_pool(struct worker *me)
{
	return world.pool[random_below(&me->random, world.pool_count)];
}

static void take(struct worker *me)
{
	struct block block = {.bytes = random_bytes(&me->random)};
	uint64_t alignment = 0;
	void *ptr = NULL;

	block.shared = one_in(&me->random, 3);
	block.stream = block.shared ? world.shared[random_below(&me->random,
								SHARED_STREAMS)]
				    : me->own;
	if (one_in(&me->random, 16))
		alignment = UINT64_C(1) << random_below(&me->random, 22);
	tally.allocs++;
	if (!took(gpumem_alloc_aligned(random_pool(me), block.bytes, alignment,
				       block.stream, &ptr),
		  "gpumem_alloc")) {
		tally.refused++;
		return;
	}
	block.ptr = ptr;
	if (one_in(&me->random, 3))
		block_fill(&block, (uint8_t)random_next(&me->random));
	me->held[me->count++] = block;
}

/* Where it was allocated, or on a stream that did not know it. A block of
 * another thread's own stream has to go elsewhere: that one may be gone. */
static bool free_block(struct worker *me, const struct block *block, bool mine)
{
	gpumem_stream stream = block->stream;

	if (!(mine || block->shared) || one_in(&me->random, 4))
		stream = me->own;
	if (mine || block->shared)
		block_look(block);
	if (!gave(gpumem_free(block->ptr, stream), "gpumem_free"))
		return false;
	tally.frees++;
	return true;
}

static void give(struct worker *me)
{
	struct block *block = &me->held[random_below(&me->random, me->count)];

	if (free_block(me, block, true))
		*block = me->held[--me->count];
}

static void trade(struct worker *me)
{
	struct block other = block_trade(&me->random, &me->held[--me->count]);

	while (other.ptr && !free_block(me, &other, false))
		pause_inside();
}

/* Who had it filled fills its new ends. */
static void resize(struct worker *me)
{
	struct block *block = &me->held[random_below(&me->random, me->count)];
	uint64_t bytes = random_bytes(&me->random);
	gpumem_status status;

	status = gpumem_resize(block->ptr, bytes, block->stream, NULL);
	if (status == GPUMEM_BUSY || !took(status, "gpumem_resize"))
		return;
	tally.resizes++;
	block->bytes = bytes;
	if (block->filled)
		block_fill(block, (uint8_t)random_next(&me->random));
}

static void use_on(struct worker *me)
{
	const struct block *block =
		&me->held[random_below(&me->random, me->count)];
	gpumem_stream stream =
		world.shared[random_below(&me->random, SHARED_STREAMS)];

	gave(gpumem_use_on(block->ptr, stream), "gpumem_use_on");
}

static void query(struct worker *me)
{
	struct gpumem_block info = GPUMEM_INIT(struct gpumem_block);
	const struct block *block =
		&me->held[random_below(&me->random, me->count)];
	const unsigned char *inside =
		block->ptr + random_below(&me->random, block->bytes);

	if (gpumem_query(inside, &info) || info.ptr != block->ptr ||
	    info.requested_bytes != block->bytes)
		finding("a live block is not found");
	if (inside != block->ptr && gpumem_free((void *)(uintptr_t)inside,
						me->own) != GPUMEM_BAD_POINTER)
		finding("a pointer into a block was freed");
}

/* ---- streams and graphs ---- */

static void make_stream(struct worker *me)
{
	me->own = NULL;
	if (took(gpumem_stream_create(world.device, &me->own),
		 "gpumem_stream_create"))
		tally.streams++;
}

/* Its blocks outlive it, and can be freed on other streams. */
static void renew_stream(struct worker *me)
{
	gpumem_stream old = me->own;

	if (!old || !took(gpumem_stream_destroy(world.device, old),
			  "gpumem_stream_destroy"))
		return;
	make_stream(me);
	for (size_t i = 0; i < me->count; i++)
		if (!me->held[i].shared) {
			me->held[i].stream = me->own;
			me->held[i].filled = false;
		}
}

/* A pool leaves captures alone that it knows: each one is shown the stream. */
static bool show_stream(const struct worker *me)
{
	for (unsigned i = 0; i < world.pool_count; i++) {
		void *ptr;

		if (!took(gpumem_alloc(world.pool[i], 1, me->own, &ptr),
			  "gpumem_alloc"))
			return false;
		while (!gave(gpumem_free(ptr, me->own), "gpumem_free"))
			pause_inside();
	}
	return true;
}

static void capture_some(struct worker *me, gpumem_pool *pool)
{
	void *ptr[8] = {NULL};

	for (int i = 0; i < 8; i++)
		if (!took(gpumem_alloc(pool, random_bytes(&me->random), me->own,
				       &ptr[i]),
			  "gpumem_alloc while capturing"))
			ptr[i] = NULL;
	for (int i = 0; i < 8; i++)
		while (!gave(gpumem_free(ptr[i], me->own),
			     "gpumem_free while capturing"))
			pause_inside();
}

static void run_graph(struct worker *me)
{
	gpumem_pool *pool = random_pool(me);
	gpumem_graph *graph;
	gpumem_status status;

	if (!me->own || !show_stream(me) ||
	    !took(gpumem_graph_create(pool, &graph), "gpumem_graph_create"))
		return;
	if (took(gpumem_graph_begin(graph, me->own), "gpumem_graph_begin")) {
		begin_capture(me->own);
		capture_some(me, pool);
		took(gpumem_host_capture(0, me->own, false),
		     "gpumem_host_capture");
		took(gpumem_graph_end(graph, me->own), "gpumem_graph_end");
		tally.graphs++;
	}
	for (;;) {
		status = gpumem_graph_destroy(graph, me->own);
		if (took(status, "gpumem_graph_destroy") ||
		    status == GPUMEM_LOST)
			return;
		pause_inside();
	}
}

/* ---- the thread ---- */

static void step(struct worker *me)
{
	uint64_t pick = random_below(&me->random, 200);

	if (pick == 0)
		renew_stream(me);
	else if (pick == 1 && world.captures && !world.lossy)
		run_graph(me);
	else if (!me->count || (me->count < HELD_MAX && pick < 100))
		take(me);
	else if (pick < 180)
		give(me);
	else if (pick < 190)
		trade(me);
	else if (pick < 194)
		use_on(me);
	else if (pick < 197)
		resize(me);
	else
		query(me);
}

void *worker_run(void *arg)
{
	struct worker me = {0};

	random_start(&me.random, world.number, (uintptr_t)arg + 1);
	enter();
	make_stream(&me);
	leave();
	for (uint64_t i = 0; i < world.steps; i++) {
		enter();
		step(&me);
		leave();
	}
	enter();
	while (me.count) {
		give(&me);
		pause_inside();
	}
	while (me.own) {
		gpumem_status status =
			gpumem_stream_destroy(world.device, me.own);

		if (took(status, "gpumem_stream_destroy") ||
		    status == GPUMEM_LOST)
			me.own = NULL;
		else
			pause_inside();
	}
	leave();
	return NULL;
}
