/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A scene for the tests of free memory between fates of a sleep: three streams
 * that are held, so that no work is over unless somebody waits for it, two tags
 * with a word, and a pool that wastes nothing while a stream can wait. Include
 * this once. The main thread only.
 */
#ifndef LIB_SLEEP_HELD_H
#define LIB_SLEEP_HELD_H

#include "sleep.h"

enum { OLD = 0x11, NEW = 0x22 };

static gpumem_pool *pool;
static gpumem_stream a, b, c;
static uint32_t x, y;

LIB_USE gpumem_stream held_stream(void)
{
	gpumem_stream stream = new_stream();

	must(gpumem_host_hold(0, stream, true));
	return stream;
}

LIB_USE void begin(void)
{
	option("waste", "0");
	option("waste_max", "0");
	option("stream_waste", "10%");
	device_start("1GiB", true);
	pool = new_pool(0);
	a = held_stream();
	b = held_stream();
	c = held_stream();
	x = tag_of("x", GPUMEM_SLEEP_DROP);
	y = tag_of("y", GPUMEM_SLEEP_DROP);
}

LIB_USE void end(void)
{
	const gpumem_stream streams[] = {a, b, c};

	sound(pool, "at the end");
	is_uint(trim_all(pool, streams, 3), 0, "all goes back");
	for (int i = 0; i < 3; i++)
		must(gpumem_stream_destroy(device, streams[i]));
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "the device is empty");
}

#endif
