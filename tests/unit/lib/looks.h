/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The work of the random programs: fills of blocks, and work that looks whether
 * its block is still what its stream made of it. Work runs in the streams'
 * threads, or where streams are held when the program steps them or waits, so
 * that a seed says all; it says through `world.spoilt` what it saw. Everything
 * else is the main thread's.
 */
#ifndef LIB_LOOKS_H
#define LIB_LOOKS_H

#include "model.h"

struct config {
	const char *name;
	bool vm;
	const char *page, *alignment;
	bool wait, capture, no_streams;
	bool held; /* streams do what is queued when the program steps them */
	unsigned streams, pools;
};

/* Stream 0 is the default one and never goes. */
static struct {
	const struct config *config;
	uint64_t capacity;
	gpumem_stream stream[MODEL_STREAMS];
	bool captured[MODEL_STREAMS];
	_Atomic uint64_t step;	  /* seen by the streams' threads */
	_Atomic uintptr_t spoilt; /* a block that was not its owner's */
	uintptr_t last_freed;
	gpumem_event *event;
} world;

static bool has_value(const unsigned char *at, size_t bytes, uint8_t value)
{
	for (size_t i = 0; i < bytes; i++)
		if (at[i] != value)
			return false;
	return true;
}

static size_t probe_bytes(uint64_t bytes)
{
	return bytes < MODEL_PROBE ? bytes : MODEL_PROBE;
}

static bool probe_is(const void *ptr, uint64_t bytes, uint8_t value)
{
	const unsigned char *at = ptr;
	size_t probe = probe_bytes(bytes);

	return has_value(at, probe, value) &&
	       has_value(at + bytes - probe, probe, value);
}

static unsigned random_stream(void)
{
	return (unsigned)random_below(world.config->streams);
}

/* From one byte to more than there is, with an eye on borders. */
static uint64_t random_bytes(void)
{
	static const unsigned shift[] = {8,  8,	 12, 12, 14, 16, 17,
					 17, 19, 20, 21, 22, 23};
	unsigned pick = (unsigned)random_below(sizeof(shift) / sizeof(*shift));
	uint64_t most = 1ull << shift[pick];

	if (one_in(200))
		return world.capacity / 2 + random_below(world.capacity);
	if (one_in(8))
		return most - 1 + random_below(3);
	return 1 + random_below(most);
}

static void sync_stream(unsigned stream)
{
	if (!world.captured[stream] && !world.config->no_streams)
		expect(!gpumem_stream_sync(device, world.stream[stream]),
		       "sync");
}

/* Work that is queued on `second` from now on comes after that on `first`. */
static void order_streams(unsigned first, unsigned second)
{
	if (!world.config->held) {
		sync_stream(first);
	} else if (!world.captured[second]) {
		expect(!gpumem_event_record(world.event, world.stream[first]),
		       "record");
		expect(!gpumem_stream_wait(device, world.stream[second],
					   world.event),
		       "wait");
	}
}

/* Work that looks whether its block is still what its stream made of it. */
struct look {
	uintptr_t address;
	uint64_t bytes, until; /* a step */
	uint8_t value;
};

/* Busy until some step, or a while: an allocation may be waiting for it. */
static void linger(uint64_t until)
{
	for (int i = 0; i < 10 && atomic_load(&world.step) < until; i++)
		gate_sleep();
}

static void look(void *arg)
{
	struct look *l = arg;

	linger(l->until);
	if (l->address &&
	    !probe_is((const void *)l->address, l->bytes, l->value))
		atomic_store(&world.spoilt, l->address);
	free(l);
}

static void launch_look(const struct look *wanted, unsigned stream)
{
	struct look *l = malloc(sizeof(*l));

	if (!l)
		bail("no memory for a launch");
	*l = *wanted;
	/* A held stream is as late as it is stepped. */
	if (!world.config->held)
		l->until = model.step + (one_in(4) ? random_below(200) : 0);
	expect(!gpumem_host_launch(0, world.stream[stream], look, l), "launch");
}

static void look_at_block(const struct model_block *block, unsigned stream)
{
	const struct look wanted = {.address = block->address,
				    .bytes = block->bytes,
				    .value = block->value};

	if (!world.captured[stream] && !world.config->no_streams)
		launch_look(&wanted, stream);
}

/* The first `bytes` of a block are still what it was filled with. */
static void verify_block(const struct model_block *block, uint64_t bytes)
{
	struct model_block part = *block;

	part.bytes = bytes;
	if (world.config->held && !block->gone) {
		look_at_block(&part, block->stream);
		return;
	}
	sync_stream(block->stream);
	expect(probe_is((void *)block->address, bytes, block->value),
	       "the block at %#zx has lost its content", block->address);
}

/* Both ends of the block, and then work that reads them. */
static void fill_block(struct model_block *block)
{
	gpumem_stream stream = world.stream[block->stream];
	size_t probe = probe_bytes(block->bytes);
	char *ptr = (char *)block->address;

	if (world.captured[block->stream])
		return;
	block->value = (uint8_t)random_number();
	block->filled = true;
	expect(!gpumem_fill(device, ptr, block->value, probe, stream) &&
		       !gpumem_fill(device, ptr + block->bytes - probe,
				    block->value, probe, stream),
	       "fill");
	look_at_block(block, block->stream);
}

/* Held streams are stepped here and there, some behind by a lot. */
static void step_streams(void)
{
	unsigned stream = random_stream();
	gpumem_stream handle = world.stream[stream];
	uint64_t queued = gpumem_host_queued(0, handle);
	uint64_t behind = random_below(1ull << random_below(9));

	if (world.config->held && queued > behind)
		expect(!gpumem_host_step(0, handle, queued - behind), "step");
}

static void step_launch(void)
{
	static const struct look nothing;
	unsigned stream = random_stream();

	if (!world.captured[stream] && !world.config->no_streams)
		launch_look(&nothing, stream);
}

#endif
