/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A program that does a little of everything and takes every failure as it
 * comes: for sweeps that make one call after the other fail below it. It keeps
 * its own counters; what must hold whatever failed is said by want(), which
 * stops the sweep. Its streams may lag behind (late.h). Only the main thread
 * calls what is here.
 */
#ifndef LIB_WORKLOAD_H
#define LIB_WORKLOAD_H

#include "late.h"

enum { WORK_BLOCKS = 64, WORK_POOLS = 2, WORK_STREAMS = 2 };

struct work_block {
	void *ptr;
	size_t bytes;
	unsigned pool;
};

static struct {
	const char *mode;
	unsigned long nth;	/* the call that fails */
	gpumem_status injected; /* with what */
	bool free_may_fail;	/* for host memory */
	bool broken;
	bool leaked; /* a pool ended and said that it could not
			give all back */
	gpumem_pool *pool[WORK_POOLS];
	gpumem_stream stream[WORK_STREAMS];
	struct work_block block[WORK_BLOCKS];
	unsigned count;
	struct gate gate;
	bool moved, pended, asked; /* what a run has seen so far */
} work;

#define want(condition, ...)                                                   \
	do {                                                                   \
		if (!(condition))                                              \
			work_broken(TAP_HERE, #condition, __VA_ARGS__);        \
	} while (0)

TAP_PRINTF(3, 4)
void work_broken(const char *at, const char *condition, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!work.broken)
		diag("%s, call %lu: %s\n  %s: false: %s\n  last error: %s",
		     work.mode, work.nth, text, at, condition, last_text());
	work.broken = true;
}

/* Whether a status is one that the call may have: OK, one of `list`, or what
 * was injected, unless the list begins with '!'. */
static bool status_fits(const char *call, gpumem_status status,
			const char *list)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	const char *name = gpumem_status_name(status);

	if (!status)
		return true;
	gpumem_last_error(&error);
	want(error.status == status, "%s gave %s but the last error is %s",
	     call, name, gpumem_status_name(error.status));
	want(strstr(list, name + strlen("GPUMEM_")) ||
		     (list[0] != '!' && status == work.injected),
	     "%s gave %s", call, name);
	return false;
}

#define tried(call, list) status_fits(#call, (call), (list))

static const char alloc_list[] = "NO_MEMORY LIMIT";

/* Returns the block's number, or -1. */
static int work_alloc(unsigned pool, size_t bytes, gpumem_stream stream)
{
	void *ptr = &work;

	if (!work.pool[pool] || work.count == WORK_BLOCKS)
		return -1;
	if (!tried(gpumem_alloc(work.pool[pool], bytes, stream, &ptr),
		   alloc_list)) {
		want(ptr == &work, "a failure wrote its output");
		return -1;
	}
	late_step(stream);
	work.block[work.count] = (struct work_block){ptr, bytes, pool};
	return (int)work.count++;
}

/* True when it is gone. */
static bool work_free(unsigned number, gpumem_stream stream)
{
	struct work_block *block = &work.block[number];

	if (number >= work.count || !tried(gpumem_free(block->ptr, stream),
					   work.free_may_fail ? "" : "!"))
		return false;
	*block = work.block[--work.count];
	return true;
}

/* The last ones: all but `keep` of them, if they can be freed. */
static void work_free_to(unsigned keep, gpumem_stream stream)
{
	while (work.count > keep)
		if (!work_free(work.count - 1, stream))
			return;
}

static void work_resize(unsigned number, size_t bytes, gpumem_stream stream)
{
	struct work_block *block = &work.block[number];
	uint64_t usable = 7;

	if (number >= work.count)
		return;
	if (tried(gpumem_resize(block->ptr, bytes, stream, &usable), "BUSY"))
		block->bytes = bytes;
	else
		want(usable == 7, "a failure wrote its output");
}

static void work_streams(void)
{
	late_hold(NULL);
	for (unsigned i = 0; i < WORK_STREAMS; i++) {
		if (tried(gpumem_stream_create(device, &work.stream[i]), ""))
			late_hold(work.stream[i]);
		else
			work.stream[i] = NULL;
	}
}

static bool under_pressure(gpumem_pool *pool,
			   const struct gpumem_pressure *pressure, void *user)
{
	(void)pool;
	(void)pressure;
	(void)user;
	work.asked = true;
	return false;
}

static void work_pools(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);

	for (unsigned i = 0; i < WORK_POOLS; i++) {
		config.page_bytes = i ? 1 * MIB : 0;
		if (!tried(gpumem_pool_create(device, &config, &work.pool[i]),
			   ""))
			work.pool[i] = NULL;
		else
			tried(gpumem_pool_pressure_add(work.pool[i],
						       under_pressure, NULL),
			      "");
	}
}

static void work_look(unsigned pool)
{
	struct gpumem_stats stats;

	if (!work.pool[pool])
		return;
	stats = stats_of(work.pool[pool]);
	work.moved |= stats.moved_bytes > 0;
	work.pended |= stats.pending_bytes > 0;
}

/* Blocks of all sizes; the first stays live and is written by a stream. */
static void work_blocks(void)
{
	static const size_t bytes[] = {1000,	300,	 40000,	  100000,
				       3 * MIB, MIB / 2, 5 * MIB, 4096};
	gpumem_stream s = work.stream[0];
	int first = work_alloc(0, 2 * KIB, NULL);

	if (first == 0) {
		tried(gpumem_fill(device, work.block[0].ptr, 7, 2 * KIB, NULL),
		      "");
		tried(gpumem_copy(device, work.block[0].ptr,
				  (char *)work.block[0].ptr + KIB, KIB, NULL),
		      "");
	}
	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		work_alloc(i % 2, bytes[i], i < 5 ? s : NULL);
	for (unsigned i = 1; i < work.count; i++)
		tried(gpumem_use_on(work.block[i].ptr, work.stream[1]),
		      work.free_may_fail ? "" : "!");
	work_free_to(work.count > 4 ? work.count - 3 : 1, s);
}

