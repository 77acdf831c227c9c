/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What serves an allocation: for each way a scene in which the last allocation
 * is served so and no other way, as the statistics and a recording say.
 */
#include "record.h"

static gpumem_pool *pool;
static gpumem_stream stream;

/* By kind. */
struct counts {
	uint64_t of[GPUMEM_SERVED_COUNT];
};

static struct counts counts_of(const struct gpumem_stats *stats)
{
#define COUNT(name, number, statistic, text)                                   \
	[GPUMEM_SERVED_##name] = stats->served_##statistic,
	return (struct counts){{GPUMEM_SERVED_LIST(COUNT)}};
#undef COUNT
}

/* What the newest allocation of the recording was served by. */
static unsigned recorded(void)
{
	struct recording recording = end();
	unsigned served = GPUMEM_SERVED_COUNT;

	whole(&recording, "a scene");
	for (size_t i = 0; i < recording.count; i++)
		if (recording.event[i].kind == GPUMEM_RECORD_ALLOC)
			served = recording.event[i].served;
	rec_free(&recording);
	return served;
}

/* The allocation of a scene. */
static void *serve(size_t bytes, gpumem_stream on, unsigned kind)
{
	struct gpumem_stats stats = stats_of(pool);
	struct counts before = counts_of(&stats), after;
	void *ptr;

	begin();
	ptr = new_block(pool, bytes, on);
	is_uint(recorded(), kind, "a recording has %s",
		gpumem_served_name(kind));
	stats = stats_of(pool);
	after = counts_of(&stats);
	before.of[kind]++;
	ok(!memcmp(&before, &after, sizeof(after)), "it is counted once: %s",
	   gpumem_served_name(kind));
	ok(!unlawful(&stats), "all are allocations");
	sound(pool, "served by %s", gpumem_served_name(kind));
	return ptr;
}

static void start(bool vm, uint64_t limit_bytes)
{
	device_start("64MiB", vm);
	pool = new_pool(limit_bytes);
	stream = new_stream();
}

static void finish(void)
{
	must(gpumem_stream_sync(device, stream));
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_stream_destroy(device, stream));
	ok(device_end(), "nothing is left");
}

/* ---- one thread, one stream ---- */

static void cached(bool vm)
{
	start(vm, 0);
	must(gpumem_free(serve(1000, NULL, GPUMEM_SERVED_DRIVER), NULL));
	must(gpumem_free(serve(1000, NULL, GPUMEM_SERVED_CACHE), NULL));
	must(gpumem_free(new_block(pool, 3 * MIB, NULL), NULL));
	(void)serve(3 * MIB, NULL, GPUMEM_SERVED_CACHE);
	finish();
}

/* Nothing is reserved but a block that is free, which is far less than there
 * ever was: no page is too few. */
static void own(bool vm)
{
	start(vm, 0);
	must(gpumem_free(new_block(pool, 32 * MIB, NULL), NULL));
	(void)trim(pool);
	must(gpumem_free(new_block(pool, 8 * MIB, NULL), NULL));
	(void)serve(7 * MIB, NULL, GPUMEM_SERVED_CACHES);
	(void)serve(512 * KIB, NULL, GPUMEM_SERVED_OWN);
	finish();
}

/* Free pages lie apart. */
static void moved(void)
{
	void *ptr[8];

	start(true, 0);
	for (int i = 0; i < 8; i++)
		ptr[i] = new_block(pool, 4 * MIB, NULL);
	must(gpumem_pool_set_limit(pool, 32 * MIB));
	for (int i = 0; i < 8; i += 2)
		must(gpumem_free(ptr[i], NULL));
	(void)serve(8 * MIB, NULL, GPUMEM_SERVED_MOVED);
	finish();
}

/* A segment is too small, and nothing of it is used. */
static void exchanged(void)
{
	option("segment_waste", "0");
	option("segment_wait_ms", "0");
	start(false, 0);
	(void)new_block(pool, 10 * MIB, NULL);
	must(gpumem_free(new_block(pool, 20 * MIB, NULL), NULL));
	(void)serve(30 * MIB, NULL, GPUMEM_SERVED_EXCHANGED);
	finish();
	option("segment_waste", NULL);
	option("segment_wait_ms", NULL);
}

