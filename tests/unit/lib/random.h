/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The world of the random programs: streams and work on them, capture, pools
 * that come and go, and the quiet moment at which everything must be given
 * back. Work runs in the streams' threads and says through `world.spoilt` what
 * it saw; everything else is the main thread's.
 */
#ifndef LIB_RANDOM_H
#define LIB_RANDOM_H

#include "model.h"

struct config {
	const char *name;
	bool vm;
	const char *page, *alignment;
	bool wait, capture, no_streams;
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

static void step_launch(void)
{
	static const struct look nothing;
	unsigned stream = random_stream();

	if (!world.captured[stream] && !world.config->no_streams)
		launch_look(&nothing, stream);
}

/* A pool leaves alone what it knows: so each one is shown the stream first. */
static bool show_stream(unsigned stream)
{
	for (unsigned i = 0; i < model.pools; i++) {
		void *ptr;

		if (gpumem_alloc(model.pool[i].pool, 1, world.stream[stream],
				 &ptr)) {
			model.pool[i].ooms++;
			return false;
		}
		expect(!gpumem_free(ptr, world.stream[stream]), "free");
		model.pool[i].total++;
		if (model.pool[i].requested + 1 > model.pool[i].peak)
			model.pool[i].peak = model.pool[i].requested + 1;
	}
	return true;
}

static void set_capture(unsigned stream, bool on)
{
	expect(!gpumem_host_capture(0, world.stream[stream], on), "capture");
	world.captured[stream] = on;
}

static void end_captures(void)
{
	for (unsigned i = 0; i < world.config->streams; i++)
		if (world.captured[i])
			set_capture(i, false);
}

static void step_capture(void)
{
	unsigned stream = random_stream();

	if (!world.config->capture)
		return;
	if (world.captured[stream])
		set_capture(stream, false);
	else if (show_stream(stream))
		set_capture(stream, true);
}

static void forget_stream(unsigned stream)
{
	for (size_t i = 0; i < model.count; i++)
		if (model.block[i].stream == stream)
			model.block[i].gone = true;
}

/* Destroyed and made anew, or only dropped and used on. */
static void step_drop(void)
{
	unsigned stream = random_stream();
	gpumem_stream *handle = &world.stream[stream];
	bool destroy = stream && one_in(2);
	gpumem_status status;

	if (!stream && world.config->no_streams)
		return;
	status = destroy ? gpumem_stream_destroy(device, *handle)
			 : gpumem_pool_drop_stream(model.pool[0].pool, *handle);
	if (world.captured[stream]) {
		expect(status == GPUMEM_CAPTURING, "a captured stream went");
		return;
	}
	expect(!status, "drop");
	for (unsigned i = 1; i < model.pools && !destroy; i++)
		expect(!gpumem_pool_drop_stream(model.pool[i].pool, *handle),
		       "drop");
	forget_stream(stream);
	if (destroy)
		*handle = new_stream();
}

static void create_pool(unsigned i)
{
	model.pool[i] = (struct model_pool){0};
	expect(!gpumem_pool_create(device, NULL, &model.pool[i].pool),
	       "create a pool");
}

/* Frees all of one pool, with work on it still under way. */
static void free_all(unsigned pool)
{
	for (size_t i = model.count; i-- > 0;) {
		struct model_block *block = &model.block[i];

		if (block->pool != pool)
			continue;
		expect(!gpumem_free((void *)block->address,
				    world.stream[block->stream]),
		       "free");
		model_remove(block);
	}
}

static void step_new_pool(void)
{
	unsigned pool = (unsigned)random_below(model.pools);
	gpumem_pool *p = model.pool[pool].pool;

	if (model.pool[pool].count)
		expect(gpumem_pool_destroy(p, 0) == GPUMEM_BUSY,
		       "a pool with live blocks went");
	end_captures();
	free_all(pool);
	expect(!gpumem_pool_destroy(p, 0), "destroy a pool");
	create_pool(pool);
}

/* Nothing is live or under way: nothing may stay reserved. */
static void step_quiet(void)
{
	end_captures();
	for (unsigned i = 0; i < model.pools; i++)
		free_all(i);
	atomic_store(&world.step, UINT64_MAX);
	for (unsigned i = 0; i < world.config->streams; i++)
		sync_stream(i);
	for (unsigned i = 0; i < model.pools; i++) {
		trim(model.pool[i].pool);
		expect(!reserved_of(model.pool[i].pool),
		       "pool %u keeps %llu bytes when nothing is used", i,
		       (ull)reserved_of(model.pool[i].pool));
	}
	expect(!gpumem_host_used_bytes(0), "the device keeps memory");
	atomic_store(&world.step, model.step);
}

/* After each step; pools that the step did not name may have been trimmed. */
static void check_all(void)
{
	atomic_store(&world.step, model.step);
	for (unsigned i = 0; i < model.pools; i++)
		model_sound(i);
	expect(!atomic_load(&world.spoilt),
	       "work found another's bytes in its block at %#zx",
	       atomic_load(&world.spoilt));
	expect(!gpumem_host_capture_violations(), "a capture was disturbed");
}

static void world_start(const struct config *config)
{
	memset(&world, 0, sizeof(world));
	world.config = config;
	world.capacity = 48 * MIB;
	model.pools = config->pools;
	model.count = 0;
	option("host.page", config->page);
	option("host.alignment", config->alignment);
	option("host.streams", config->no_streams ? "off" : "on");
	option("wait", config->wait ? "on" : "off");
	device_start("48MiB", config->vm);
	for (unsigned i = 1; i < config->streams; i++)
		world.stream[i] = new_stream();
	for (unsigned i = 0; i < config->pools; i++)
		create_pool(i);
}

static void world_end(void)
{
	step_quiet();
	for (unsigned i = 1; i < world.config->streams; i++)
		expect(!gpumem_stream_destroy(device, world.stream[i]),
		       "destroy a stream");
	for (unsigned i = 0; i < model.pools; i++)
		expect(!gpumem_pool_destroy(model.pool[i].pool, 0),
		       "destroy a pool");
	expect(device_end(), "the device keeps memory");
}

#endif