/* Up, down, and on another stream. */
static void work_resizes(void)
{
	for (unsigned i = 0; i < work.count; i++) {
		size_t bytes = work.block[i].bytes;

		work_resize(i, bytes + bytes / 64 + 3 * MIB * (i % 2),
			    work.stream[0]);
		work_resize(i, bytes / 2 + 1, work.stream[0]);
		work_resize(i, bytes, work.stream[1]);
	}
}

static void work_trim(unsigned pool, uint64_t keep)
{
	if (work.pool[pool])
		tried(gpumem_pool_trim(work.pool[pool], keep, NULL), "DRIVER");
}

/* Frees on a busy stream, then everything else needs memory. One that lags
 * behind is busy anyway. */
static void work_busy(void)
{
	gpumem_stream s = work.stream[0];
	int a = work_alloc(0, 3 * MIB, s), b = work_alloc(0, 2 * KIB, s);

	work.gate.bytes = 0;
	atomic_store(&work.gate.open, false);
	if (!late_by)
		tried(gpumem_host_launch(0, s, gate_wait, &work.gate), "");
	if (b >= 0)
		work_free((unsigned)b, s);
	if (a >= 0)
		work_free((unsigned)a, work.stream[1]);
	work_look(0);
	work_alloc(0, 3 * MIB, NULL);
	work_trim(0, 0);
	work_free_to(2, work.stream[1]);
	work_alloc(0, 100, work.stream[1]);
	gate_open(&work.gate);
	tried(gpumem_stream_sync(device, s), "");
}

/* Every second block of a full pool is freed; one larger than two holes comes
 * in: pages are moved, or segments freed. What the stream has done by then is
 * stolen, what it has not is lent, so that pages move however late its thread
 * is. The last block takes the place of each that is freed. */
static void work_holes(void)
{
	unsigned first = work.count;

	for (unsigned i = 0; i < 7; i++)
		work_alloc(0, 2 * MIB, work.stream[1]);
	if (work.pool[0])
		tried(gpumem_pool_set_soft_limit(work.pool[0], 8 * MIB), "");
	if (work.pool[0])
		tried(gpumem_pool_set_limit(work.pool[0], 20 * MIB), "BUSY");
	for (unsigned i = first; i + 1 < work.count; i += 2)
		work_free(i, work.stream[1]);
	work_alloc(0, 5 * MIB, work.stream[1]);
	work_alloc(0, 5 * MIB, NULL);
	work_look(0);
	if (work.pool[0])
		tried(gpumem_pool_set_limit(work.pool[0], 0), "");
	if (work.pool[0])
		tried(gpumem_pool_set_soft_limit(work.pool[0], 0), "");
}

/* More than there is, with something pending, from the pool that waits. */
static void work_full(void)
{
	int block = work_alloc(1, 6 * MIB, work.stream[0]);

	if (block >= 0)
		work_free((unsigned)block, work.stream[1]);
	for (unsigned i = 0; i < 5; i++)
		work_alloc(1, 8 * MIB, NULL);
	work_trim(1, 4 * MIB);
}

static void work_drop(void)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);

	if (work.pool[0])
		tried(gpumem_pool_drop_stream(work.pool[0], work.stream[0]),
		      "");
	if (work.stream[1] &&
	    tried(gpumem_stream_destroy(device, work.stream[1]), ""))
		work.stream[1] = NULL;
	work_alloc(0, MIB, work.stream[0]);
	tried(gpumem_device_memory(device, &memory), "");
}

/* By force: its blocks go with it. Whatever it says, the pool is gone. */
static void work_end_pool(void)
{
	unsigned kept = 0;

	if (!work.pool[1])
		return;
	late_go(NULL);
	for (unsigned i = 0; i < WORK_STREAMS; i++)
		late_go(work.stream[i]);
	if (!tried(gpumem_pool_destroy(work.pool[1], GPUMEM_DESTROY_FORCE),
		   "DRIVER"))
		work.leaked = true;
	work.pool[1] = NULL;
	for (unsigned i = 0; i < work.count; i++)
		if (work.block[i].pool != 1)
			work.block[kept++] = work.block[i];
	work.count = kept;
}

/* Says whether the runs did what they are meant to do. */
LIB_USE void work_seen(bool vm)
{
	ok(work.moved || !vm, "%s: pages were moved", work.mode);
	ok(work.pended, "%s: blocks were pending", work.mode);
	ok(work.asked, "%s: the program was asked for help", work.mode);
	work.moved = work.pended = work.asked = false;
}

/* Nothing is left of an earlier run. False: the device did not open. */
LIB_USE bool work_run(void)
{
	gpumem_status status;

	work.count = 0;
	work.leaked = false;
	memset(work.pool, 0, sizeof(work.pool));
	memset(work.stream, 0, sizeof(work.stream));
	device = NULL;
	status = gpumem_device_open("host:0", &device);
	if (!status_fits("device_open", status, ""))
		return false;
	work_streams();
	work_pools();
	work_blocks();
	work_resizes();
	work_busy();
	work_holes();
	work_full();
	work_drop();
	work_end_pool();
	work_trim(0, 0);
	return true;
}

#endif