/* ---- several streams ---- */

static void of_others(bool vm)
{
	start(vm, 0);
	must(gpumem_free(new_block(pool, 8 * MIB, stream), stream));
	(void)serve(8 * MIB, NULL, GPUMEM_SERVED_STREAMS);
	finish();
}

static void behind(bool vm)
{
	struct gate gate = {0};
	void *ptr;

	start(vm, 8 * MIB);
	ptr = new_block(pool, 8 * MIB, stream);
	gate_launch(&gate, stream, NULL, 0);
	must(gpumem_free(ptr, stream));
	(void)serve(8 * MIB, NULL, GPUMEM_SERVED_BEHIND);
	ok(!atomic_load(&gate.passed), "the stream is still at work");
	gate_finish(&gate, stream);
	finish();
}

static void pending(bool vm)
{
	void *ptr;

	start(vm, 8 * MIB);
	ptr = new_block(pool, 8 * MIB, NULL);
	must(gpumem_use_on(ptr, stream));
	must(gpumem_free(ptr, NULL));
	must(gpumem_stream_sync(device, stream));
	(void)serve(8 * MIB, NULL, GPUMEM_SERVED_PENDING);
	finish();
}

/* ---- what has to be done first ---- */

static void trimmed(bool vm)
{
	gpumem_pool *other;

	start(vm, 0);
	other = new_pool(0);
	must(gpumem_free(new_block(other, 40 * MIB, NULL), NULL));
	(void)serve(40 * MIB, NULL, GPUMEM_SERVED_TRIMMED);
	must(gpumem_pool_destroy(other, 0));
	finish();
}

static void *given;

static bool give(gpumem_pool *of, const struct gpumem_pressure *pressure,
		 void *user)
{
	(void)of;
	(void)pressure;
	(void)user;
	must(gpumem_free(given, NULL));
	return true;
}

static void asked(bool vm)
{
	start(vm, 8 * MIB);
	given = new_block(pool, 8 * MIB, NULL);
	must(gpumem_pool_pressure_add(pool, give, NULL));
	(void)serve(8 * MIB, NULL, GPUMEM_SERVED_ASKED);
	finish();
}

static void beyond_soft(bool vm)
{
	start(vm, 0);
	must(gpumem_pool_set_soft_limit(pool, 4 * MIB));
	(void)serve(8 * MIB, NULL, GPUMEM_SERVED_SOFT);
	finish();
}

/* No run of slots fits beside a block. */
static void larger(bool vm)
{
	start(vm, 2 * MIB);
	(void)new_block(pool, 2 * MIB - 40 * KIB, NULL);
	(void)serve(14 * KIB, NULL, GPUMEM_SERVED_LARGER);
	finish();
}

static void nothing(void *arg)
{
	(void)arg;
}

/* Without virtual memory, its own work keeps a segment that is too small: up to
 * the limit, or rather than that more is reserved than ever. */
static void waited(const char *segment_wait_ms, uint64_t limit_bytes)
{
	void *ptr;

	option("segment_wait_ms", segment_wait_ms);
	start(false, limit_bytes);
	must(gpumem_host_hold(0, stream, true));
	(void)new_block(pool, 40 * MIB, stream);
	ptr = new_block(pool, 10 * MIB, stream);
	must(gpumem_host_launch(0, stream, nothing, NULL));
	must(gpumem_free(ptr, stream));
	(void)serve(22 * MIB, stream, GPUMEM_SERVED_WAITED);
	must(gpumem_host_hold(0, stream, false));
	finish();
	option("segment_wait_ms", NULL);
}

int main(void)
{
	alarm(60);
	folder_make();
	for (int vm = 0; vm < 2; vm++) {
		cached(vm);
		own(vm);
		of_others(vm);
		behind(vm);
		pending(vm);
		trimmed(vm);
		asked(vm);
		beyond_soft(vm);
		larger(vm);
	}
	moved();
	exchanged();
	waited(NULL, 0);
	waited("0", 62 * MIB);
	folder_remove();
	return done_testing();
}
