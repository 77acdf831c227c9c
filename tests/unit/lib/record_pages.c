/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Recordings say at every moment which addresses have memory, and which memory:
 * replayed, MAP and UNMAP agree with each other, with every block, with the
 * statistics and with what the heap lists when the next recording begins. After
 * the last event, where spare are the handles that are mapped nowhere, of which
 * a heap of fewer than 256 pages keeps none:
 *
 *     mapped == reserved + stale_bytes - spare
 *     what has a later place too == stale_bytes
 *     pages with a place before <= what MOVE and LEND say, which also counts
 *             what a growth that failed gave back
 */
#include "late.h"
#include "places.h"

enum { LIVE = 40, THREADS = 3 };

#define PAGE (2 * MIB)

static struct places then;
static bool no_spare; /* the heap is that small */

/* Ends the recording, which must be right, and compares it with the heap. */
static void judge(gpumem_pool *pool, const char *what)
{
	struct gpumem_stats stats;
	struct recording recording = end();
	uint64_t spare;

	sound(pool, "%s: the pool", what);
	stats = stats_of(pool);
	whole(&recording, what);
	replay(&recording, true);
	ok(!now.bad && !now.outside && !now.on_stale,
	   "%s: %zu bad, %zu blocks outside, %zu on what serves elsewhere",
	   what, now.bad, now.outside, now.on_stale);
	spare = stats.reserved.current + stats.stale_bytes - sum(&now, false);
	ok(spare <= (no_spare ? 0 : stats.reserved.peak / 256),
	   "%s: all is mapped but for %llu", what, (ull)spare);
	ok(now.twice == sum(&now, true) && now.twice <= stats.stale_bytes &&
		   stats.stale_bytes - now.twice <= spare,
	   "%s: %llu bytes mapped twice, of %llu stale", what, (ull)now.twice,
	   (ull)stats.stale_bytes);
	ok(now.moved <= now.told, "%s: %llu bytes moved, of %llu", what,
	   (ull)now.moved, (ull)now.told);
	rec_free(&recording);
	then = now;
	begin();
	recording = end();
	replay(&recording, false);
	for (size_t i = 0; i < now.count; i++)
		now.bad +=
			now.of[i].from != now.of[i].address && now.of[i].page;
	ok(!now.bad && same_places(&now, &then),
	   "%s: %zu places, the heap lists %zu", what, then.count, now.count);
	rec_free(&recording);
	now = then;
}

/* ---- one thread, streams that lag ---- */

static size_t any_bytes(void)
{
	return one_in(4) ? 1 + random_below(40 * KIB)
			 : PAGE / 2 + random_below(12 * PAGE);
}

static void churn(gpumem_pool *pool, gpumem_stream *stream, void **ptr,
		  unsigned steps)
{
	for (unsigned i = 0; i < steps; i++) {
		unsigned one = random_below(LIVE);

		late_step(stream[one % 2]);
		if (ptr[one])
			must(gpumem_free(ptr[one], stream[one % 2]));
		ptr[one] = one_in(3) ? NULL
				     : new_block(pool, any_bytes(),
						 stream[one % 2]);
		if (one_in(150))
			trim(pool);
	}
}

static void test_lag(bool vm)
{
	gpumem_stream stream[2] = {new_stream(), new_stream()};
	gpumem_pool *pool = new_pool(0);
	void *ptr[LIVE] = {NULL};

	random_seed(5);
	late_by = 30;
	late_hold(stream[0]);
	late_hold(stream[1]);
	begin();
	churn(pool, stream, ptr, 600);
	judge(pool, vm ? "from the beginning" : "segments, from the beginning");
	ok(vm || now.unmaps > 0, "%zu unmapped", now.unmaps);
	ok(!vm || (now.moved > 0 && now.again > 20 && now.most_stale > 0 &&
		   (no_spare || now.largest > 256 * KIB)),
	   "%llu bytes moved, %zu pages mapped again, of up to %llu bytes",
	   (ull)now.moved, now.again, (ull)now.largest);
	churn(pool, stream, ptr, 200);
	begin();
	churn(pool, stream, ptr, 400);
	judge(pool, vm ? "from the middle" : "segments, from the middle");
	ok(now.maps > 10 && (!vm || now.unmaps > 0), "%zu mapped, %zu unmapped",
	   now.maps, now.unmaps);
	begin();
	late_go(stream[0]);
	late_go(stream[1]);
	must(gpumem_stream_sync(device, stream[0]));
	must(gpumem_stream_sync(device, stream[1]));
	for (unsigned i = 0; i < LIVE; i++)
		must(gpumem_free(ptr[i], stream[i % 2]));
	trim(pool);
	judge(pool, "all given back");
	is_uint(now.count, 0, "and nothing is mapped");
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, stream[0]));
	must(gpumem_stream_destroy(device, stream[1]));
	late_by = 0;
}

/* ---- a page that is at two addresses ---- */

/* Two pieces of free memory serve the same stream as one, while it is still at
 * work on them. */
static void test_lent(void)
{
	gpumem_stream stream = new_stream();
	gpumem_pool *pool = new_pool(8 * PAGE);
	struct gate gate;
	void *ptr[4], *lent;

	for (unsigned i = 0; i < 4; i++)
		ptr[i] = new_block(pool, 2 * PAGE, stream);
	begin();
	gate_launch(&gate, stream, ptr[0], PAGE);
	must(gpumem_free(ptr[0], stream));
	must(gpumem_free(ptr[2], stream));
	lent = new_block(pool, 4 * PAGE, stream);
	judge(pool, "lent");
	ok(now.told == 4 * PAGE && now.moved == now.told &&
		   now.most_stale == 4 * PAGE,
	   "%llu bytes at two addresses, of %llu", (ull)now.most_stale,
	   (ull)now.told);
	begin();
	gate_finish(&gate, stream);
	must(gpumem_free(ptr[1], stream));
	trim(pool);
	judge(pool, "over");
	is_uint(sum(&now, true), 0, "then at one");
	must(gpumem_free(ptr[3], stream));
	must(gpumem_free(lent, stream));
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, stream));
}

/* ---- threads ---- */

static void *work(void *arg)
{
	gpumem_pool *pool = arg;
	gpumem_stream stream = NULL;
	void *ptr[8] = {NULL};

	must(gpumem_stream_create(device, &stream));
	for (unsigned i = 0; i < 300; i++) {
		void **one = &ptr[i * 5 % 8];

		must(gpumem_free(*one, stream));
		*one = new_block(pool, PAGE * (1 + i * 7 % 11), stream);
		if (i % 50 == 7)
			trim(pool);
	}
	for (unsigned i = 0; i < 8; i++)
		must(gpumem_free(ptr[i], stream));
	must(gpumem_stream_sync(device, stream));
	must(gpumem_stream_destroy(device, stream));
	return NULL;
}

static void test_threads(void)
{
	gpumem_pool *pool = new_pool(0);
	pthread_t thread[THREADS];

	begin();
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, pool))
			bail("no thread");
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	judge(pool, "threads");
	must(gpumem_pool_destroy(pool, 0));
}

int main(void)
{
	folder_make();
	no_spare = true;
	device_start("500MiB", true);
	test_lent();
	test_lag(true);
	ok(device_end(), "all given back");
	device_start("1GiB", false);
	test_lag(false);
	test_threads();
	ok(device_end(), "all given back");
	no_spare = false;
	option("host.page", "256KiB");
	device_start("1GiB", true);
	test_lag(true);
	test_threads();
	ok(device_end(), "all given back");
	folder_remove();
	return done_testing();
}
