/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * One thread with many idle streams: how often the driver is called, what each
 * stream costs in host memory, and that nothing is left of streams that go.
 */
#include "fixture.h"
#include <stdlib.h>

enum { SLOTS = 2000, STREAMS_MAX = 16 };

static uint64_t seed;

static uint64_t drawn(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* 8 KiB to 4 MiB, as many of each doubling. */
static size_t drawn_bytes(void)
{
	size_t bytes = (size_t)8 * KIB << drawn() % 9;

	bytes += drawn() % bytes;
	return bytes < 4 * MIB ? bytes : 4 * MIB;
}

struct slot {
	void *ptr;
	gpumem_stream stream;
};

static void turn(gpumem_pool *pool, struct slot *slot,
		 const gpumem_stream *streams, unsigned count)
{
	if (slot->ptr) {
		must(gpumem_free(slot->ptr, slot->stream));
		slot->ptr = NULL;
		return;
	}
	slot->stream = streams[drawn() % count];
	slot->ptr = new_block(pool, drawn_bytes(), slot->stream);
}

struct outcome {
	uint64_t calls, half_calls; /* of the driver, per 1000 events: of all,
				       of the second half */
	double ratio;		    /* of the peaks of reserved and requested */
};

static struct outcome random_outcome(unsigned count, unsigned events)
{
	static struct slot slots[SLOTS];
	gpumem_stream streams[STREAMS_MAX];
	gpumem_pool *pool = new_pool(0);
	struct gpumem_stats half = stats_of(pool), end;

	seed = 88172645463325252u;
	for (unsigned i = 0; i < count; i++)
		streams[i] = new_stream();
	for (unsigned i = 0; i < events; i++) {
		if (i == events / 2)
			half = stats_of(pool);
		turn(pool, &slots[drawn() % SLOTS], streams, count);
	}
	end = stats_of(pool);
	must(gpumem_pool_check(pool));
	for (unsigned i = 0; i < SLOTS; i++)
		if (slots[i].ptr)
			must(gpumem_free(slots[i].ptr, slots[i].stream));
	for (unsigned i = 0; i < SLOTS; i++)
		slots[i].ptr = NULL;
	must(gpumem_pool_destroy(pool, 0));
	for (unsigned i = 0; i < count; i++)
		must(gpumem_stream_destroy(device, streams[i]));
	return (struct outcome){
		.calls = end.driver_calls * 1000 / events,
		.half_calls =
			(end.driver_calls - half.driver_calls) * 2000 / events,
		.ratio =
			(double)end.reserved.peak / (double)end.requested.peak};
}

/* Of the whole run so many times the calls of one stream, at most, and the
 * peak; without virtual memory fewer calls do, and more memory is taken. */
static void few_calls(void)
{
	static const struct {
		unsigned streams, times;
		uint64_t half_most;
		double ratio;
	} rows[] = {{1, 1, 2, 1.14},
		    {2, 2, 10, 1.17},
		    {4, 4, 20, 1.20},
		    {16, 14, 80, 1.27}};
	const unsigned events = (unsigned)scaled(200000, 20000);
	const bool vm = has_vm();
	uint64_t one = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct outcome is = random_outcome(rows[i].streams, events);

		if (!i)
			one = is.calls + 1; /* it is rounded down */
		if (events != 200000)
			continue;
		ok(is.half_calls <= rows[i].half_most &&
			   (!vm || is.calls <= rows[i].times * one),
		   "%u streams: %llu driver calls per 1000 events, %llu in the "
		   "second half",
		   rows[i].streams, (unsigned long long)is.calls,
		   (unsigned long long)is.half_calls);
		ok(!vm || is.ratio <= rows[i].ratio, "and a peak of %.4f",
		   is.ratio);
	}
}

static void use(gpumem_pool *pool, gpumem_stream stream)
{
	void *large = new_block(pool, 3 * MIB, stream);
	void *small = new_block(pool, 1000, stream);

	must(gpumem_free(large, stream));
	must(gpumem_free(small, stream));
}

/* All are there at once, then go. */
static void many(void)
{
	const unsigned count = (unsigned)scaled(5000, 500);
	gpumem_stream *streams = calloc(count, sizeof(gpumem_stream));
	gpumem_pool *pool = new_pool(0);
	struct gpumem_stats before, after;
	uint64_t released;

	must(gpumem_pool_trim(pool, 0, &released));
	before = stats_of(pool);
	for (unsigned i = 0; i < count; i++) {
		streams[i] = new_stream();
		use(pool, streams[i]);
	}
	after = stats_of(pool);
	ok(after.reserved.peak <= 64 * MIB,
	   "what is free on idle streams serves others");
	ok(after.host_bytes - before.host_bytes < count * 20 * (uint64_t)KIB,
	   "a stream takes %llu bytes of host memory",
	   (unsigned long long)((after.host_bytes - before.host_bytes) /
				count));
	must(gpumem_pool_check(pool));
	for (unsigned i = 0; i < count; i++)
		must(gpumem_stream_destroy(device, streams[i]));
	must(gpumem_pool_trim(pool, 0, &released));
	after = stats_of(pool);
	is_uint(after.reserved.current, 0, "when they are gone, all goes back");
	ok(after.host_bytes <= before.host_bytes + MIB,
	   "and all but %lld bytes of host memory",
	   (long long)(after.host_bytes - before.host_bytes));
	must(gpumem_pool_check(pool));
	must(gpumem_pool_destroy(pool, 0));
	free(streams);
}

/* One after the other. */
static void come_and_go(void)
{
	const unsigned count = (unsigned)scaled(5000, 500);
	gpumem_pool *pool = new_pool(0);
	struct gpumem_stats half = stats_of(pool), end;
	uint64_t released;

	for (unsigned i = 0; i < count; i++) {
		gpumem_stream stream = new_stream();

		use(pool, stream);
		must(gpumem_stream_destroy(device, stream));
		if (i == count / 2)
			half = stats_of(pool);
	}
	end = stats_of(pool);
	ok(end.reserved.current <= half.reserved.current &&
		   end.host_bytes <= half.host_bytes + MIB,
	   "streams that come and go take no more and more");
	must(gpumem_pool_trim(pool, 0, &released));
	is_uint(stats_of(pool).reserved.current, 0, "and leave nothing");
	must(gpumem_pool_destroy(pool, 0));
}

int main(void)
{
	open_device(300);
	few_calls();
	many();
	come_and_go();
	must(gpumem_device_close(device));
	return done_testing();
}
