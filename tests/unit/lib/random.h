/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The world of the random programs: streams, capture, pools that come and go,
 * and the quiet moment at which everything must be given back. The work on the
 * streams is looks.h.
 */
#ifndef LIB_RANDOM_H
#define LIB_RANDOM_H

#include "looks.h"

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

/* The default one is there. */
static void make_stream(unsigned stream)
{
	gpumem_stream *handle = &world.stream[stream];

	if (stream)
		*handle = new_stream();
	if (world.config->held)
		expect(!gpumem_host_hold(0, *handle, true), "hold");
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
		make_stream(stream);
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
	/* It reads a clock. */
	option("decay_ms", config->held ? "0" : NULL);
	device_start("48MiB", config->vm);
	for (unsigned i = 0; i < config->streams; i++)
		make_stream(i);
	if (config->held)
		must(gpumem_event_create(device, &world.event));
	for (unsigned i = 0; i < config->pools; i++)
		create_pool(i);
}

static void world_end(void)
{
	step_quiet();
	if (world.config->held)
		must(gpumem_event_destroy(world.event));
	for (unsigned i = 1; i < world.config->streams; i++)
		expect(!gpumem_stream_destroy(device, world.stream[i]),
		       "destroy a stream");
	for (unsigned i = 0; i < model.pools; i++)
		expect(!gpumem_pool_destroy(model.pool[i].pool, 0),
		       "destroy a pool");
	expect(device_end(), "the device keeps memory");
}

#endif
